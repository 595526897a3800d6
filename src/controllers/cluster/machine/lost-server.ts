import { type Machine, MachineHealthChecks } from '../../../api/index.ts';
import {
  conditionOf,
  controllerOf,
  dropCondition,
  dropLegacy,
  findCondition,
  infrastructureGoneReason,
  isDeleting,
  legacyFalse,
  setLegacy,
  setVerdict,
  skipRemediationAnnotation,
  type Verdict,
} from '../../shared/index.ts';
import { askOwner, selects } from '../common/ask-owner.ts';
import type { MachineScope, Referenced } from './scope.ts';

const healthCheck = 'HealthCheckSucceeded';
const remediated = 'OwnerRemediated';

/** What the infrastructure says of a server that is gone for good; undefined while it does not say so. */
export function lossOf(infrastructure: Referenced): string | undefined {
  if (infrastructure.state !== 'found') return undefined;
  const ready = findCondition(infrastructure.provider.object, 'Ready');
  if (ready?.['status'] !== 'False' || ready['reason'] !== infrastructureGoneReason) return undefined;
  const { message } = ready;
  return typeof message === 'string' && message !== '' ? message : 'The server is gone';
}

/** How a machine whose server is gone is judged, here and by health checks. */
export function goneVerdict(message: string): Verdict {
  return { status: 'False', reason: infrastructureGoneReason, message };
}

/**
 * A machine whose server is gone for good is of no use to anybody: its owner is asked to replace it, as a health check would ask.
 * Where a health check is about the machine, the decision and its limits are the health check's.
 */
export function replaceLostServer(scope: MachineScope): undefined {
  const { machine, context } = scope;
  const message = lossOf(scope.infrastructure);
  if (message === undefined || !mayAsk(scope)) {
    if (scope.infrastructure.state === 'found') withdraw(machine);
    return;
  }
  const now = context.clock.now();
  setVerdict(machine, healthCheck, goneVerdict(message), now);
  setLegacy(machine, healthCheck, legacyFalse(infrastructureGoneReason, 'Warning', message), now);
  askOwner(context, machine, now);
}

function mayAsk({ machine, cluster, context }: MachineScope): boolean {
  if (isDeleting(machine) || !cluster || isDeleting(cluster) || controllerOf(machine) === undefined) return false;
  if ([machine, cluster].some(({ metadata }) => metadata.annotations?.[skipRemediationAnnotation] !== undefined)) {
    return false;
  }
  const checks = context.cache.lister(MachineHealthChecks).list({
    namespace: machine.metadata.namespace ?? '',
    filter: (check) => !isDeleting(check) && selects(check, machine),
  });
  return checks.length === 0;
}

/** The server was found after all, or its user does not want it replaced; what a health check said stays. */
function withdraw(machine: Machine): void {
  if (isDeleting(machine) || conditionOf(machine, healthCheck)?.reason !== infrastructureGoneReason) return;
  for (const type of [healthCheck, remediated]) {
    dropCondition(machine, type);
    dropLegacy(machine, type);
  }
}
