import { describe, expect, it } from 'vitest';
import { formatComparison, formatVerdicts, type GinkgoReport, verdictsOf } from './report.ts';

const spec = (text: string, State: string, Message?: string) => ({
  ContainerHierarchyTexts: ['[sig-apps] Job'],
  LeafNodeType: 'It',
  LeafNodeText: text,
  State,
  ...(Message !== undefined && { Failure: { Message } }),
});

const report: GinkgoReport = [
  {
    SpecReports: [
      spec('works', 'passed'),
      spec('breaks', 'failed', 'expected 1\nto be 2'),
      spec('hangs', 'timedout', 'took too long'),
      spec('was not chosen', 'skipped'),
      spec('needs two nodes', 'skipped', 'Requires at least 2 nodes'),
      { LeafNodeType: 'SynchronizedBeforeSuite', LeafNodeText: '', State: 'passed' },
    ],
  },
];

describe("the report of Kubernetes' own tests", () => {
  it('distinguishes tests that ran from those that were not chosen', () => {
    expect(verdictsOf(report).map(({ name, state }) => [name, state])).toEqual([
      ['[sig-apps] Job breaks', 'failed'],
      ['[sig-apps] Job hangs', 'failed'],
      ['[sig-apps] Job needs two nodes', 'skipped'],
      ['[sig-apps] Job works', 'passed'],
    ]);
  });

  it('is printed with names, totals and reasons', () => {
    expect(formatVerdicts(verdictsOf(report))).toBe(
      [
        'FAILED  [sig-apps] Job breaks',
        'FAILED  [sig-apps] Job hangs',
        '-       [sig-apps] Job needs two nodes',
        'ok      [sig-apps] Job works',
        '',
        '1 passed, 2 failed, 1 skipped by the tests themselves',
        '',
        '[sig-apps] Job breaks',
        '  expected 1',
        '  to be 2',
        '',
        '[sig-apps] Job hangs',
        '  took too long',
        '',
      ].join('\n'),
    );
  });

  it('is compared with what passes on a real cluster', () => {
    const verdicts = verdictsOf(report);
    const passes = ['[sig-apps] Job works', '[sig-apps] Job breaks', '[sig-apps] Job was not run'];
    expect(formatComparison(verdicts, { cluster: 'real', passes })).toBe(
      [
        '1 of 2 that pass on the real one pass here; 0 more pass here alone',
        '  not here: [sig-apps] Job breaks',
        '',
      ].join('\n'),
    );
    expect(formatComparison(verdicts, { cluster: 'real', passes: [] })).toBe(
      '0 of 0 that pass on the real one pass here; 1 more pass here alone\n',
    );
  });
});
