import type { OpenStackCluster } from '../../../api/index.ts';
import {
  collect,
  isOpenStackError,
  type LoadBalancer,
  type Member,
  type MemberSpec,
  type OpenStack,
} from '../../../openstack/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import { supervisorPort } from '../../shared/index.ts';
import type { CloudAccess } from '../common/clouds.ts';
import { notReady, readyVerdict } from '../common/conditions.ts';
import { clusterBase, loadBalancerPartName, memberName } from '../common/names.ts';
import { observedStateOf } from '../common/observed-state.ts';
import { attempt, busyMs, CloudFault, cloudFaultOf } from '../common/outcomes.ts';
import { apiPortOf, isServedByRKE2, servedPorts } from '../common/served-ports.ts';
import { fixedAddressOn } from '../server/addresses.ts';
import type { ClusterMemory } from './memory.ts';
import { apiServerIngressCondition, loadBalancerMemberErrorReason } from './names.ts';
import { judge, type WholeScope } from './scope.ts';

/** Fallback for a lost event about a load balancer that is free again. */
const lostEventMs = 60_000;

export function usesLoadBalancer({ spec }: OpenStackCluster): boolean {
  const balancer = spec.apiServer?.managedLoadBalancer;
  return balancer !== undefined && balancer.enabled !== false;
}

/** An rke2 supervisor opens its port before it can accept others, so the health monitor checks the API port. */
function monitored(scope: WholeScope, port: number): Pick<MemberSpec, 'monitorPort'> {
  const isSupervisor = port === supervisorPort && isServedByRKE2(scope.cluster);
  return isSupervisor ? { monitorPort: apiPortOf(scope.openStackCluster.spec) } : {};
}

interface Ingress {
  readonly cloud: CloudAccess;
  readonly balancer: LoadBalancer;
  readonly memory: ClusterMemory;
  readonly base: string;
}

/**
 * Adds the machine to every pool of the API load balancer. Octavia allows one change at a time: each reconcile makes
 * one, and the load balancer's return to ACTIVE triggers the next.
 */
export async function ensureMembers(scope: WholeScope): Promise<Result | undefined> {
  const ingress = await openIngress(scope);
  if (!ingress) return after(lostEventMs, 'the load balancer is not known yet');
  const { balancer } = ingress;
  if (balancer.provisioningStatus !== 'ACTIVE') return waitFor(scope, balancer);
  const desired = await memberSpec(scope, ingress);
  if (!desired) return after(lostEventMs, 'the addresses of the server are not known yet');
  for (const port of servedPorts(scope.openStackCluster.spec, scope.cluster)) {
    const name = memberName(ingress.base, port, scope.machine.metadata.name ?? '');
    const pool = await poolOf(scope, ingress, port);
    const present = (await membersOf(scope, ingress, pool)).find((member) => member.name === name);
    if (present?.address === desired.address && present.protocolPort === port) continue;
    if (ingress.memory.isChanging) return waitFor(scope, balancer);
    await change(scope, ingress, `Member ${name} cannot be set`, async ({ loadBalancer }) => {
      const members = loadBalancer.members(pool);
      if (present) await members.delete(present.id, { signal: scope.context.signal });
      else
        await members.create(
          { ...desired, ...monitored(scope, port), name, protocolPort: port },
          { signal: scope.context.signal },
        );
    });
    judge(
      scope,
      apiServerIngressCondition,
      notReady(loadBalancerMemberErrorReason, `Member ${name} of load balancer ${balancer.name} is being set`),
    );
    return after(lostEventMs, `member ${name} is being set`);
  }
  judge(scope, apiServerIngressCondition, readyVerdict);
  return undefined;
}

/** Limit for which a busy load balancer may delay the deletion of a machine. */
const patienceMs = 300_000;

/**
 * Removes the machine from all pools before its server is deleted. A missing, broken or stuck load balancer does not
 * block that.
 */
export async function removeMembers(scope: WholeScope): Promise<Result | undefined> {
  const ingress = await openIngress(scope);
  const isLate = scope.context.clock.now() - Date.parse(scope.machine.metadata.deletionTimestamp ?? '') > patienceMs;
  if (isLate) return undefined;
  if (!ingress) {
    const { cloud, id } = await balancerOf(scope);
    const isGone = id === undefined || observedStateOf(cloud.observer).isGone('loadBalancer', id);
    return isGone ? undefined : after(busyMs, 'the load balancer is not known yet');
  }
  const { balancer } = ingress;
  if (balancer.provisioningStatus === 'ERROR' || balancer.provisioningStatus === 'PENDING_DELETE') return undefined;
  if (balancer.provisioningStatus !== 'ACTIVE') return waitFor(scope, balancer);
  for (const port of servedPorts(scope.openStackCluster.spec, scope.cluster)) {
    const name = memberName(ingress.base, port, scope.machine.metadata.name ?? '');
    const pool = await poolOf(scope, ingress, port).catch((error: unknown) => {
      if (error instanceof MissingPool) return undefined;
      throw error;
    });
    const present = pool && (await membersOf(scope, ingress, pool)).find((member) => member.name === name);
    if (!pool || !present) continue;
    if (ingress.memory.isChanging) return waitFor(scope, balancer);
    await change(scope, ingress, `Member ${name} cannot be removed`, async ({ loadBalancer }) => {
      await loadBalancer.members(pool).delete(present.id, { signal: scope.context.signal });
    });
    return after(busyMs, `member ${name} is being removed`);
  }
  return undefined;
}

async function balancerOf(scope: WholeScope): Promise<{ cloud: CloudAccess; id: string | undefined }> {
  const id = scope.openStackCluster.status?.apiServerManagedLoadBalancer?.id;
  const cloud = await scope.cloud();
  if (id !== undefined) scope.follows.push({ type: 'loadBalancer', id });
  return { cloud, id };
}

async function openIngress(scope: WholeScope): Promise<Ingress | undefined> {
  const { cloud, id } = await balancerOf(scope);
  const balancer = id === undefined ? undefined : cloud.view.current('loadBalancer', id);
  if (!balancer) return undefined;
  const { namespace = '', name = '' } = scope.cluster.metadata;
  const memory = scope.memories.of(scope.openStackCluster.metadata.uid ?? '');
  return { cloud, balancer, memory, base: clusterBase(namespace, name) };
}

function waitFor(scope: WholeScope, { id, name, provisioningStatus }: LoadBalancer): Result {
  scope.follows.push({ type: 'loadBalancer', id, closely: true });
  const cure = provisioningStatus === 'ERROR' ? '; have the operator of the cloud repair or fail it over' : '';
  // free in the last list, but changed since by another machine of the cluster
  const state = provisioningStatus === 'ACTIVE' ? 'being changed' : provisioningStatus;
  const message = `Load balancer ${name} (${id}) is ${state}${cure}`;
  judge(scope, apiServerIngressCondition, notReady(loadBalancerMemberErrorReason, message));
  return after(lostEventMs, message);
}

/** Builds the member for any pool. */
async function memberSpec(
  scope: WholeScope,
  { cloud, balancer }: Ingress,
): Promise<Omit<MemberSpec, 'protocolPort'> | undefined> {
  const { openStackCluster, server } = scope;
  const { network, apiServerManagedLoadBalancer } = openStackCluster.status ?? {};
  const id = server?.status?.instanceID ?? '';
  scope.follows.push({ type: 'server', id });
  const seen = cloud.view.current('server', id);
  if (!seen) return undefined;
  const internal = server?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
  const address = fixedAddressOn(seen, network?.name ?? '') ?? internal;
  if (address === undefined) return undefined;
  const elsewhere = apiServerManagedLoadBalancer?.loadBalancerNetwork?.id;
  const isElsewhere = elsewhere !== undefined && elsewhere !== network?.id;
  const subnetId = openStackCluster.spec.primarySubnet?.id ?? network?.subnets?.[0]?.id;
  const { tags } = openStackCluster.spec;
  return {
    address,
    ...(isElsewhere && subnetId !== undefined && { subnetId }),
    ...(tags && tags.length > 0 && balancer.tags !== undefined && { tags }),
  };
}

/** The cluster's load balancer is not complete yet. */
class MissingPool extends CloudFault {}

async function poolOf(scope: WholeScope, ingress: Ingress, port: number): Promise<string> {
  const { balancer, memory, base } = ingress;
  const name = loadBalancerPartName(base, port);
  const list = memory.pools ?? listPools(scope, ingress);
  memory.pools = list;
  const found = await list.then(
    (pools) => pools.get(name),
    (error: unknown) => {
      memory.pools = undefined;
      throw cloudFaultOf(
        error,
        `Pools of load balancer ${balancer.name} cannot be read`,
        loadBalancerMemberErrorReason,
      );
    },
  );
  if (found !== undefined) return found;
  // it may have been created since
  memory.pools = undefined;
  throw new MissingPool(
    loadBalancerMemberErrorReason,
    `Load balancer ${balancer.name} has no pool ${name} yet; its cluster's controller makes it`,
    { retryMs: missingPoolMs },
  );
}

const missingPoolMs = 10_000;

async function listPools(scope: WholeScope, { cloud, balancer }: Ingress): Promise<ReadonlyMap<string, string>> {
  const { pools } = cloud.openstack.loadBalancer;
  const all = await collect(pools.list({ loadBalancerId: balancer.id }, { signal: scope.context.signal }));
  return new Map(all.map(({ name, id }) => [name, id]));
}

/** Lists members as of the load balancer's last change; all machines of a cluster share the list. */
async function membersOf(
  scope: WholeScope,
  { cloud, balancer, memory }: Ingress,
  pool: string,
): Promise<readonly Member[]> {
  const asOf = balancer.updatedAt ?? '';
  let known = memory.members.get(pool);
  if (known?.asOf !== asOf) {
    const members = cloud.openstack.loadBalancer.members(pool);
    known = { asOf, list: collect(members.list({}, { signal: scope.context.signal })) };
    memory.members.set(pool, known);
  }
  try {
    return await known.list;
  } catch (error) {
    memory.members.delete(pool);
    if (!isOpenStackError(error, 'notFound')) {
      throw cloudFaultOf(error, `Members of pool ${pool} cannot be read`, loadBalancerMemberErrorReason);
    }
    // the pool was recreated with another id
    memory.pools = undefined;
    throw new MissingPool(loadBalancerMemberErrorReason, `Pool ${pool} is gone`, { retryMs: busyMs, cause: error });
  }
}

/** Runs one change; the load balancer is busy for a while afterwards. */
async function change(
  scope: WholeScope,
  { cloud, balancer, memory }: Ingress,
  doing: string,
  call: (openstack: OpenStack) => Promise<void>,
): Promise<void> {
  scope.follows.push({ type: 'loadBalancer', id: balancer.id, closely: true });
  memory.isChanging = true;
  try {
    await attempt(doing, loadBalancerMemberErrorReason, () => call(cloud.openstack));
    // mark it busy until the next list
    cloud.view.remember('loadBalancer', { ...balancer, provisioningStatus: 'PENDING_UPDATE' });
  } finally {
    // whatever the result, the cached members are outdated
    memory.members.clear();
    memory.isChanging = false;
  }
}
