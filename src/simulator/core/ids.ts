import type { Random } from '../../machinery/index.ts';

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

/** Four hex digits for every 16 bits: ids are made with every request, and looking them up is what takes least. */
const quads: readonly string[] = Array.from({ length: 65_536 }, (_, value) => value.toString(16).padStart(4, '0'));

export function createIds(random: Random): Ids {
  const chosen: string[] = [];
  const quad = (): string => quads[Math.floor(random.next() * 65_536)]!;
  // The digit that says "version 4" and the two bits that say "variant 1" are set, the rest is drawn.
  const uuid = (): string => {
    const version = quads[0x4000 | Math.floor(random.next() * 0x1000)]!;
    const variant = quads[0x8000 | Math.floor(random.next() * 0x4000)]!;
    return `${quad()}${quad()}-${quad()}-${version}-${variant}-${quad()}${quad()}${quad()}`;
  };
  const hex = (): string => quad() + quad() + quad() + quad() + quad() + quad() + quad() + quad();
  return {
    uuid: () => chosen.shift() ?? uuid(),
    next: (id) => void chosen.push(id),
    hex,
    requestId: () => `req-${uuid()}`,
    secret: (length) => random.text(length, secretAlphabet),
    mac: () => {
      const tail = random.text(6, '0123456789abcdef');
      return `fa:16:3e:${tail.slice(0, 2)}:${tail.slice(2, 4)}:${tail.slice(4)}`;
    },
  };
}
