import type { Pod } from '../../../api/index.ts';
import { nodeOf } from './daemon-pod.ts';

const firstMs = 1_000;
const longestMs = 15 * 60_000;

/** Counts failures of the set's Pods per node, so that a broken Pod is replaced with growing delays. */
export interface FailureBackoff {
  /** milliseconds until a finished Pod may be replaced, 0 when it may be replaced now; the next delay is then longer */
  restMs(pod: Pod, now: number): number;
}

interface Entry {
  pauseMs: number;
  dueAt: number;
  /** uid of the Pod the delay applies to */
  uid: string;
}

export function createFailureBackoff(): FailureBackoff {
  const entries = new Map<string, Entry>();
  return {
    restMs(pod, now) {
      const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)?.uid ?? '';
      const key = `${owner}/${nodeOf(pod)}`;
      const uid = pod.metadata.uid ?? '';
      let entry = entries.get(key);
      if (entry?.uid === uid) return Math.max(0, entry.dueAt - now);
      const isCalm = !entry || now - entry.dueAt > 2 * longestMs;
      const pauseMs = isCalm || !entry ? firstMs : Math.min(entry.pauseMs * 2, longestMs);
      entry = { pauseMs, dueAt: now + pauseMs, uid };
      forgetCalm(entries, now);
      entries.set(key, entry);
      return pauseMs;
    },
  };
}

function forgetCalm(entries: Map<string, Entry>, now: number): void {
  for (const [key, { dueAt }] of entries) if (now - dueAt > 2 * longestMs) entries.delete(key);
}
