import { createHash } from 'node:crypto';

/** Derives 32 hex digits from a name, so the id is stable across restarts without being stored. */
export function stableId(name: string): string {
  return createHash('sha256').update(`capstan simulated cloud ${name}`).digest('hex').slice(0, 32);
}
