import type { Random } from '../../machinery/index.ts';

/** Exponential delays between attempts, with jitter so that many clients do not retry simultaneously. */
export interface Backoff {
  /** returns the delay before the next attempt in milliseconds */
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
