import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../errors/status.ts';
import { type LabelRequirement, labelSelectorFromRequirements, parseLabelSelector } from './label-selector.ts';

const nameRule =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const valueRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

describe('parseLabelSelector', () => {
  // Recorded from kube-apiserver 1.34.4.
  it.each([
    [',', "found ',', expected: !, identifier, or 'end of string'"],
    ['a,,b', "found ',', expected: identifier after ','"],
    ['a,', "found '', expected: identifier after ','"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['a in', "unable to parse requirement: found '' expected: '('"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a in (=', "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
    ['a in (b=', "unable to parse requirement: found '=', expected: ',' or ')'"],
    ['a in (,=', "unable to parse requirement: found '=', expected: ',', or identifier"],
    [
      'a>x',
      "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    ['a=@', `unable to parse requirement: values[0][a]: Invalid value: "@": ${valueRule}`],
    [
      'a in (@,#)',
      `unable to parse requirement: [values[0][a]: Invalid value: "#": ${valueRule}, values[1][a]: Invalid value: "@": ${valueRule}]`,
    ],
    [
      'a>@',
      `unable to parse requirement: [values[0]: Invalid value: "@": for 'Gt', 'Lt' operators, the value must be an integer, values[0][a]: Invalid value: "@": ${valueRule}]`,
    ],
    [
      'a/b/c',
      `unable to parse requirement: <nil>: Invalid value: "a/b/c": a qualified name ${nameRule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ],
    ['/b', 'unable to parse requirement: <nil>: Invalid value: "/b": prefix part must be non-empty'],
    [
      'A.B_/c',
      `unable to parse requirement: <nil>: Invalid value: "A.B_/c": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
    ],
    ['é=b', `unable to parse requirement: <nil>: Invalid value: "é": name part ${nameRule}`],
    ['a==b==c', "found '==', expected: ',' or 'end of string'"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a!b', "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"],
    ['a=(', "unable to parse requirement: found '(', expected: identifier"],
    [
      `a=${'b'.repeat(64)}`,
      `unable to parse requirement: values[0][a]: Invalid value: "${'b'.repeat(64)}": must be no more than 63 characters`,
    ],
  ])('refuses %j as kube-apiserver does', (text, message) => {
    try {
      parseLabelSelector(text);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(ApiStatusError);
      expect((error as ApiStatusError).status).toMatchObject({ code: 400, reason: 'BadRequest', message });
    }
  });

  it.each([
    ['', {}, true],
    ['a', { a: '' }, true],
    ['a', {}, false],
    ['!a', {}, true],
    ['!a', { a: 'x' }, false],
    ['a=b', { a: 'b' }, true],
    ['a==b', { a: 'b' }, true],
    ['a=', { a: '' }, true],
    ['a=', {}, false],
    ['a!=b', {}, true],
    ['a!=b', { a: 'c' }, true],
    ['a!=b', { a: 'b' }, false],
    ['a in (b,c)', { a: 'c' }, true],
    ['a in (b,,c)', { a: '' }, true],
    ['a notin ()', { a: '' }, false],
    ['a notin (b)', {}, true],
    ['in in (in)', { in: 'in' }, true],
    ['notin notin (notin)', { notin: 'in' }, true],
    ['a>3', { a: '4' }, true],
    ['a>3', { a: '3' }, false],
    ['a<3', { a: '-1' }, true],
    ['a<3', { a: 'x' }, false],
    ['a<3', { a: '99999999999999999999' }, false],
    ['a>9007199254740992', { a: '9007199254740993' }, true],
    ['a=b,c=d', { a: 'b' }, false],
    [' a = b , c ', { a: 'b', c: '1' }, true],
    ['constructor', {}, false],
    ['toString notin (x)', {}, true],
  ] as [string, Record<string, string>, boolean][])('%j matches %j: %s', (text, labels, expected) => {
    expect(parseLabelSelector(text).matches(labels)).toBe(expected);
  });

  it('treats absent labels as no labels', () => {
    expect(parseLabelSelector('!a').matches(undefined)).toBe(true);
    expect(parseLabelSelector('a').matches(undefined)).toBe(false);
  });

  it('prints requirements ordered by key with ordered values', () => {
    expect(parseLabelSelector('z,!y,x in (c,a,b),w!=v,b==1,a>5').toString()).toBe('a>5,b==1,w!=v,x in (a,b,c),!y,z');
    expect(parseLabelSelector('').empty).toBe(true);
    expect(parseLabelSelector('a').empty).toBe(false);
  });
});

const key = fc.constantFrom('a', 'b', 'example.com/c', 'in');
const value = fc.constantFrom('', '1', '2', '10', 'x', 'y-z');
const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc.record({ key, operator: fc.constantFrom('exists' as const, '!' as const), values: fc.constant([]) }),
  fc.record({ key, operator: fc.constantFrom('=' as const, '==' as const, '!=' as const), values: fc.tuple(value) }),
  fc.record({
    key,
    operator: fc.constantFrom('in' as const, 'notin' as const),
    values: fc.uniqueArray(value, { minLength: 1 }),
  }),
  fc.record({
    key,
    operator: fc.constantFrom('>' as const, '<' as const),
    values: fc.tuple(fc.constantFrom('1', '2', '7')),
  }),
);

function naive({ key: name, operator, values }: LabelRequirement, labels: Record<string, string>): boolean {
  const has = name in labels;
  const found = labels[name];
  if (operator === 'exists') return has;
  if (operator === '!') return !has;
  if (operator === '=' || operator === '==' || operator === 'in') return has && values.some((one) => one === found);
  if (operator === '!=' || operator === 'notin') return !has || values.every((one) => one !== found);
  if (!has || !/^-?\d+$/.test(found!)) return false;
  return operator === '>' ? Number(found) > Number(values[0]) : Number(found) < Number(values[0]);
}

describe('a compiled label selector', () => {
  it('agrees with a naive model and survives printing and parsing', () => {
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 4 }), fc.dictionary(key, value), (requirements, labels) => {
        const selector = labelSelectorFromRequirements(requirements);
        const expected = requirements.every((one) => naive(one, labels));
        expect(selector.matches(labels)).toBe(expected);
        const reparsed = parseLabelSelector(selector.toString());
        expect(reparsed.toString()).toBe(selector.toString());
        expect(reparsed.matches(labels)).toBe(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('never fails with anything but 400', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab=!(),<> in@'), maxLength: 12 }), (text) => {
        try {
          parseLabelSelector(text);
        } catch (error) {
          expect((error as ApiStatusError).code).toBe(400);
        }
      }),
      { numRuns: 500 },
    );
  });
});
