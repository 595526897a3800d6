import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityMilliValue,
  quantityValue,
} from './quantity.ts';

describe('quantities', () => {
  it.each<[unknown, string]>([
    ['0', '0'],
    ['0Ki', '0'],
    ['1', '1'],
    [1, '1'],
    [0.5, '500m'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['1000', '1k'],
    ['1024', '1024'],
    ['1024Mi', '1Gi'],
    ['1Ki', '1Ki'],
    ['1023Ki', '1023Ki'],
    ['0.5Gi', '512Mi'],
    ['1.5Ki', '1536'],
    ['100Mi', '100Mi'],
    ['1e3', '1e3'],
    ['12E6', '12e6'],
    ['1e-3', '1e-3'],
    ['.5', '500m'],
    ['5.', '5'],
    ['+1', '1'],
    ['-1', '-1'],
    ['-1.5Gi', '-1536Mi'],
    ['1n', '1n'],
    ['0.0000000001', '1n'],
    ['1000u', '1m'],
    ['9E', '9E'],
    ['99999999999E', '9223372036854775807'],
  ])('%j is written %s', (value, canonical) => {
    expect(canonicalQuantity(value)).toBe(canonical);
  });

  it.each<[unknown]>([
    [''],
    ['.'],
    ['abc'],
    ['1 Gi'],
    ['1GiB'],
    ['1kk'],
    ['--1'],
    ['1e'],
    ['0x10'],
    ['NaN'],
    [Number.NaN],
    [null],
    [undefined],
    [{}],
  ])('%j is not a quantity', (value) => {
    expect(parseQuantity(value)).toBeUndefined();
  });

  it('are compared by amount, not by spelling', () => {
    expect(compareQuantities('1Gi', '1024Mi')).toBe(0);
    expect(compareQuantities('999m', '1')).toBeLessThan(0);
    expect(compareQuantities('1G', '1Gi')).toBeLessThan(0);
    expect(compareQuantities('2', undefined)).toBeGreaterThan(0);
  });

  it('are added in the notation of the first', () => {
    expect(addQuantities('1Gi', '512Mi')).toBe('1536Mi');
    expect(addQuantities('500m', '500m')).toBe('1');
    expect(addQuantities('0', '1Gi')).toBe('1Gi');
  });

  it('are counted in whole and thousandth amounts, rounded up', () => {
    expect(quantityValue('1Ki')).toBe(1024);
    expect(quantityValue('1500m')).toBe(2);
    expect(quantityMilliValue('1.5')).toBe(1500);
    expect(quantityMilliValue('100u')).toBe(1);
  });

  it('keep their amount when written and read again', () => {
    const suffixes = ['', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'Ki', 'Mi', 'Gi', 'Ti', 'e3', 'e-2'];
    const text = fc
      .tuple(fc.integer({ min: -9999, max: 9999 }), fc.constantFrom(...suffixes))
      .map(([number, suffix]) => `${number}${suffix}`);
    fc.assert(
      fc.property(text, (value) => {
        const canonical = canonicalQuantity(value)!;
        expect(parseQuantity(canonical)!.nanos).toBe(parseQuantity(value)!.nanos);
        expect(formatQuantity(parseQuantity(canonical)!)).toBe(canonical);
      }),
    );
  });
});
