import { must, type Random } from '../../machinery/index.ts';

/** Where ids come from: the same seed gives the same ids in the same order. */
export interface Ids {
  /** of every service but keystone */
  uuid(): string;
  /** Makes this the next uuid that is given out: for worlds in which something has a known id. */
  next(uuid: string): void;
  /** keystone's: 32 hex digits */
  hex(): string;
  requestId(): string;
  /** `length` characters for secrets and tokens */
  secret(length: number): string;
  mac(): string;
}

const secretAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Two hex digits for every byte: ids are made by the thousand, and looking digits up takes least. */
const pairs: readonly string[] = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, '0'));

export function createIds(random: Random): Ids {
  const chosen: string[] = [];
  const draw = (): number => (random.next() * 2 ** 32) >>> 0;
  const uuid = (): string => {
    const [a, b, c, d] = [draw(), draw(), draw(), draw()];
    // The digit that says "version 4" and the two bits that say "variant 1" are set, the rest is drawn.
    const version = 0x40 | ((b >>> 8) & 0x0f);
    const variant = 0x80 | ((c >>> 24) & 0x3f);
    return `${hex32(a)}-${hex16(b >>> 16)}-${pairs[version]}${pairs[b & 0xff]}-${pairs[variant]}${pairs[(c >>> 16) & 0xff]}-${hex16(c & 0xffff)}${hex32(d)}`;
  };
  // Requests are numbered, not drawn: what somebody looks at must not change the ids of what others make.
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
