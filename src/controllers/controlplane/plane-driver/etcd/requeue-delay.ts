const impatientMs = 100;
const uneasyMs = 1_000;
const longUneasyMs = 10_000;
const uneasyAfterMs = 60_000;

/**
 * Requeue delay of an etcd that is not yet in its desired state. No event signals that a started member answers, and
 * the whole plane waits for it, so the delay starts short and grows. While no member runs the delay is long, because a
 * Pod event signals the start.
 */
export function requeueDelayMs(uneasyForMs: number, { isAnyRunning }: { isAnyRunning: boolean }): number {
  if (uneasyForMs > uneasyAfterMs || !isAnyRunning) return longUneasyMs;
  return Math.min(Math.max(uneasyForMs, impatientMs), uneasyMs);
}
