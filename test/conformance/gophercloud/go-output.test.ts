import { describe, expect, it } from 'vitest';
import { reasonOf, verdictOf } from './go-output.ts';

describe('the output of a Go test', () => {
  it.each([
    ['=== RUN   TestA\n--- PASS: TestA (0.10s)\nPASS\n', 'passed'],
    ['=== RUN   TestA\n    x.go:1: no\n--- FAIL: TestA (0.10s)\nFAIL\n', 'failed'],
    ['=== RUN   TestA\n--- SKIP: TestA (0.00s)\nPASS\n', 'skipped'],
    ['=== RUN   TestA\n    --- PASS: TestA/part (0.00s)\n--- FAIL: TestA (0.10s)\n', 'failed'],
    ['=== RUN   TestA\npanic: runtime error\n', 'failed'],
    ['=== RUN   TestAB\n--- PASS: TestAB (0.10s)\n', 'failed'],
  ])('%j means %s', (output, expected) => {
    expect(verdictOf('TestA', output)).toBe(expected);
  });

  it('yields the line with the reason', () => {
    expect(reasonOf('=== RUN   TestA\n    a.go:3: Creating it\n    a.go:9: Unable to create it: 404\n')).toBe(
      'a.go:9: Unable to create it: 404',
    );
  });
});
