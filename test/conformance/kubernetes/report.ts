/** The used part of ginkgo's JSON report. */
export type GinkgoReport = readonly {
  readonly SpecReports?: readonly {
    readonly ContainerHierarchyTexts?: readonly string[] | null;
    readonly LeafNodeType: string;
    readonly LeafNodeText: string;
    readonly State: string;
    readonly RunTime?: number;
    readonly Failure?: { readonly Message?: string };
  }[];
}[];

export interface Verdict {
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  /** reason of the failure, or what the test needs and the cluster lacks */
  readonly message: string;
}

/** Returns the results of the selected tests, sorted by name. */
export function verdictsOf(report: GinkgoReport): Verdict[] {
  const verdicts: Verdict[] = [];
  for (const { SpecReports = [] } of report) {
    for (const spec of SpecReports) {
      if (spec.LeafNodeType !== 'It') continue;
      const message = spec.Failure?.Message ?? '';
      const isOwnDecision = spec.State === 'skipped' && message !== '';
      if (!isOwnDecision && (spec.State === 'skipped' || spec.State === 'pending')) continue;
      const state = spec.State === 'passed' ? 'passed' : isOwnDecision ? 'skipped' : 'failed';
      const name = [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].filter(Boolean).join(' ');
      verdicts.push({ name, state, message });
    }
  }
  return verdicts.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Tests that pass on a real cluster, stored beside this file. */
export interface Baseline {
  /** versions of the programs, and what replaced the nodes */
  readonly cluster: string;
  readonly passes: readonly string[];
}

/** Formats the share of baseline tests that pass here, of those that ran, and lists the others. */
export function formatComparison(verdicts: readonly Verdict[], baseline: Baseline): string {
  const expected = new Set(baseline.passes);
  const compared = verdicts.filter(({ name }) => expected.has(name));
  const missing = compared.filter(({ state }) => state !== 'passed');
  const beyond = verdicts.filter(({ name, state }) => state === 'passed' && !expected.has(name));
  return [
    `${compared.length - missing.length} of ${compared.length} that pass on the real one pass here; ${beyond.length} more pass here alone`,
    ...missing.map(({ name }) => `  not here: ${name}`),
    '',
  ].join('\n');
}

const marks: Readonly<Record<Verdict['state'], string>> = { passed: 'ok', failed: 'FAILED', skipped: '-' };

/** Formats a table: one line per test, totals, then failures with their reasons. */
export function formatVerdicts(verdicts: readonly Verdict[]): string {
  const count = (state: Verdict['state']): number => verdicts.filter((verdict) => verdict.state === state).length;
  const lines = verdicts.map(({ name, state }) => `${marks[state].padEnd(6)}  ${name}`);
  const failures = verdicts
    .filter(({ state }) => state === 'failed')
    .flatMap(({ name, message }) => [
      '',
      name,
      ...message
        .split('\n')
        .slice(0, 6)
        .map((line) => `  ${line}`),
    ]);
  const total = `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped by the tests themselves`;
  return `${[...lines, '', total, ...failures].join('\n')}\n`;
}
