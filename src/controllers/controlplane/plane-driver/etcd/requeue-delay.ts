const impatientMs = 100;
const uneasyMs = 1_000;
const longUneasyMs = 10_000;
const uneasyAfterMs = 60_000;

/**
 * When an etcd is looked at again that has not been as desired for so long. Nothing tells that a member which was just started
 * begins to answer, and the whole plane waits for it: the shorter one has waited, the more a moment matters. While none runs
 * there is nobody to ask; that one does is told by its Pod.
 */
export function requeueDelayMs(uneasyForMs: number, { isAnyRunning }: { isAnyRunning: boolean }): number {
  if (uneasyForMs > uneasyAfterMs || !isAnyRunning) return longUneasyMs;
  return Math.min(Math.max(uneasyForMs, impatientMs), uneasyMs);
}
