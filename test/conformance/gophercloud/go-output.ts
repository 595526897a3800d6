import type { Verdict } from '../upstream/outcome.ts';

/** Returns the verdict of a single test. A program that ends without a verdict has failed. */
export function verdictOf(test: string, output: string): Verdict {
  const line = new RegExp(`^--- (PASS|FAIL|SKIP): ${test} `, 'm').exec(output);
  return line?.[1] === 'PASS' ? 'passed' : line?.[1] === 'SKIP' ? 'skipped' : 'failed';
}

/** Returns the line with the reason of a failure. */
export function reasonOf(output: string): string {
  const lines = output.split('\n').map((line) => line.trim());
  const telling = lines.filter((line) =>
    /Failure in|Expected|Unable|Error|error|panic|but got|timed out|not found/.test(line),
  );
  return (telling[0] ?? lines.find((line) => line !== '') ?? '').slice(0, 300);
}
