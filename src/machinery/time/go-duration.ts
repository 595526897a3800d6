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
/** Go keeps a duration in a signed number of 64 bits. */
const maxNanos = 2n ** 63n;
/** Numbers of very many digits take long to read; no duration needs them. */
const maxLength = 1000;

/** Nanoseconds of a Go duration such as `1h30m` or `-1.5s`; undefined when it is none or too long for Go. */
export function parseDurationNanos(text: string): bigint | undefined {
  if (text.length > maxLength) return undefined;
  const match = whole.exec(text);
  if (!match) return undefined;
  let nanos = 0n;
  for (const [, digits, fraction = '', unit] of match[2]!.matchAll(part)) {
    const scale = units[unit!]!;
    nanos += BigInt(digits || '0') * scale;
    const kept = fraction.slice(0, 18);
    if (kept !== '') nanos += (BigInt(kept) * scale) / 10n ** BigInt(kept.length);
  }
  if (nanos >= maxNanos) return undefined;
  return match[1] === '-' ? -nanos : nanos;
}

/** Milliseconds of a Go duration; undefined when it is none. */
export function parseDuration(text: string): number | undefined {
  const nanos = parseDurationNanos(text);
  return nanos === undefined ? undefined : Number(nanos) / 1e6;
}

/** How Go writes a duration: `1h30m0s`, `1.5s`, `250ms`, `0s`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s';
  const sign = ms < 0 ? '-' : '';
  const abs = Math.abs(ms);
  if (abs < 1000) return `${sign}${abs}ms`;
  const hours = Math.floor(abs / 3_600_000);
  const minutes = Math.floor((abs % 3_600_000) / 60_000);
  const seconds = (abs % 60_000) / 1000;
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}s` : `${sign}${seconds}s`;
}
