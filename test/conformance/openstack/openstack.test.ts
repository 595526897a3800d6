import { describe, expect, it } from 'vitest';
import { differences } from './compare/difference.ts';
import { type ContractReport, summarize } from './contract.ts';
import { formatIni } from './ini.ts';
import { parseHosts } from './layout.ts';

describe('settings of a real cloud', () => {
  it('are written as ini files', () => {
    expect(formatIni({ DEFAULT: { a: 1, b: true }, other: { c: 'd' } })).toBe(
      '[DEFAULT]\na = 1\nb = true\n\n[other]\nc = d\n',
    );
  });

  it('name hosts with their zones', () => {
    expect(parseHosts(' h1:nova  h2:az2 ')).toEqual([
      { name: 'h1', zone: 'nova' },
      { name: 'h2', zone: 'az2' },
    ]);
    for (const wrong of ['', 'h1', 'h1:', 'h1:a:b'])
      expect(() => parseHosts(wrong)).toThrow(/CAPSTAN_REAL_OPENSTACK_HOSTS/);
  });
});

describe('the summary of the contract suite', () => {
  const test = (fullName: string, status: string): ContractReport['testResults'][0]['assertionResults'][0] => ({
    fullName,
    status,
    failureMessages: status === 'failed' ? ['because'] : [],
  });

  it('counts by cloud and lists failed and skipped tests', () => {
    const assertionResults = [
      test('ports (simulated cloud) a', 'passed'),
      test('ports (real cloud) a', 'failed'),
      test('ports (real cloud) b', 'skipped'),
    ];
    const { text, ok } = summarize({ testResults: [{ name: 'ports.test.ts', assertionResults }] });
    expect(ok).toBe(false);
    expect(text).toContain('simulated cloud: 1 of 1 hold, 0 fail, 0 skipped');
    expect(text).toContain('real cloud: 0 of 2 hold, 1 fail, 1 skipped');
    expect(text).toMatch(/FAILED +ports \(real cloud\) a\n +because/);
    expect(text).toMatch(/skipped +ports \(real cloud\) b/);
  });

  it('is not ok when nothing ran or a file could not run', () => {
    expect(summarize({ testResults: [] }).ok).toBe(false);
    const passed = { name: 'a', assertionResults: [test('a (simulated cloud)', 'passed')] };
    expect(summarize({ testResults: [passed] }).ok).toBe(true);
    const broken = { name: 'b', message: 'no such module', assertionResults: [] };
    expect(summarize({ testResults: [passed, broken] }).ok).toBe(false);
  });
});

describe('the comparison of two recordings', () => {
  const record = (body: unknown, status = 200): Parameters<typeof differences>[0][0] => ({
    request: 'GET /x',
    status,
    body,
    headers: {},
  });

  it('reports where answers differ, and nothing when they do not', () => {
    expect(differences([record({ a: [1, { b: 2 }] })], [record({ a: [1, { b: 2 }] })])).toEqual([]);
    const [text] = differences([record({ a: [1, { b: 2 }] })], [record({ a: [1, { b: 3 }] }, 404)]);
    expect(text).toContain('status: 200 real, 404 ours');
    expect(text).toContain('body.a.1.b');
  });

  it('reports a request that only one of them contains', () => {
    expect(differences([record({})], [])).toEqual(['only on the real one: GET /x']);
  });
});
