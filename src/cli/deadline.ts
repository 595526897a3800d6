import { CapstanError, type Clock, parseDuration } from '../machinery/index.ts';

/** Parses `90s`, `10m`, `1h30m` or seconds; 0 means no limit. */
export function parseTimeout(text: string, flag = '--timeout'): number {
  const trimmed = text.trim();
  if (/^\d+$/.test(trimmed)) return Number(trimmed) * 1000;
  const duration = parseDuration(trimmed);
  if (duration === undefined || duration < 0) {
    throw new CapstanError('CAP_USAGE', `${flag}: "${text}" is not a duration`, {
      hint: 'write for example 90s, 10m or 1h30m; 0 waits forever',
    });
  }
  return duration;
}

/** Returns a signal that aborts with the given one or on timeout. */
export function withDeadline(
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal,
): { signal: AbortSignal; timedOut(): boolean; cancel(): void } {
  if (timeoutMs === 0) return { signal, timedOut: () => false, cancel: () => {} };
  const late = new AbortController();
  const cancel = clock.after(timeoutMs, () => late.abort());
  return { signal: AbortSignal.any([signal, late.signal]), timedOut: () => late.signal.aborted, cancel };
}
