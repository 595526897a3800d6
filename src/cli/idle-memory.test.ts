import { describe, expect, it } from 'vitest';
import { isPastForgotten, isWorthCollecting } from './idle-memory.ts';

const mebibyte = 1024 * 1024;
const calm = { utilization: 0.01, heapBytes: 160 * mebibyte };
const busy = { utilization: 0.6, heapBytes: 160 * mebibyte };
const tidy = { utilization: 0.01, heapBytes: 80 * mebibyte };

describe('when memory is collected', () => {
  it.each([
    ['after two calm looks with much to give back', [busy, calm, calm], true],
    ['not after one', [busy, calm], false],
    ['not while there is work', [calm, busy], false],
    ['not for little', [calm, tidy], false],
    ['not before anybody looked', [], false],
  ])('%s', (_, samples, expected) => {
    expect(isWorthCollecting(samples, 64 * mebibyte)).toBe(expected);
  });

  it.each([
    ['six minutes after the last work, when its past is forgotten', 72, 500, true],
    ['not before that', 71, 500, false],
    ['not again in the same rest', 73, 500, false],
    ['not for a small heap', 72, 60, false],
  ])('%s', (_, quietChecks, heapMebibytes, expected) => {
    expect(isPastForgotten(quietChecks, heapMebibytes * mebibyte)).toBe(expected);
  });
});
