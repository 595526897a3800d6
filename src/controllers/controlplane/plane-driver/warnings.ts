import type { KubeObject } from '../../../machinery/index.ts';
import { foreignReason, type ReconcileContext } from '../../../runtime/index.ts';
import type { Conditioned } from '../../shared/index.ts';
import type { PlaneScope } from './scope.ts';
import type { PlaneStage } from './types.ts';

// What only a user can put right is told by an event too: whoever looks at `kubectl get events` or is alarmed by them sees it.

/** Reasons that do not go away by waiting. */
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
/** All that is said of a version that cannot be taken is the user's to change. */
const usersStages: ReadonlySet<PlaneStage> = new Set(['version']);

/** Warns of what keeps a plane from what was asked for, once for every message. */
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

/** A Warning of an object, unless one of its conditions says so already. */
export function warnOnce(
  { events }: Pick<ReconcileContext, 'events'>,
  object: KubeObject & Conditioned,
  reason: string,
  message: string,
): void {
  const isKnown = object.status?.conditions?.some((condition) => condition.message === message) === true;
  if (!isKnown) events.event(object, 'Warning', foreignReason(reason), message);
}
