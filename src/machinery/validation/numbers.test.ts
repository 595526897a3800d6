import { describe, expect, it } from 'vitest';
import { formatFieldError } from '../errors/field-error.ts';
import { formatDuration, parseDuration } from '../time/go-duration.ts';
import {
  percentOf,
  scaledValue,
  validateNonNegativeIntOrPercent,
  validateNotMoreThan100Percent,
  validatePortNumberOrName,
} from './numbers.ts';
import { validateDescendingPath } from './paths.ts';

describe('numbers and percentages', () => {
  it.each([
    ['25%', 10, 'up', 3],
    ['25%', 10, 'down', 2],
    [4, 10, 'up', 4],
    ['0%', 10, 'up', 0],
    ['7', 10, 'up', 7],
  ] as const)('%j of %i (rounded %s) is %i', (value, total, rounding, expected) => {
    expect(scaledValue(value, total, rounding)).toBe(expected);
  });

  it('tells percentages from other texts', () => {
    expect(percentOf('50%')).toBe(50);
    expect(percentOf('50')).toBeUndefined();
    expect(percentOf(50)).toBeUndefined();
  });

  it('refuses values that are neither numbers nor percentages', () => {
    expect(validateNonNegativeIntOrPercent('abc', 'x').map(formatFieldError)).toEqual([
      "x: Invalid value: \"abc\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    ]);
    expect(validateNonNegativeIntOrPercent(-1, 'x').map(formatFieldError)).toEqual([
      'x: Invalid value: -1: must be greater than or equal to 0',
    ]);
    expect(validateNotMoreThan100Percent('101%', 'x').map(formatFieldError)).toEqual([
      'x: Invalid value: "101%": must not be greater than 100%',
    ]);
  });

  it.each([
    [80, 0],
    ['http', 0],
    [0, 1],
    [65536, 1],
    [1.5, 1],
    ['HTTP', 2],
  ])('port %j has %i problems', (port, count) => {
    expect(validatePortNumberOrName(port, 'x')).toHaveLength(count);
  });
});

describe('durations', () => {
  it.each([
    ['1h30m', 5_400_000],
    ['1.5s', 1500],
    ['-250ms', -250],
    ['0', 0],
    ['100us', 0.1],
  ])('the duration %j is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBeCloseTo(ms, 9);
  });

  it.each(['', '1', 'h', '1d', '1h 2m'])('%j is not a duration', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it.each([
    [0, '0s'],
    [1500, '1.5s'],
    [250, '250ms'],
    [60_000, '1m0s'],
    [5_400_000, '1h30m0s'],
    [-1000, '-1s'],
  ])('%d ms is written %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe('paths below a root', () => {
  it.each([
    ['a/b', 0],
    ['a..b', 0],
    ['../a', 1],
    ['a/../b', 1],
    ['/a', 1],
    ['/../a', 2],
  ])('the path %j has %i problems', (path, count) => {
    expect(validateDescendingPath(path, 'x')).toHaveLength(count);
  });
});
