import type { KubeObject } from '../../../machinery/index.ts';
import { foreignReason, type ReconcileContext } from '../../../runtime/index.ts';
import type { Conditioned } from '../../shared/index.ts';
import type { PlaneScope } from './scope.ts';
import type { PlaneStage } from './types.ts';

// Emits events for faults that only a user can fix, for `kubectl get events` and alerts based on events.

/** Reasons that do not resolve themselves. */
const usersChanged: ReadonlySet<string> = new Set([
  'AddressChanged',
  'AddressMissing',
  'AuthorityLost',
  'BackupRefused',
  'CredentialNotUsable',
  'CredentialsNotUsable',
  'EtcdDataLost',
  'GatewayNotUsable',
  'LoadBalancerFailed',
  'NodeAddressMissing',
  'ObjectRefused',
  'PatchRefused',
  'RestoreRefused',
  'ScheduleRefused',
]);
/** Stages whose every problem is the user's to fix. */
const usersStages: ReadonlySet<PlaneStage> = new Set(['version']);

/** Emits a Warning for each obstacle, once per message. */
export function warnOfObstacles({ stages, memory, request }: PlaneScope): void {
  for (const [stage, { status, reason, message = '' }] of stages) {
    const isTold = status === 'False' && (usersStages.has(stage) || usersChanged.has(reason));
    if (!isTold) memory.warned.delete(stage);
    else if (memory.warned.get(stage) !== message) {
      memory.warned.set(stage, message);
      warnOnce(request.context, request.owner, reason, message);
    }
  }
}

/** Emits a Warning unless a condition of the object has the same message. */
export function warnOnce(
  { events }: Pick<ReconcileContext, 'events'>,
  object: KubeObject & Conditioned,
  reason: string,
  message: string,
): void {
  const isKnown = object.status?.conditions?.some((condition) => condition.message === message) === true;
  if (!isKnown) events.event(object, 'Warning', foreignReason(reason), message);
}
