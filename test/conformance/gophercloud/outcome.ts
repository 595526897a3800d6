export type Verdict = 'passed' | 'failed' | 'skipped';

/** How one test of one package ended. */
export interface Result {
  readonly service: string;
  /** `compute/v2 TestServersCreateDestroy` */
  readonly name: string;
  readonly verdict: Verdict;
  /** what the test printed */
  readonly output: string;
}

/** What a run of one test by its own means; a program that ends without a verdict has failed. */
export function verdictOf(test: string, output: string): Verdict {
  const line = new RegExp(`^--- (PASS|FAIL|SKIP): ${test} `, 'm').exec(output);
  return line?.[1] === 'PASS' ? 'passed' : line?.[1] === 'SKIP' ? 'skipped' : 'failed';
}

/** The line that says why, for people. */
export function reasonOf(output: string): string {
  const lines = output.split('\n').map((line) => line.trim());
  const telling = lines.filter((line) =>
    /Failure in|Expected|Unable|Error|error|panic|but got|timed out|not found/.test(line),
  );
  return (telling[0] ?? lines.find((line) => line !== '') ?? '').slice(0, 300);
}

/** What the real cloud passes: names by service. */
export type Baseline = Readonly<Record<string, readonly string[]>>;

/** A table for people; below it what passes on the real cloud and not here. */
export function formatResults(results: readonly Result[], baseline: Baseline): string {
  const services = [...new Set(results.map(({ service }) => service))];
  const rows = [['SERVICE', 'PASSED', 'FAILED', 'SKIPPED', 'OF THOSE THAT PASS ON ZED']];
  const lost: Result[] = [];
  for (const service of services) {
    const own = results.filter((result) => result.service === service);
    const count = (verdict: Verdict): string => String(own.filter((result) => result.verdict === verdict).length);
    const names = new Set(baseline[service] ?? []);
    const known = own.filter(({ name }) => names.has(name));
    const held = known.filter(({ verdict }) => verdict === 'passed');
    lost.push(...known.filter(({ verdict }) => verdict !== 'passed'));
    const share =
      known.length === 0 ? '-' : `${held.length} of ${known.length} (${percent(held.length, known.length)})`;
    rows.push([service, count('passed'), count('failed'), count('skipped'), share]);
  }
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const table = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
  const losses = lost.map(({ name, verdict, output }) => `${verdict}  ${name}\n    ${reasonOf(output)}`);
  return `${[...table, ...(losses.length > 0 ? ['', 'Passes on the real cloud, not here:', ...losses] : [])].join('\n')}\n`;
}

function percent(part: number, whole: number): string {
  return `${Math.floor((part / whole) * 100)} %`;
}
