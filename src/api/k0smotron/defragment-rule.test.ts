import { describe, expect, it } from 'vitest';
import { parseDefragmentRule } from './defragment-rule.ts';

const mebibyte = 1024 * 1024;
const facts = {
  dbSize: 500 * mebibyte,
  dbSizeInUse: 250 * mebibyte,
  dbSizeFree: 250 * mebibyte,
  dbQuota: 1000 * mebibyte,
  dbQuotaUsage: 0.5,
};
const said = (text: string): boolean | string => {
  const rule = parseDefragmentRule(text);
  return typeof rule === 'function' ? rule(facts) : rule.problem;
};

describe('a defragmentation rule of etcd', () => {
  it.each<[string, boolean]>([
    ['', true],
    ['true', true],
    ['!true || false', false],
    ['dbQuotaUsage > 0.8 || dbSize - dbSizeInUse > 200*1024*1024', true],
    ['dbQuotaUsage > 0.8 || dbSize - dbSizeInUse > 300*1024*1024', false],
    ['dbQuotaUsage > 0.8 && dbSize > 1', false],
    ['dbSizeFree / dbSize >= .5', true],
    ['dbSizeFree == dbSize - dbSizeInUse', true],
    ['(dbSize > 1) != (dbQuota > 1)', false],
    ['dbSize - dbSizeInUse - dbSizeFree == 0', true],
    ['2 + 3 * 2 ** 2 == 14 && 7 % 4 == 3 && -1 < 0', true],
    ['dbQuota > 1e6 && dbQuota > 0x10', true],
  ])('is evaluated: %s', (text, expected) => {
    expect(said(text)).toBe(expected);
  });

  it.each<[string, string]>([
    ['dbSize', 'is a number; compare it with something'],
    ['dbsize > 1', 'refers to dbsize, which is none of dbSize, dbSizeInUse, dbSizeFree, dbQuota, dbQuotaUsage'],
    ['dbSize > ', 'ends where a value is expected'],
    ['dbSize > 1 dbQuota', 'does not continue with "dbQuota"'],
    ['(dbSize > 1', 'has a parenthesis that is not closed'],
    ['dbSize > 1 || 2', 'has a boolean and a number beside ||'],
    ['dbSize > $x', 'cannot be read at "$x"'],
    ['dbSize > 1 toString', 'does not continue with "toString"'],
    ['!dbSize', 'has a number after !'],
    ['toString > 1', 'refers to toString, which is none of dbSize, dbSizeInUse, dbSizeFree, dbQuota, dbQuotaUsage'],
  ])('%s is refused', (text, problem) => {
    expect(said(text)).toBe(problem);
  });
});
