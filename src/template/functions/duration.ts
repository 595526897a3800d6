const units: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3_600e9,
};

/** Nanoseconds of a text such as `1h30m`; undefined: not a duration. */
export function parseDuration(text: string): number | undefined {
  const found = /^([+-]?)((?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.exec(text);
  if (!found) return /^[+-]?0$/.test(text) ? 0 : undefined;
  let sum = 0;
  for (const [, number, unit] of found[2]!.matchAll(/([0-9.]+)([^0-9.]+)/g)) sum += Number(number) * units[unit!]!;
  return found[1] === '-' ? -sum : sum;
}

/** A number of nanoseconds as Go prints a duration. */
export function formatDuration(nanoseconds: number): string {
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
