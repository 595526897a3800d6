import { printableLine } from '../../machinery/index.ts';

/** What one check of the doctor found. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  /** what was seen, or what is wrong, in one line */
  readonly detail: string;
}

const marks: Readonly<Record<Finding['status'], string>> = {
  ok: 'OK',
  warning: 'WARNING',
  failed: 'FAILED',
  skipped: 'SKIPPED',
};

/** The findings as aligned lines. */
export function renderFindings(findings: readonly Finding[]): string {
  const checks = Math.max(0, ...findings.map(({ check }) => check.length));
  const states = Math.max(...Object.values(marks).map(({ length }) => length));
  return findings
    .map(
      ({ check, status, detail }) =>
        `${marks[status].padEnd(states)}  ${check.padEnd(checks)}  ${printableLine(detail)}\n`,
    )
    .join('');
}

export function hasFailed(findings: readonly Finding[]): boolean {
  return findings.some(({ status }) => status === 'failed');
}
