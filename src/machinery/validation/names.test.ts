import { describe, expect, it } from 'vitest';
import {
  checkConfigMapKey,
  checkDns1035Label,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkEnvVarName,
  checkLabelValue,
  checkPathSegmentName,
  checkPortName,
  checkQualifiedName,
  checkWildcardDns1123Subdomain,
  maskTrailingDash,
} from './names.ts';

const checks = {
  subdomain: checkDns1123Subdomain,
  label: checkDns1123Label,
  service: checkDns1035Label,
  qualified: checkQualifiedName,
  labelValue: checkLabelValue,
  wildcard: checkWildcardDns1123Subdomain,
  envVar: checkEnvVarName,
  configKey: checkConfigMapKey,
  port: checkPortName,
  segment: checkPathSegmentName,
};

describe('names', () => {
  it.each<[keyof typeof checks, string]>([
    ['subdomain', 'a'],
    ['subdomain', 'a-b.c0.d'],
    ['subdomain', `${'a'.repeat(253)}`],
    ['label', '0-a'],
    ['label', 'a'.repeat(63)],
    ['service', 'a-1'],
    ['qualified', 'a_B.c-d'],
    ['qualified', 'example.com/Name'],
    ['labelValue', ''],
    ['labelValue', 'A_b.c-9'],
    ['wildcard', '*.example.com'],
    ['envVar', 'ANY thing-1.x'],
    ['configKey', '.dockerconfigjson'],
    ['port', 'http-1'],
    ['segment', 'system:masters'],
  ])('%s accepts %j', (check, value) => {
    expect(checks[check](value)).toEqual([]);
  });

  it.each<[keyof typeof checks, string, string]>([
    ['subdomain', 'A', 'a lowercase RFC 1123 subdomain must consist of'],
    ['subdomain', '', 'a lowercase RFC 1123 subdomain must consist of'],
    ['subdomain', '-a', 'must start and end with an alphanumeric character'],
    ['subdomain', 'a..b', 'a lowercase RFC 1123 subdomain must consist of'],
    ['subdomain', 'a'.repeat(254), 'must be no more than 253 characters'],
    ['label', 'a.b', 'must not contain dots'],
    ['label', 'a'.repeat(64), 'must be no more than 63 characters'],
    ['service', '1a', 'a DNS-1035 label must consist of'],
    ['qualified', '', 'name part must be non-empty'],
    ['qualified', '/a', 'prefix part must be non-empty'],
    ['qualified', 'A/a', 'prefix part a lowercase RFC 1123 subdomain'],
    ['qualified', 'a/b/c', "a qualified name must consist of alphanumeric characters, '-', '_' or '.'"],
    ['qualified', `a/${'b'.repeat(64)}`, 'name part must be no more than 63 characters'],
    ['labelValue', 'a b', 'a valid label must be an empty string or consist of'],
    ['labelValue', 'a-', 'a valid label must be an empty string or consist of'],
    ['wildcard', 'a.b', "must start with '*.'"],
    ['envVar', '', 'environment variable name must be non-empty'],
    ['envVar', 'a=b', "printable ASCII characters other than '='"],
    ['envVar', 'é', "printable ASCII characters other than '='"],
    ['configKey', '..', "must not be '..'"],
    ['configKey', '..a', "must not start with '..'"],
    ['configKey', 'a/b', 'a valid config key must consist of'],
    ['port', 'UPPER', 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)'],
    ['port', '80', 'must contain at least one letter (a-z)'],
    ['port', 'a--b', 'must not contain consecutive hyphens'],
    ['port', '-a', 'must not begin or end with a hyphen'],
    ['port', 'sixteen-letters-', 'must be no more than 15 characters'],
    ['segment', '.', "may not be '.'"],
    ['segment', 'a/b', "may not contain '/'"],
    ['segment', 'a%b', "may not contain '%'"],
  ])('%s refuses %j', (check, value, text) => {
    expect(checks[check](value).join('\n')).toContain(text);
  });

  it('explains a pattern with examples in the words of kube-apiserver', () => {
    expect(checkLabelValue('a b')).toEqual([
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ]);
  });

  it.each([
    ['a-', 'a'],
    ['abc-', 'aba'],
    ['-', '-'],
    ['abc', 'abc'],
  ])('a generateName %j is checked as %j', (prefix, checked) => {
    expect(maskTrailingDash(prefix)).toBe(checked);
  });
});
