import { formatKey, type ObjectKey } from '../../../client/index.ts';

/** Consecutive repairs of a source without a delay. */
const free = 3;
const firstWaitMs = 5_000;
const mostWaitMs = 10 * 60_000;
/** Time without drift after which the count restarts. */
const quietMs = 20 * 60_000;

/** Slows down repairs if something keeps changing the same objects back. */
export interface Repairs {
  /** delay before a drifted source is applied again */
  waitFor(cluster: ObjectKey, source: string, nowMs: number): number;
  note(cluster: ObjectKey, source: string, nowMs: number): void;
  forget(cluster: ObjectKey): void;
}

export function createRepairs(): Repairs {
  const made = new Map<string, Map<string, { count: number; last: number }>>();
  return {
    waitFor(cluster, source, nowMs) {
      const known = made.get(formatKey(cluster))?.get(source);
      if (!known || known.count < free || nowMs - known.last > quietMs) return 0;
      const wait = Math.min(mostWaitMs, firstWaitMs * 2 ** Math.min(20, known.count - free));
      return Math.max(0, known.last + wait - nowMs);
    },
    note(cluster, source, nowMs) {
      const id = formatKey(cluster);
      const sources = made.get(id) ?? new Map<string, { count: number; last: number }>();
      const known = sources.get(source);
      const count = known && nowMs - known.last <= quietMs ? known.count + 1 : 1;
      made.set(id, sources.set(source, { count, last: nowMs }));
    },
    forget(cluster) {
      made.delete(formatKey(cluster));
    },
  };
}
