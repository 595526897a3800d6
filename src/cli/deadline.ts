import { CapstanError, type Clock, must } from '../machinery/index.ts';

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Reads `90s`, `10m`, `1h30m` or bare seconds; 0 means without end. */
export function parseTimeout(text: string, flag = '--timeout'): number {
  const trimmed = text.trim();
  if (/^\d+$/.test(trimmed)) return Number(trimmed) * 1000;
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(trimmed)) {
    throw new CapstanError('CAP_USAGE', `${flag}: "${text}" is not a length of time`, {
      hint: 'write for example 90s, 10m or 1h30m; 0 waits without end',
    });
  }
  let total = 0;
  for (const [, amount, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g))
    total += Number(amount) * must(units[unit ?? ''], 'a unit of time');
  return total;
}

/** A signal that aborts with the given one or when the time is up, whichever comes first. */
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
