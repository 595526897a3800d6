import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration, parseDurationNanos } from './go-duration.ts';

describe('durations of Go', () => {
  it.each([
    ['0', 0],
    ['0s', 0],
    ['24h0m0s', 86_400_000],
    ['1h30m', 5_400_000],
    ['90s', 90_000],
    ['-1.5s', -1500],
    ['+2ms', 2],
    ['.5h', 1_800_000],
    ['1.s', 1000],
    ['1m1m', 120_000],
    ['3us', 0.003],
    ['3µs', 0.003],
    ['3μs', 0.003],
    ['1ns', 0.000001],
    ['2562047h47m16.854775807s', 9_223_372_036_854.775],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    '',
    '-',
    '1',
    '1..5h',
    '1.5.5h',
    '.h',
    'h',
    '1 h',
    ' 1h',
    '1h ',
    '1d',
    '1H',
    '1h-30m',
    '--1h',
    '1e3s',
    '0x1s',
    'NaNs',
    '2562047h47m16.854775808s',
    `${'9'.repeat(2000)}s`,
  ])('%j is not a duration', (text) => {
    expect(parseDuration(text)).toBeUndefined();
    expect(parseDurationNanos(text)).toBeUndefined();
  });

  it('keep every nanosecond', () => {
    expect(parseDurationNanos('1h0.000000001s')).toBe(3_600_000_000_001n);
    expect(parseDurationNanos('0.0000000019s')).toBe(1n);
  });

  it.each([0, 250, 1500, 5_400_000, -61_000])('are written as Go does and read back: %d', (ms) => {
    expect(parseDuration(formatDuration(ms))).toBe(ms);
  });
});
