import type { Random } from '../../machinery/index.ts';

/** Growing pauses between attempts, spread by chance so that many clients do not come back together. */
export interface Backoff {
  /** milliseconds to wait before the next attempt */
  next(): number;
  reset(): void;
}

export function exponentialBackoff(options: { firstMs: number; maxMs: number; random: Random }): Backoff {
  const { firstMs, maxMs, random } = options;
  let failures = 0;
  return {
    next() {
      const base = Math.min(maxMs, firstMs * 2 ** Math.min(failures, 30));
      failures++;
      return base * (0.5 + random.next() / 2);
    },
    reset() {
      failures = 0;
    },
  };
}
