import { createHash } from 'node:crypto';

/** 32 hex digits that follow from a name: the same after every start, without being kept. */
export function stableId(name: string): string {
  return createHash('sha256').update(`capstan simulated cloud ${name}`).digest('hex').slice(0, 32);
}
