import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  exactFieldValue,
  type FieldRequirement,
  fieldsMatch,
  formatFieldSelector,
  parseFieldSelector,
} from './field-selector.ts';

describe('parseFieldSelector', () => {
  it.each([
    ['', []],
    ['=', []],
    [',,', []],
    ['metadata.name=a', [{ field: 'metadata.name', operator: '=', value: 'a' }]],
    ['metadata.name==a', [{ field: 'metadata.name', operator: '=', value: 'a' }]],
    ['a=', [{ field: 'a', operator: '=', value: '' }]],
    ['=b', [{ field: '', operator: '=', value: 'b' }]],
    [
      'z!=1,a=\\,\\=\\\\',
      [
        { field: 'a', operator: '=', value: ',=\\' },
        { field: 'z', operator: '!=', value: '1' },
      ],
    ],
  ] as [string, FieldRequirement[]][])('reads %j', (text, expected) => {
    expect(parseFieldSelector(text)).toEqual(expected);
  });

  // Recorded from kube-apiserver 1.34.4.
  it.each([
    ['metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    ['metadata.name==a,foo', "invalid selector: 'metadata.name==a,foo'; can't understand 'foo'"],
    ['metadata.name=a=b', 'invalid field selector: unescaped character in value: 61'],
    ['metadata.name=a\\x', 'invalid field selector: invalid escape sequence: \\x'],
    ['metadata.name=a\\', 'invalid field selector: invalid escape sequence: \\'],
  ])('refuses %j as kube-apiserver does', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(
      expect.objectContaining({ status: expect.objectContaining({ code: 400, reason: 'BadRequest', message }) }),
    );
  });

  it('reads back what it prints', () => {
    const requirement = fc.record({
      field: fc.constantFrom('a', 'b.c', 'd'),
      operator: fc.constantFrom('=' as const, '!=' as const),
      value: fc.string({ unit: fc.constantFrom('x', 'y', ',', '=', '\\', '!', 'é', '😀') }),
    });
    fc.assert(
      fc.property(fc.array(requirement), (requirements) => {
        const parsed = parseFieldSelector(formatFieldSelector(requirements));
        const sorted = (list: readonly FieldRequirement[]) => list.map((one) => JSON.stringify(one)).sort();
        expect(sorted(parsed)).toEqual(sorted(requirements));
      }),
      { numRuns: 200 },
    );
  });
});

describe('field requirements', () => {
  it('must all hold', () => {
    const requirements = parseFieldSelector('a=1,b!=2');
    const on = (object: Record<string, string>) => fieldsMatch(requirements, (field) => object[field] ?? '');
    expect(on({ a: '1' })).toBe(true);
    expect(on({ a: '1', b: '2' })).toBe(false);
    expect(on({ b: '1' })).toBe(false);
  });

  it('report the one value they allow', () => {
    const requirements = parseFieldSelector('a=1,b!=2');
    expect(exactFieldValue(requirements, 'a')).toBe('1');
    expect(exactFieldValue(requirements, 'b')).toBeUndefined();
  });
});
