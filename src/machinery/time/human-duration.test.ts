import { describe, expect, it } from 'vitest';
import { humanDuration } from './human-duration.ts';

const s = 1_000;
const m = 60 * s;
const h = 60 * m;
const d = 24 * h;

describe('humanDuration', () => {
  it.each([
    [-2 * s, '<invalid>'],
    [-1.5 * s, '0s'],
    [-0.5 * s, '0s'],
    [0, '0s'],
    [999, '0s'],
    [119 * s, '119s'],
    [2 * m, '2m'],
    [2 * m + 1 * s, '2m1s'],
    [9 * m + 59 * s, '9m59s'],
    [10 * m + 5 * s, '10m'],
    [179 * m, '179m'],
    [3 * h, '3h'],
    [3 * h + 7 * m, '3h7m'],
    [8 * h + 7 * m, '8h'],
    [47 * h, '47h'],
    [2 * d, '2d'],
    [2 * d + 3 * h, '2d3h'],
    [8 * d + 3 * h, '8d'],
    [729 * d, '729d'],
    [730 * d, '2y'],
    [731 * d, '2y1d'],
    [8 * 365 * d + d, '8y'],
  ])('prints %d ms as %s', (ms, text) => {
    expect(humanDuration(ms)).toBe(text);
  });
});
