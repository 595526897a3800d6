import { randomBytes, randomUUID } from 'node:crypto';

/** The only source of randomness. Production uses `systemRandom`; simulations use `seededRandom`. */
export interface Random {
  /** uniform in [0, 1) */
  next(): number;
  uuid(): string;
  /** `length` characters of `alphabet` */
  text(length: number, alphabet?: string): string;
}

/** Excludes vowels and digits that look like letters, so that generated names never form words. */
export const nameAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

function textFrom(next: () => number, length: number, alphabet: string): string {
  let text = '';
  for (let i = 0; i < length; i++) text += alphabet[Math.floor(next() * alphabet.length)];
  return text;
}

function cryptoNext(): number {
  return randomBytes(6).readUIntBE(0, 6) / 2 ** 48;
}

export const systemRandom: Random = {
  next: cryptoNext,
  uuid: () => randomUUID(),
  text: (length, alphabet = nameAlphabet) => textFrom(cryptoNext, length, alphabet),
};

/** Creates a reproducible generator (mulberry32). Not for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const hex = (length: number): string => textFrom(next, length, '0123456789abcdef');
  return {
    next,
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-${'89ab'[Math.floor(next() * 4)]}${hex(3)}-${hex(12)}`,
    text: (length, alphabet = nameAlphabet) => textFrom(next, length, alphabet),
  };
}
