import { clusterNameLabel, Machines } from '../../../api/index.ts';
import { trimTrailing } from '../../../machinery/index.ts';
import {
  collect,
  isNotFound,
  isOpenStackError,
  type Network,
  type Port,
  type Router,
} from '../../../openstack/index.ts';
import { deleteLeftoversAnnotation, floatingIpAnnotation } from '../common/names.ts';
import { attempt, causeOf, type Wait } from '../common/outcomes.ts';
import { isOurs } from '../common/ownership.ts';
import { removeBastion } from './bastion.ts';
import { isLoadBalanced, managesNetwork } from './desired.ts';
import { record } from './events.ts';
import { findOwnFloatingIps } from './floating-ip.ts';
import { removeLeftovers } from './leftovers.ts';
import { findOwnBalancer } from './load-balancer.ts';
import { findOwnNetwork } from './network.ts';
import { findOwnRouter } from './router.ts';
import { type ClusterScope, follow, statusOf } from './scope.ts';
import { deleteGroup, dropNotedGroup, groupsToDelete } from './security-groups.ts';

const reason = 'DeleteFailed';

/** A reconcile of a deletion. Resources that may not be deleted are recorded and do not block the others. */
interface DeletionScope extends ClusterScope {
  readonly leftBehind: string[];
}

type Removal = (scope: DeletionScope) => Promise<Wait | undefined>;

/** In order of dependency. */
const removals: readonly Removal[] = [
  waitForMachines,
  removeBastion,
  removeLeftovers,
  removeBalancer,
  removeFloatingIps,
  removeRouter,
  removeNetwork,
  removeGroups,
];

/** Deletes all own resources in order. Returns what it waits for; undefined when done. */
export async function deleteInfrastructure(scope: ClusterScope): Promise<Wait | undefined> {
  const deletion: DeletionScope = { ...scope, leftBehind: [] };
  for (const removal of removals) {
    const wait = await removal(deletion);
    if (wait) return wait;
  }
  if (deletion.leftBehind.length > 0) {
    record(
      scope,
      'LeftBehind',
      `Could not be deleted and is left behind: ${deletion.leftBehind.join('; ')}`,
      'Warning',
    );
    scope.context.log.warn('Cloud resources are left behind', { resources: deletion.leftBehind });
  }
  return undefined;
}

/** Deletes one resource. If the cloud's policy forbids it, records the name, gives up and returns false. */
async function remove(scope: DeletionScope, what: string, call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    if (isNotFound(error)) return true;
    if (isOpenStackError(error, 'forbidden')) {
      scope.leftBehind.push(`${what} (${causeOf(error)})`);
      return false;
    }
    // resources that depend on one left behind cannot be deleted either
    if (isOpenStackError(error, 'conflict') && scope.leftBehind.length > 0) {
      scope.leftBehind.push(`${what} (${causeOf(error)})`);
      return false;
    }
    throw error;
  }
}

async function waitForMachines({ context, original, clusterName }: DeletionScope): Promise<Wait | undefined> {
  const left = context.cache.lister(Machines).list({
    namespace: original.metadata.namespace ?? '',
    filter: ({ metadata, spec }) =>
      spec.clusterName === clusterName || metadata.labels?.[clusterNameLabel] === clusterName,
  });
  const [first] = left;
  if (!first) return undefined;
  return {
    ms: 30_000,
    reason: 'WaitingForMachines',
    message: `${left.length} machines of the cluster still exist, among them ${first.metadata.name}`,
  };
}

async function removeBalancer(scope: DeletionScope): Promise<Wait | undefined> {
  const recorded = scope.draft.status?.apiServerManagedLoadBalancer;
  if (!recorded?.id && !isLoadBalanced(scope.draft.spec)) return undefined;
  const { openstack, view } = scope.access;
  const { signal } = scope.context;
  return attempt('the load balancer of the API could not be deleted', reason, async () => {
    const balancer = await findBalancer(scope, recorded?.id);
    if (!balancer || balancer.provisioningStatus === 'DELETED') {
      delete statusOf(scope).apiServerManagedLoadBalancer;
      return undefined;
    }
    const pending: Wait = {
      ms: 10_000,
      reason: 'WaitingForLoadBalancer',
      message: `load balancer ${balancer.name} (${balancer.id}) is being deleted`,
    };
    follow(scope, 'loadBalancer', balancer.id, { closely: true });
    if (balancer.provisioningStatus.startsWith('PENDING_')) return pending;
    const name = `load balancer ${balancer.name} (${balancer.id})`;
    try {
      const done = await remove(scope, name, () =>
        openstack.loadBalancer.loadBalancers.delete(balancer.id, { cascade: true, signal }),
      );
      if (!done) return undefined;
    } catch (error) {
      if (!isOpenStackError(error, 'immutable')) throw error;
      // busy with another change, which will end
      return { ...pending, message: `${name} is busy with a change and will be deleted after it` };
    }
    view.forget('loadBalancer', balancer.id);
    record(scope, 'SuccessfulDeleteLoadBalancer', `Deleted load balancer ${balancer.name} with id ${balancer.id}`);
    return pending;
  });
}

async function findBalancer(scope: DeletionScope, recordedId: string | undefined) {
  try {
    const known = recordedId
      ? await scope.access.view.readAnew('loadBalancer', recordedId, scope.context.signal)
      : undefined;
    return known ?? (await findOwnBalancer(scope));
  } catch (error) {
    // without Octavia there are no load balancers
    if (isOpenStackError(error, 'noService')) return undefined;
    throw error;
  }
}

/** Deletes own floating IPs. User-supplied ones have no mark and stay, as do those the user has specified since. */
async function removeFloatingIps(scope: DeletionScope): Promise<Wait | undefined> {
  const { floatingIps } = scope.access.openstack.network;
  const { signal } = scope.context;
  const isNoted = scope.draft.metadata.annotations?.[floatingIpAnnotation('api')] !== undefined;
  if (scope.draft.spec.enableExternalNetwork === false && !isNoted) return undefined;
  await attempt('the floating IP of the API could not be deleted', reason, async () => {
    for (const address of await findOwnFloatingIps(scope, 'api')) {
      if (address.address === scope.draft.spec.apiServer?.floatingIP) continue;
      const gone = await remove(scope, `floating IP ${address.address} (${address.id})`, () =>
        floatingIps.delete(address.id, { signal }),
      );
      if (!gone) continue;
      record(scope, 'SuccessfulDeleteFloatingIP', `Deleted floating IP ${address.address} with id ${address.id}`);
      scope.access.view.forget('floatingIp', address.id);
    }
  });
  return undefined;
}

async function removeRouter(scope: DeletionScope): Promise<Wait | undefined> {
  const { spec, status } = scope.draft;
  if (!managesNetwork(spec)) return undefined;
  const { openstack, view } = scope.access;
  const { signal } = scope.context;
  const { routers } = openstack.network;
  return attempt('the router of the cluster could not be deleted', reason, async () => {
    const recordedId = status?.router?.id;
    const recorded = recordedId ? await view.readAnew('router', recordedId, signal) : undefined;
    const router = recorded ?? (spec.router ? undefined : await findOwnRouter(scope));
    if (!router) {
      delete statusOf(scope).router;
      return undefined;
    }
    try {
      for (const subnetId of await subnetIdsOf(scope)) {
        await remove(scope, `interface of router ${router.name} on subnet ${subnetId}`, () =>
          routers.removeInterface(router.id, { subnetId }, { signal }),
        );
      }
      if (spec.router || !isOwnRouter(scope, router)) return undefined;
      const done = await remove(scope, `router ${router.name} (${router.id})`, () =>
        routers.delete(router.id, { signal }),
      );
      if (!done) return undefined;
    } catch (error) {
      if (!isOpenStackError(error, 'conflict')) throw error;
      const detail = trimTrailing(error.detail, '.');
      return blocked(`router ${router.name} (${router.id}) cannot be deleted yet: ${detail}; ${leftoversCure}`);
    }
    record(scope, 'SuccessfulDeleteRouter', `Deleted router ${router.name} with id ${router.id}`);
    view.forget('router', router.id);
    delete statusOf(scope).router;
    return undefined;
  });
}

function isOwnRouter({ draft, owner }: ClusterScope, router: Router): boolean {
  return isOurs(router, owner, { recordedId: draft.status?.router?.id });
}

async function subnetIdsOf(scope: DeletionScope): Promise<readonly string[]> {
  const recorded = scope.draft.status?.network?.subnets?.map(({ id }) => id) ?? [];
  if (recorded.length > 0) return recorded;
  return (await findNetwork(scope))?.subnetIds ?? [];
}

async function findNetwork(scope: DeletionScope): Promise<Network | undefined> {
  const recorded = scope.draft.status?.network?.id;
  const known = recorded ? await scope.access.view.readAnew('network', recorded, scope.context.signal) : undefined;
  return known ?? (await findOwnNetwork(scope));
}

/** What keeps routers and networks of a cluster are usually resources of its Services. */
const leftoversCure = `delete what is left of the workload, or set the annotation ${deleteLeftoversAnnotation}: all`;

async function removeNetwork(scope: DeletionScope): Promise<Wait | undefined> {
  if (!managesNetwork(scope.draft.spec)) return undefined;
  const { openstack, view } = scope.access;
  const { signal } = scope.context;
  return attempt('the network of the cluster could not be deleted', reason, async () => {
    const network = await findNetwork(scope);
    if (!network) {
      delete statusOf(scope).network;
      return undefined;
    }
    const ports = await collect(openstack.network.ports.list({ networkId: network.id }, { signal }));
    for (const port of ports.filter(isStray)) await openstack.network.ports.delete(port.id, { signal });
    try {
      const done = await remove(scope, `network ${network.name} (${network.id})`, () =>
        openstack.network.networks.delete(network.id, { signal }),
      );
      if (!done) return undefined;
    } catch (error) {
      if (!isOpenStackError(error, 'conflict')) throw error;
      return blocked(`network ${network.name} (${network.id}) is still in use by ${usersOf(ports)}; ${leftoversCure}`);
    }
    record(scope, 'SuccessfulDeleteNetwork', `Deleted network ${network.name} with id ${network.id}`);
    view.forget('network', network.id);
    delete statusOf(scope).network;
    return undefined;
  });
}

/** Tells whether a port was created for a server that is gone. */
function isStray({ description, deviceId }: Port): boolean {
  return deviceId === '' && /^Created by cluster-api-provider-openstack .*\[owner /.test(description);
}

/** Names the users of a network, for messages. */
function usersOf(ports: readonly Port[]): string {
  const users = ports
    .filter(
      (port) => !isStray(port) && port.deviceOwner !== 'network:dhcp' && port.deviceOwner !== 'network:distributed',
    )
    .map(
      (port) =>
        `port ${port.name || port.id} (${port.deviceOwner || 'no device'}${port.deviceId ? ` ${port.deviceId}` : ''})`,
    );
  if (users.length === 0) return 'something this project cannot see';
  return users.length > 5 ? `${users.slice(0, 5).join(', ')} and ${users.length - 5} more` : users.join(', ');
}

async function removeGroups(scope: DeletionScope): Promise<Wait | undefined> {
  if (!scope.draft.spec.managedSecurityGroups) return undefined;
  return attempt('security groups of the cluster could not be deleted', reason, async () => {
    const inUse: string[] = [];
    for (const group of await groupsToDelete(scope)) {
      let free = true;
      const allowed = await remove(scope, `security group ${group.name} (${group.id})`, async () => {
        free = await deleteGroup(scope, group);
      });
      if (allowed && free) dropNotedGroup(scope, group.id);
      else if (!free) inUse.push(`${group.name} (${group.id})`);
    }
    if (inUse.length === 0) return undefined;
    if (scope.leftBehind.length > 0) {
      scope.leftBehind.push(...inUse.map((group) => `security group ${group} (in use)`));
      return undefined;
    }
    return blocked(`security groups are still in use: ${inUse.join(', ')}; remove them from the ports that have them`);
  });
}

function blocked(message: string): Wait {
  return { ms: 15_000, reason: 'DeletionBlocked', message };
}

/** Describes the recorded cloud resources, for users who abandon them. */
export function recordedResources({ status }: { status?: ClusterScope['draft']['status'] }): string[] {
  const named = (kind: string, resource: { name: string; id: string } | undefined): string[] =>
    resource?.id ? [`${kind} ${resource.name} (${resource.id})`] : [];
  return [
    ...named('load balancer', status?.apiServerManagedLoadBalancer),
    ...named('router', status?.router),
    ...named('network', status?.network),
    ...named('security group', status?.controlPlaneSecurityGroup),
    ...named('security group', status?.workerSecurityGroup),
    ...named('security group', status?.bastionSecurityGroup),
  ];
}
