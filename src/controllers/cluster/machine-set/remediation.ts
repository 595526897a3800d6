import type { Machine, MachineDeployment, MachineSet } from '../../../api/index.ts';
import {
  conditionOf,
  isDeleting,
  isFalse,
  isToBeRemediated,
  isTrue,
  remediateMachineAnnotation,
  revisionAnnotation,
  type Verdict,
} from '../../shared/index.ts';
import { scaledValue } from '../common/scaled-value.ts';

/** Planned actions for unhealthy machines in one reconcile. */
export interface RemediationPlan {
  /** healthy again: the remediation condition is removed */
  recovered: Machine[];
  /** marked, with the reason for waiting */
  waiting: { machine: Machine; verdict: Verdict }[];
  /** to be deleted once the preflight checks allow a replacement */
  remediate: Machine[];
}

export function planRemediation(
  set: MachineSet,
  deployment: MachineDeployment | undefined,
  machines: readonly Machine[],
): RemediationPlan {
  const plan: RemediationPlan = { recovered: [], waiting: [], remediate: [] };
  plan.recovered = machines.filter(
    (machine) => !isDeleting(machine) && isTrue(machine, 'HealthCheckSucceeded') && isFalse(machine, 'OwnerRemediated'),
  );
  const concerned = machines.filter((machine) => !isDeleting(machine) && isToBeRemediated(machine)).sort(byUrgency);
  if (concerned.length === 0) return plan;
  const revision = set.metadata.annotations?.[revisionAnnotation];
  if (deployment && deployment.metadata.annotations?.[revisionAnnotation] !== revision) {
    const verdict: Verdict = {
      status: 'False',
      reason: 'CannotBeRemediated',
      message: "Machine won't be remediated because it is pending removal due to rollout",
    };
    plan.waiting = concerned.map((machine) => ({ machine, verdict }));
    return plan;
  }
  const limit = deployment?.spec.remediation?.maxInFlight;
  const allowed = scaledValue(limit, deployment?.spec.replicas ?? 1, 'up') ?? Number.POSITIVE_INFINITY;
  const inFlight = machines.filter(
    (machine) => isDeleting(machine) && conditionOf(machine, 'OwnerRemediated')?.reason === 'MachineDeleting',
  ).length;
  const room = Math.max(allowed - inFlight, 0);
  plan.remediate = concerned.slice(0, room);
  plan.waiting = concerned.slice(room).map((machine) => ({
    machine,
    verdict: {
      status: 'False',
      reason: 'RemediationDeferred',
      message: `Waiting because there are already too many remediations in progress (spec.strategy.remediation.maxInFlight is ${limit})`,
    },
  }));
  return plan;
}

/** Sorts machines with the remediate annotation first, then the newest, which have the least to lose. */
function byUrgency(a: Machine, b: Machine): number {
  const asked = ({ metadata }: Machine): number =>
    metadata.annotations?.[remediateMachineAnnotation] !== undefined ? 0 : 1;
  const created = ({ metadata }: Machine): string => metadata.creationTimestamp ?? '';
  return (
    asked(a) - asked(b) ||
    (created(a) > created(b) ? -1 : created(a) < created(b) ? 1 : 0) ||
    ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)
  );
}
