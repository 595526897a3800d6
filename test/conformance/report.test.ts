import { describe, expect, it } from 'vitest';
import { allHold, compareTargets, formatComparison, type TestReport } from './report.ts';

const result = (target: string, title: string, status: string, failureMessages: string[] = []) => ({
  ancestorTitles: ['kubectl', `against ${target}`, 'reading'],
  title,
  status,
  failureMessages,
});

const report: TestReport = {
  testResults: [
    {
      assertionResults: [
        result('ours', 'gets', 'passed'),
        result('ours', 'lists', 'failed', ['expected 2\nto be 3']),
        result('theirs', 'gets', 'passed'),
        result('theirs', 'lists', 'passed'),
        { ancestorTitles: ['something else'], title: 'is no comparison', status: 'passed' },
      ],
    },
  ],
};

describe('the report of a conformance run', () => {
  it('lists the targets side by side', () => {
    expect(compareTargets(report)).toEqual([
      { area: 'reading', behaviour: 'gets', verdicts: { ours: 'passed', theirs: 'passed' }, failures: {} },
      {
        area: 'reading',
        behaviour: 'lists',
        verdicts: { ours: 'failed', theirs: 'passed' },
        failures: { ours: 'expected 2\nto be 3' },
      },
    ]);
  });

  it('prints a table, totals and failures', () => {
    expect(formatComparison(compareTargets(report), ['ours', 'theirs'])).toBe(`AREA     EXPECTATION  OURS    THEIRS
reading  gets         ok      ok
reading  lists        FAILED  ok

ours: 1 of 2 hold, 1 fail
theirs: 2 of 2 hold, 0 fail

ours: reading: lists
  expected 2
  to be 3
`);
  });

  it('is ok only when everything passed everywhere', () => {
    const rows = compareTargets(report);
    expect(allHold(rows, ['theirs'])).toBe(true);
    expect(allHold(rows, ['ours', 'theirs'])).toBe(false);
    expect(allHold(rows, ['theirs', 'absent'])).toBe(false);
    expect(allHold([], ['theirs'])).toBe(false);
  });
});
