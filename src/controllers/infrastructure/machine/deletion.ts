import type { OpenStackServer } from '../../../api/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import { isDeleting, openStackMachineFinalizer, withoutFinalizer } from '../../shared/index.ts';
import { authenticationFailedReason, notReady } from '../common/conditions.ts';
import { abandonAnnotation, heldBack } from '../common/names.ts';
import { CloudFault } from '../common/outcomes.ts';
import { instanceDeletedReason } from '../server/conditions.ts';
import { placeFloatingIp } from './api-floating-ip.ts';
import { removeMembers, usesLoadBalancer } from './load-balancer-members.ts';
import { instanceReadyCondition, readyCondition } from './names.ts';
import { judge, type MachineScope, type WholeScope } from './scope.ts';
import { releaseServerGroup } from './server-group.ts';
import { deleteServerObject } from './server-object.ts';
import { authenticationOf, providerIdOf, reportOf } from './status.ts';

/** Deletes a machine: first its part in the API ingress, then the server with all its resources. */
export async function reconcileDelete(scope: MachineScope): Promise<Result | undefined> {
  nameServer(scope);
  const whole = asWhole(scope);
  if (whole?.isControlPlane === true) {
    const waiting = await leaveIngress(whole);
    if (waiting) return waiting;
  }
  if (!(await deleteServerObject(scope))) {
    // the reason why a deletion is stuck is more important than the deletion itself
    const said = scope.server !== undefined && isDeleting(scope.server) ? wordsOf(scope.server) : undefined;
    const going = notReady(instanceDeletedReason, said ?? 'The server is being deleted');
    judge(scope, instanceReadyCondition, going);
    judge(scope, readyCondition, going);
    return undefined;
  }
  if (whole) await leaveServerGroup(whole);
  scope.machine.metadata.finalizers = withoutFinalizer(scope.machine.metadata.finalizers, openStackMachineFinalizer);
  return undefined;
}

/**
 * Deletes the server group with its last machine. If the cloud's resources are abandoned the group stays, and an event
 * names it.
 */
async function leaveServerGroup(scope: WholeScope): Promise<void> {
  try {
    await releaseServerGroup(scope);
  } catch (error) {
    const isGivenUp = scope.machine.metadata.annotations?.[abandonAnnotation] === 'true';
    if (!(error instanceof CloudFault) || error.reason !== authenticationFailedReason || !isGivenUp) throw error;
    scope.context.events.event(
      scope.machine,
      'Warning',
      'AbandonedCloudResources',
      'Left in the cloud: a server group',
    );
  }
}

/** Reports credential problems first: nothing can be deleted without credentials. */
function wordsOf(server: OpenStackServer): string | undefined {
  const authentication = authenticationOf(server);
  return authentication?.status === 'False' ? heldBack(authentication.message ?? '') : reportOf(server).verdict.message;
}

/** Sets the provider ID: even a server that was never seen ACTIVE may have joined, and its Node is found by that id. */
function nameServer({ machine, server }: MachineScope): void {
  const instanceId = server?.status?.instanceID ?? machine.status?.instanceID;
  if (instanceId !== undefined) machine.spec.providerID ??= providerIdOf(machine, instanceId);
}

function asWhole(scope: MachineScope): WholeScope | undefined {
  return scope.owner && scope.cluster && scope.openStackCluster ? (scope as WholeScope) : undefined;
}

/**
 * Removes a machine from the load balancer, or moves the floating IP, before its server is deleted. Skipped if the
 * whole cluster is deleted. Credential faults are reported by the server.
 */
async function leaveIngress(scope: WholeScope): Promise<Result | undefined> {
  if (isDeleting(scope.cluster) || scope.server === undefined || isDeleting(scope.server)) return undefined;
  try {
    if (usesLoadBalancer(scope.openStackCluster)) return await removeMembers(scope);
    await placeFloatingIp(scope);
    return undefined;
  } catch (error) {
    if (!(error instanceof CloudFault)) throw error;
    if (error.reason === authenticationFailedReason || !isWorthWaiting(scope)) {
      scope.context.events.event(scope.machine, 'Warning', 'Failedleaveingress', error.message);
      return undefined;
    }
    return after(error.retryMs ?? retryMs, error.message);
  }
}

const retryMs = 5_000;
/** Limit for which ingress cleanup may delay the deletion of a machine. */
const patienceMs = 60_000;

function isWorthWaiting({ context, machine }: WholeScope): boolean {
  return context.clock.now() - Date.parse(machine.metadata.deletionTimestamp ?? '') < patienceMs;
}
