import { describe, expect, it } from 'vitest';
import { formatScenarios, runScenarios } from './client.ts';

describe('client scenarios', () => {
  it('are not run after one of them has failed', async () => {
    const ran: string[] = [];
    const scenario = (name: string, error?: Error) => ({
      name,
      run: async () => {
        ran.push(name);
        if (error) throw error;
      },
    });
    const results = await runScenarios('helm', [scenario('a'), scenario('b', new Error('no\nway')), scenario('c')]);
    expect(ran).toEqual(['a', 'b']);
    expect(results.map(({ scenario, state }) => [scenario, state])).toEqual([
      ['a', 'passed'],
      ['b', 'failed'],
      ['c', 'skipped'],
    ]);
    expect(formatScenarios(results)).toBe(
      [
        'ok      helm               a',
        'FAILED  helm               b',
        '-       helm               c',
        '',
        '1 passed, 1 failed, 1 skipped',
        '',
        'helm: b',
        '  no',
        '  way',
        '',
        'helm: c',
        '  "b" failed before',
        '',
      ].join('\n'),
    );
  });
});
