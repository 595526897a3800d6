import { printableLine } from '../../machinery/index.ts';

export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  /** observation or problem in one line */
  readonly detail: string;
  /** suggested fix, unless the detail contains it */
  readonly cure?: string;
}

/** The result of one look without the name of its check. */
export type Seen = Omit<Finding, 'check'>;

export const fine = (detail: string): Seen => ({ status: 'ok', detail });
export const warned = (detail: string, cure?: string): Seen => seen('warning', detail, cure);
export const failed = (detail: string, cure?: string): Seen => seen('failed', detail, cure);
export const skipped = (detail: string): Seen => ({ status: 'skipped', detail });

function seen(status: Finding['status'], detail: string, cure: string | undefined): Seen {
  return { status, detail, ...(cure !== undefined && { cure }) };
}

const marks: Readonly<Record<Finding['status'], string>> = {
  ok: 'OK',
  warning: 'WARNING',
  failed: 'FAILED',
  skipped: 'SKIPPED',
};

export function renderFindings(findings: readonly Finding[]): string {
  const checks = Math.max(0, ...findings.map(({ check }) => check.length));
  const states = Math.max(...Object.values(marks).map(({ length }) => length));
  return findings
    .map(
      ({ check, status, detail, cure }) =>
        `${marks[status].padEnd(states)}  ${check.padEnd(checks)}  ${printableLine(cure === undefined ? detail : `${detail}; ${cure}`)}\n`,
    )
    .join('');
}

export function hasFailed(findings: readonly Finding[]): boolean {
  return findings.some(({ status }) => status === 'failed');
}
