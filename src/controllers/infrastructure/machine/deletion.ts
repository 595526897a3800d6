import type { OpenStackServer } from '../../../api/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import { isDeleting, withoutFinalizer } from '../../shared/index.ts';
import { authenticationFailedReason, notReady } from '../common/conditions.ts';
import { abandonAnnotation, heldBack, openStackMachineFinalizer } from '../common/names.ts';
import { CloudFault } from '../common/outcomes.ts';
import { instanceDeletedReason } from '../server/conditions.ts';
import { placeFloatingIp } from './api-floating-ip.ts';
import { removeMembers, usesLoadBalancer } from './load-balancer-members.ts';
import { instanceReadyCondition, readyCondition } from './names.ts';
import { judge, type MachineScope, type WholeScope } from './scope.ts';
import { releaseServerGroup } from './server-group.ts';
import { deleteServerObject } from './server-object.ts';
import { authenticationOf, providerIdOf, reportOf } from './status.ts';

/** Takes a machine down: first the way to its API, then the server with all that belongs to it. */
export async function reconcileDelete(scope: MachineScope): Promise<Result | undefined> {
  nameServer(scope);
  const whole = asWhole(scope);
  if (whole?.isControlPlane === true) {
    const waiting = await leaveIngress(whole);
    if (waiting) return waiting;
  }
  if (!(await deleteServerObject(scope))) {
    // its own words first: why it does not go matters more than that it goes
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

/** The group goes with its last machine; one that is given up with the rest stays, and an event names it. */
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

/** Without credentials nothing can be taken away; that is what people have to know first. */
function wordsOf(server: OpenStackServer): string | undefined {
  const authentication = authenticationOf(server);
  return authentication?.status === 'False' ? heldBack(authentication.message ?? '') : reportOf(server).verdict.message;
}

/** A server nobody has seen ACTIVE may have joined all the same: with its name, whoever deletes the machine finds its Node. */
function nameServer({ machine, server }: MachineScope): void {
  const instanceId = server?.status?.instanceID ?? machine.status?.instanceID;
  if (instanceId !== undefined) machine.spec.providerID ??= providerIdOf(machine, instanceId);
}

function asWhole(scope: MachineScope): WholeScope | undefined {
  return scope.owner && scope.cluster && scope.openStackCluster ? (scope as WholeScope) : undefined;
}

/**
 * A machine leaves the load balancer, or hands on the floating IP, before its server goes. A cluster that goes as a whole
 * takes its ingress with it, and a fault of the credentials is the server's to tell of.
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
/** The end of a machine is not held up for longer than this by the way to its API. */
const patienceMs = 60_000;

function isWorthWaiting({ context, machine }: WholeScope): boolean {
  return context.clock.now() - Date.parse(machine.metadata.deletionTimestamp ?? '') < patienceMs;
}
