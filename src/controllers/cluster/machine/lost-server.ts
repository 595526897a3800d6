import { type Machine, MachineHealthChecks } from '../../../api/index.ts';
import type { KubeObject } from '../../../machinery/index.ts';
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

/** Returns the infrastructure's message that the server is permanently gone; undefined otherwise. */
export function lossOf(infrastructure: Referenced): string | undefined {
  if (infrastructure.state !== 'found') return undefined;
  const ready = findCondition(infrastructure.provider.object, 'Ready');
  if (ready?.['status'] !== 'False' || ready['reason'] !== infrastructureGoneReason) return undefined;
  const { message } = ready;
  return typeof message === 'string' && message !== '' ? message : 'The server is gone';
}

/** Verdict for a machine whose server is gone, shared with health checks. */
export function goneVerdict(message: string): Verdict {
  return { status: 'False', reason: infrastructureGoneReason, message };
}

/**
 * Requests replacement of a machine whose server is permanently gone, as a health check would. If a health check
 * selects the machine, that check decides, within its limits, and writes these conditions alone.
 */
export function replaceLostServer(scope: MachineScope): undefined {
  const { machine, context } = scope;
  if (isChecked(scope)) return;
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

/** Tells whether a health check judges the machine. None judges a machine whose annotation opts out. */
function isChecked({ machine, context }: MachineScope): boolean {
  if (skipsRemediation(machine)) return false;
  const checks = context.cache.lister(MachineHealthChecks).list({
    namespace: machine.metadata.namespace ?? '',
    filter: (check) => !isDeleting(check) && selects(check, machine),
  });
  return checks.length > 0;
}

function mayAsk({ machine, cluster }: MachineScope): boolean {
  if (isDeleting(machine) || !cluster || isDeleting(cluster) || controllerOf(machine) === undefined) return false;
  return ![machine, cluster].some(skipsRemediation);
}

const skipsRemediation = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.[skipRemediationAnnotation] !== undefined;

/** Withdraws the request if the server is found again or the user opts out. */
function withdraw(machine: Machine): void {
  if (isDeleting(machine) || conditionOf(machine, healthCheck)?.reason !== infrastructureGoneReason) return;
  for (const type of [healthCheck, remediated]) {
    dropCondition(machine, type);
    dropLegacy(machine, type);
  }
}
