import { must } from '../errors/must.ts';

const second = 1_000_000_000n;
const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: second,
  m: 60n * second,
  h: 3600n * second,
};
const whole = /^([-+]?)(0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const part = /(?<![\d.])(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g;
/** Go stores a duration in a signed 64-bit number. */
const maxNanos = 2n ** 63n;
/** Numbers with very many digits are slow to parse, and no duration needs them. */
const maxLength = 1000;

/** Parses a Go duration such as `1h30m` or `-1.5s` to nanoseconds; undefined if invalid or too long for Go. */
export function parseDurationNanos(text: string): bigint | undefined {
  if (text.length > maxLength) return undefined;
  const match = whole.exec(text);
  if (!match) return undefined;
  const [, sign, parts = ''] = match;
  let nanos = 0n;
  for (const [, digits, fraction = '', unit = ''] of parts.matchAll(part)) {
    const scale = must(units[unit], unit);
    nanos += BigInt(digits || '0') * scale;
    const kept = fraction.slice(0, 18);
    if (kept !== '') nanos += (BigInt(kept) * scale) / 10n ** BigInt(kept.length);
  }
  if (nanos >= maxNanos) return undefined;
  return sign === '-' ? -nanos : nanos;
}

/** Parses a Go duration to milliseconds; undefined if invalid. */
export function parseDuration(text: string): number | undefined {
  const nanos = parseDurationNanos(text);
  return nanos === undefined ? undefined : Number(nanos) / 1e6;
}

/** Formats milliseconds as a Go duration: `1h30m0s`, `1.5s`, `250ms`, `0s`. */
export const formatDuration = (ms: number): string => formatDurationNanos(ms * 1e6);

/** Formats nanoseconds as a Go duration. */
export function formatDurationNanos(nanoseconds: number): string {
  const size = Math.abs(nanoseconds);
  const sign = nanoseconds < 0 ? '-' : '';
  if (size === 0) return '0s';
  if (size < 1e3) return `${sign}${size}ns`;
  if (size < 1e6) return `${sign}${size / 1e3}µs`;
  if (size < 1e9) return `${sign}${size / 1e6}ms`;
  const hours = Math.floor(size / 3_600e9);
  const minutes = Math.floor((size % 3_600e9) / 60e9);
  const seconds = (size % 60e9) / 1e9;
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}s`;
  return `${sign}${minutes > 0 ? `${minutes}m` : ''}${seconds}s`;
}
