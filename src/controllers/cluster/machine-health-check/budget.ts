import type { MachineHealthCheck } from '../../../api/index.ts';
import { scaledValue } from '../common/scaled-value.ts';

/** Whether remediation is allowed, how many machines are unhealthy, and how many more may become so. */
export interface RemediationBudget {
  allowed: boolean;
  remaining: number;
  /** reason why not */
  message: string;
}

const defaultLimit = '100%';
const range = /^\[(\d+)-(\d+)\]$/;

/** Machines of unknown health count as unhealthy, so in doubt nothing is remediated. */
export function remediationBudget(
  check: MachineHealthCheck,
  counts: { expected: number; healthy: number; unhealthy: number },
): RemediationBudget {
  const { triggerIf } = check.spec.remediation ?? {};
  const notHealthy = counts.expected - counts.healthy;
  const told = `total: ${counts.expected}, unhealthy: ${counts.unhealthy}`;
  if (triggerIf?.unhealthyInRange) {
    const [, from, to] = range.exec(triggerIf.unhealthyInRange) ?? [];
    const low = Number(from ?? Number.NaN);
    const high = Number(to ?? Number.NaN);
    const allowed = notHealthy >= low && notHealthy <= high;
    return {
      allowed,
      remaining: allowed ? high - notHealthy : 0,
      message: `Remediation is not allowed, the number of not started or unhealthy machines does not fall within the range (${told}, unhealthyRange: ${triggerIf.unhealthyInRange})`,
    };
  }
  const limit = triggerIf?.unhealthyLessThanOrEqualTo ?? defaultLimit;
  const most = scaledValue(limit, counts.expected, 'down') ?? 0;
  const allowed = notHealthy <= most;
  return {
    allowed,
    remaining: allowed ? most - notHealthy : 0,
    message: `Remediation is not allowed, the number of not started or unhealthy machines exceeds maxUnhealthy (${told}, maxUnhealthy: ${limit})`,
  };
}
