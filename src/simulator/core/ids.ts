import { must, type Random } from '../../machinery/index.ts';

/** Source of ids. The same seed gives the same ids in the same order. */
export interface Ids {
  /** used by all services except keystone */
  uuid(): string;
  /** Sets the next uuid, for worlds with predefined ids. */
  next(uuid: string): void;
  /** keystone's format: 32 hex digits */
  hex(): string;
  requestId(): string;
  /** random text of `length` characters, for secrets and tokens */
  secret(length: number): string;
  mac(): string;
}

const secretAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Hex digits of every byte. Lookup is the fastest way to format ids, which are created by the thousand. */
const pairs: readonly string[] = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, '0'));

export function createIds(random: Random): Ids {
  const chosen: string[] = [];
  const draw = (): number => (random.next() * 2 ** 32) >>> 0;
  const uuid = (): string => {
    const [a, b, c, d] = [draw(), draw(), draw(), draw()];
    // Sets the bits of version 4 and variant 1. All others are random.
    const version = 0x40 | ((b >>> 8) & 0x0f);
    const variant = 0x80 | ((c >>> 24) & 0x3f);
    return `${hex32(a)}-${hex16(b >>> 16)}-${pairs[version]}${pairs[b & 0xff]}-${pairs[variant]}${pairs[(c >>> 16) & 0xff]}-${hex16(c & 0xffff)}${hex32(d)}`;
  };
  // Request ids are counted, not random, so that reads do not change the ids of resources created later.
  const requestPrefix = `req-${uuid().slice(0, 24)}`;
  let requests = 0;
  return {
    uuid: () => chosen.shift() ?? uuid(),
    next: (id) => void chosen.push(id),
    hex: () => hex32(draw()) + hex32(draw()) + hex32(draw()) + hex32(draw()),
    requestId: () => requestPrefix + (++requests).toString(16).padStart(12, '0'),
    secret: (length) => random.text(length, secretAlphabet),
    mac: () => {
      const value = draw();
      return `fa:16:3e:${pairs[value >>> 24]}:${pairs[(value >>> 16) & 0xff]}:${pairs[(value >>> 8) & 0xff]}`;
    },
  };
}

function hex16(value: number): string {
  return must(pairs[value >>> 8], 'pairs[value >>> 8]') + must(pairs[value & 0xff], 'pairs[value & 0xff]');
}

function hex32(value: number): string {
  return hex16(value >>> 16) + hex16(value & 0xffff);
}
