import { describe, expect, it } from 'vitest';
import { formatResults, type Result, updatedBaseline, type Verdict } from './outcome.ts';

const result = (name: string, verdict: Verdict, reason = ''): Result => ({
  service: 'compute',
  name,
  verdict,
  output: '',
  reason,
});

describe('the outcome of a suite', () => {
  it('is counted by service and compared with the real cloud', () => {
    const results = [result('TestA', 'passed'), result('TestB', 'failed', 'Unable to B'), result('TestC', 'skipped')];
    const text = formatResults(results, { compute: ['TestA', 'TestB'] });
    expect(text).toMatch(/compute +1 +1 +1 +1 of 2 \(50 %\)/);
    expect(text).toContain('failed  TestB\n    Unable to B');
    expect(text).not.toContain('TestC');
  });

  it('becomes the baseline, except for tests that were not run', () => {
    const noted = { compute: ['TestA', 'TestB', 'TestOld'], image: ['TestImage'] };
    const results = [result('TestA', 'passed'), result('TestB', 'failed'), result('TestC', 'passed')];
    expect(updatedBaseline(noted, results)).toEqual({
      compute: ['TestOld', 'TestA', 'TestC'],
      image: ['TestImage'],
    });
  });
});
