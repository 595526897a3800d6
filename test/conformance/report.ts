/** The used part of the test runner's JSON report. */
export interface TestReport {
  testResults: {
    /** reason why a whole file could not run */
    message?: string;
    assertionResults: {
      /** suite, target, area */
      ancestorTitles: string[];
      title: string;
      status: string;
      failureMessages?: string[] | null;
    }[];
  }[];
}

export type Verdict = 'passed' | 'failed' | 'skipped';

/** An expectation and its result on each target. */
export interface ComparedExpectation {
  area: string;
  behaviour: string;
  verdicts: Readonly<Record<string, Verdict>>;
  /** first line of each failure, by target */
  failures: Readonly<Record<string, string>>;
}

const targetPrefix = 'against ';

/** Groups the results of all targets by expectation, in the order of the suite. */
export function compareTargets(report: TestReport): ComparedExpectation[] {
  const rows = new Map<
    string,
    ComparedExpectation & { verdicts: Record<string, Verdict>; failures: Record<string, string> }
  >();
  for (const { ancestorTitles, title, status, failureMessages } of report.testResults.flatMap(
    (file) => file.assertionResults,
  )) {
    const at = ancestorTitles.findIndex((ancestor) => ancestor.startsWith(targetPrefix));
    if (at < 0) continue;
    const target = ancestorTitles[at]!.slice(targetPrefix.length);
    const area = ancestorTitles.slice(at + 1).join(' / ');
    const key = `${area}\n${title}`;
    let row = rows.get(key);
    if (!row) {
      row = { area, behaviour: title, verdicts: {}, failures: {} };
      rows.set(key, row);
    }
    row.verdicts[target] = status === 'passed' || status === 'failed' ? status : 'skipped';
    const message = failureMessages?.[0];
    if (message) row.failures[target] = message.split('\n').slice(0, 6).join('\n');
  }
  return [...rows.values()];
}

const marks: Readonly<Record<Verdict, string>> = { passed: 'ok', failed: 'FAILED', skipped: '-' };

/** Formats a table: one line per expectation, one column per target, totals, then failures. */
export function formatComparison(rows: readonly ComparedExpectation[], targets: readonly string[]): string {
  const cell = (row: ComparedExpectation, target: string): string => marks[row.verdicts[target] ?? 'skipped'];
  const table = [
    ['AREA', 'EXPECTATION', ...targets.map((target) => target.toUpperCase())],
    ...rows.map((row) => [row.area, row.behaviour, ...targets.map((target) => cell(row, target))]),
  ];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((line) => line[column]!.length)));
  const lines = table.map((line) =>
    line
      .map((text, column) => text.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
  const totals = targets.map((target) => {
    const count = (verdict: Verdict): number => rows.filter((row) => row.verdicts[target] === verdict).length;
    return `${target}: ${count('passed')} of ${rows.length} hold, ${count('failed')} fail`;
  });
  const failures = rows.flatMap((row) =>
    targets
      .filter((target) => row.failures[target] !== undefined)
      .map((target) => `\n${target}: ${row.area}: ${row.behaviour}\n${indent(row.failures[target]!)}`),
  );
  return `${[...lines, '', ...totals, ...failures].join('\n')}\n`;
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}

/** Reports whether all expectations hold on all targets. */
export function allHold(rows: readonly ComparedExpectation[], targets: readonly string[]): boolean {
  return rows.length > 0 && rows.every((row) => targets.every((target) => row.verdicts[target] === 'passed'));
}
