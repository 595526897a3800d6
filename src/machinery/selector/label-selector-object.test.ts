import { describe, expect, it } from 'vitest';
import { formatFieldError } from '../errors/field-error.ts';
import { formatLabelSelectorObject, labelSelectorFromObject, validateLabelSelector } from './label-selector-object.ts';

describe('labelSelectorFromObject', () => {
  it('selects nothing when absent and everything when empty', () => {
    expect(labelSelectorFromObject(undefined).matches({ a: 'b' })).toBe(false);
    expect(labelSelectorFromObject(null).matches({})).toBe(false);
    expect(labelSelectorFromObject({}).matches({ a: 'b' })).toBe(true);
    expect(labelSelectorFromObject({ matchLabels: {}, matchExpressions: [] }).empty).toBe(true);
  });

  it('requires all labels and all expressions', () => {
    const selector = labelSelectorFromObject({
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['b', 'a'] },
        { key: 'old', operator: 'DoesNotExist' },
        { key: 'zone', operator: 'Exists' },
        { key: 'env', operator: 'NotIn', values: ['test'] },
      ],
    });
    expect(selector.toString()).toBe('app=web,env notin (test),!old,tier in (a,b),zone');
    expect(selector.matches({ app: 'web', tier: 'a', zone: '1' })).toBe(true);
    expect(selector.matches({ app: 'web', tier: 'a', zone: '1', env: 'test' })).toBe(false);
    expect(selector.matches({ app: 'web', tier: 'a', zone: '1', old: '' })).toBe(false);
    expect(selector.matches({ tier: 'a', zone: '1' })).toBe(false);
  });

  it('refuses an unknown operator', () => {
    const selector = { matchExpressions: [{ key: 'a', operator: 'constructor', values: ['1'] }] };
    expect(() => labelSelectorFromObject(selector)).toThrow('"constructor" is not a valid label selector operator');
    expect(formatLabelSelectorObject(selector)).toBe('<error>');
  });

  it('prints an unrestricted selector as <none>', () => {
    expect(formatLabelSelectorObject({})).toBe('<none>');
    expect(formatLabelSelectorObject({ matchLabels: { b: '1', a: '2' } })).toBe('a=2,b=1');
  });
});

describe('validateLabelSelector', () => {
  it('reports every problem at its place', () => {
    const errors = validateLabelSelector(
      {
        matchLabels: { 'a b': '-' },
        matchExpressions: [
          { key: 'a', operator: 'In' },
          { key: 'a', operator: 'Exists', values: ['x'] },
          { key: '', operator: 'Like', values: ['?'] },
        ],
      },
      'spec.selector',
    );
    const shortened = errors.map((error) =>
      formatFieldError(error).replace(/ (a valid label )?must (be an|consist).*/, ' …'),
    );
    expect(shortened).toEqual([
      'spec.selector.matchLabels: Invalid value: "a b": name part …',
      'spec.selector.matchLabels: Invalid value: "-": …',
      "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      "spec.selector.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      'spec.selector.matchExpressions[2].operator: Invalid value: "Like": not a valid selector operator',
      'spec.selector.matchExpressions[2].key: Invalid value: "": name part must be non-empty',
      'spec.selector.matchExpressions[2].key: Invalid value: "": name part …',
      'spec.selector.matchExpressions[2].values[0]: Invalid value: "?": …',
    ]);
  });

  it('accepts a selector that is absent or valid', () => {
    expect(validateLabelSelector(undefined, 'x')).toEqual([]);
    expect(validateLabelSelector({ matchExpressions: [{ key: 'a.b/c', operator: 'In', values: [''] }] }, 'x')).toEqual(
      [],
    );
  });
});
