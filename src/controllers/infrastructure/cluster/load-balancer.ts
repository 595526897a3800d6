import type { NetworkStatus } from '../../../api/index.ts';
import { ipFamily } from '../../../machinery/index.ts';
import { collect, isOpenStackError, type LoadBalancer, type LoadBalancerSpec } from '../../../openstack/index.ts';
import { resolveNetwork, resolveSubnet } from '../common/filters.ts';
import { clusterDescription, loadBalancerName } from '../common/names.ts';
import { attempt, busyMs, CloudFault, cloudFaultOf, UnusableInput, type Wait } from '../common/outcomes.ts';
import { ownerMark } from '../common/ownership.ts';
import { allowedCidrsOf } from './allowed-cidrs.ts';
import { wantsFloatingIp } from './desired.ts';
import { record } from './events.ts';
import { attachFloatingIp, reserveFloatingIp } from './floating-ip.ts';
import { reconcileParts } from './load-balancer-parts.ts';
import { networkStatus } from './network.ts';
import { type ClusterScope, follow, look, statusOf } from './scope.ts';
import { oldest, tagsOf } from './tags.ts';
import { isMadeFor } from './upstream.ts';

const reason = 'APIEndpointConfigFailed';
/** Octavia takes seconds to minutes for a load balancer; the observer reports the end. */
const pendingMs = 10_000;
/** Time before a load balancer that failed to come up is deleted, for users to inspect it. */
const brokenMs = 30_000;

/** Reconciles the API load balancer with its parts; waits while Octavia is busy. */
export async function reconcileLoadBalancer(scope: ClusterScope): Promise<{ wait: Wait } | { host: string }> {
  const name = loadBalancerName(scope.base);
  const network = await attempt(`the network of load balancer ${name} could not be found`, reason, () =>
    balancerNetwork(scope),
  );
  const balancer = await attempt(`load balancer ${name} could not be created`, reason, () =>
    ensureBalancer(scope, name, network),
  ).catch((error: unknown) => {
    throw explainMissingOctavia(error);
  });
  const status = noteBalancer(scope, balancer, network);
  const state = balancer.provisioningStatus;
  if (state === 'ERROR') return { wait: await replaceBroken(scope, balancer) };
  if (state === 'PENDING_DELETE' || state === 'DELETED') return { wait: pending(scope, balancer) };
  if (wantsFloatingIp(scope.draft.spec)) {
    const address = await attempt(`load balancer ${name} could not be given a floating IP`, reason, () =>
      ensureFloatingIp(scope, balancer),
    );
    status.ip = address;
  } else delete status.ip;
  if (state === 'PENDING_CREATE') return { wait: pending(scope, balancer) };
  const cidrs = await attempt(`allowed CIDRs of load balancer ${name} could not be determined`, reason, () =>
    allowedCidrsOf(scope, balancer),
  );
  if (cidrs === undefined || cidrs.length === 0) delete status.allowedCIDRs;
  else status.allowedCIDRs = cidrs;
  const busy = await attempt(`parts of load balancer ${name} could not be created`, reason, () =>
    reconcileParts(scope, balancer, cidrs),
  );
  if (busy) return { wait: { ms: busyMs / 2, reason: 'WaitingForLoadBalancer', message: busy } };
  const host = status.ip ?? balancer.vipAddress;
  if (host === undefined) return { wait: pending(scope, balancer) };
  return { host };
}

function pending(scope: ClusterScope, balancer: LoadBalancer): Wait {
  follow(scope, 'loadBalancer', balancer.id, { closely: true });
  return {
    ms: pendingMs,
    reason: 'WaitingForLoadBalancer',
    message: `load balancer ${balancer.name} (${balancer.id}) is ${balancer.provisioningStatus}`,
  };
}

function noteBalancer(scope: ClusterScope, balancer: LoadBalancer, network: NetworkStatus) {
  const status = statusOf(scope);
  const before = status.apiServerManagedLoadBalancer;
  const next = {
    name: balancer.name,
    id: balancer.id,
    ...tagsOf(balancer),
    ...(before?.ip !== undefined && { ip: before.ip }),
    ...(balancer.vipAddress !== undefined && { internalIP: balancer.vipAddress }),
    ...(before?.allowedCIDRs && { allowedCIDRs: before.allowedCIDRs }),
    loadBalancerNetwork: network,
  };
  status.apiServerManagedLoadBalancer = next;
  return status.apiServerManagedLoadBalancer;
}

/** Returns the network for the load balancer's VIP: the specified one, or that of the cluster. */
async function balancerNetwork(scope: ClusterScope): Promise<NetworkStatus> {
  const { spec, status } = scope.draft;
  const own = status?.network;
  const { network: param, subnets: params = [] } = spec.apiServer?.managedLoadBalancer ?? {};
  if (!own) throw new UnusableInput('the cluster has no network yet');
  if (!param && params.length === 0) return own;
  const recorded = status?.apiServerManagedLoadBalancer?.loadBalancerNetwork;
  if (recorded) return recorded;
  const { openstack } = scope.access;
  const { signal } = scope.context;
  const path = 'spec.apiServer.managedLoadBalancer';
  const network = await resolveNetwork(openstack, param ?? { id: own.id }, { field: `${path}.network`, signal });
  const subnets = [];
  for (const [index, subnet] of params.entries()) {
    const field = `${path}.subnets[${index}]`;
    subnets.push(await resolveSubnet(openstack, subnet, { field, networkId: network.id, signal }));
  }
  const all =
    subnets.length > 0 ? subnets : await collect(openstack.network.subnets.list({ networkId: network.id }, { signal }));
  return networkStatus(network, all);
}

async function ensureBalancer(scope: ClusterScope, name: string, network: NetworkStatus): Promise<LoadBalancer> {
  const recorded = scope.draft.status?.apiServerManagedLoadBalancer?.id;
  const known = recorded === undefined ? undefined : await look(scope, 'loadBalancer', recorded);
  const balancer = known ?? (await findOwnBalancer(scope)) ?? (await createBalancer(scope, name, network));
  follow(scope, 'loadBalancer', balancer.id);
  return balancer;
}

/** Finds the load balancer with our mark. */
export async function findOwnBalancer(scope: ClusterScope): Promise<LoadBalancer | undefined> {
  const { openstack, projectId } = scope.access;
  const { signal } = scope.context;
  const filter = { name: loadBalancerName(scope.base), projectId };
  const named = await collect(openstack.loadBalancer.loadBalancers.list(filter, { signal }));
  const found = oldest(
    named.filter((balancer) => isMadeFor(scope, balancer) && balancer.provisioningStatus !== 'DELETED'),
  );
  if (found) scope.access.view.remember('loadBalancer', found);
  return found;
}

async function createBalancer(scope: ClusterScope, name: string, network: NetworkStatus): Promise<LoadBalancer> {
  const { access, context, draft, base, owner, memory } = scope;
  const { signal } = context;
  const { availabilityZone } = draft.spec.apiServer?.managedLoadBalancer ?? {};
  const vipAddress = vipAddressOf(scope);
  const tags = draft.spec.tags ?? [];
  const desired: LoadBalancerSpec = {
    name,
    description: clusterDescription(base, ownerMark(owner)),
    vipNetworkId: network.id,
    vipSubnetId: await vipSubnet(scope, network),
    ...(vipAddress !== undefined && { vipAddress }),
    ...(availabilityZone !== undefined && { availabilityZone }),
    ...(tags.length > 0 && { tags }),
    ...(await offersWanted(scope)),
  };
  const balancer = await access.openstack.loadBalancer.loadBalancers.create(desired, { signal });
  record(scope, 'SuccessfulCreateLoadBalancer', `Created load balancer ${name} with id ${balancer.id}`);
  access.view.remember('loadBalancer', balancer);
  memory.parts = new Map();
  memory.partsSeen = '';
  return balancer;
}

/** Returns the VIP's subnet: the primary subnet if specified, otherwise the first. */
async function vipSubnet(scope: ClusterScope, network: NetworkStatus): Promise<string | undefined> {
  const { primarySubnet, apiServer } = scope.draft.spec;
  const isOwnNetwork = network.id === scope.draft.status?.network?.id;
  if (!primarySubnet || !isOwnNetwork || (apiServer?.managedLoadBalancer?.subnets ?? []).length > 0) {
    return network.subnets?.[0]?.id;
  }
  const { signal } = scope.context;
  const options = { field: 'spec.primarySubnet', networkId: network.id, signal };
  return (await resolveSubnet(scope.access.openstack, primarySubnet, options)).id;
}

/** Returns the VIP used before, because clients may know it. */
function vipAddressOf(scope: ClusterScope): string | undefined {
  const { spec, status } = scope.draft;
  const before = status?.apiServerManagedLoadBalancer?.internalIP;
  const given = spec.apiServer?.fixedIP;
  if (before || given) return before || given;
  const host = spec.controlPlaneEndpoint?.host ?? '';
  return !wantsFloatingIp(scope.draft.spec) && ipFamily(host) !== undefined ? host : undefined;
}

/** Returns provider and flavor if the cloud has them; unavailable ones are reported and left out. */
async function offersWanted(scope: ClusterScope): Promise<Pick<LoadBalancerSpec, 'provider' | 'flavorId'>> {
  const { provider, flavor } = scope.draft.spec.apiServer?.managedLoadBalancer ?? {};
  const { loadBalancer } = scope.access.openstack;
  const { signal } = scope.context;
  const wanted: { provider?: string; flavorId?: string } = {};
  if (provider) {
    const offers = await loadBalancer.providers({ signal });
    if (offers.some(({ name }) => name === provider)) wanted.provider = provider;
    else
      record(scope, 'OctaviaProviderNotFound', `Octavia has no provider ${provider}; its default is used`, 'Warning');
  }
  if (flavor) {
    const found = await loadBalancer.flavors.find(flavor, {}, { signal });
    if (found?.enabled === true) wanted.flavorId = found.id;
    else record(scope, 'OctaviaFlavorNotFound', `Octavia has no enabled flavor ${flavor}; none is used`, 'Warning');
  }
  return wanted;
}

async function ensureFloatingIp(scope: ClusterScope, balancer: LoadBalancer): Promise<string> {
  const { apiServer, controlPlaneEndpoint } = scope.draft.spec;
  const host = controlPlaneEndpoint?.host ?? '';
  const desired = {
    role: 'api',
    field: 'spec.apiServer.floatingIP',
    address: apiServer?.floatingIP || undefined,
    published:
      scope.draft.status?.apiServerManagedLoadBalancer?.ip ?? (ipFamily(host) === undefined ? undefined : host),
  } as const;
  const address = await reserveFloatingIp(scope, { ...desired, portId: balancer.vipPortId });
  if (balancer.vipPortId !== undefined) await attachFloatingIp(scope, address, balancer.vipPortId, desired);
  return address.address;
}

/**
 * Handles a load balancer in ERROR. One that never worked is deleted and recreated; one that has served traffic is
 * kept, because it may still work despite the status.
 */
async function replaceBroken(scope: ClusterScope, balancer: LoadBalancer): Promise<Wait> {
  const { access, context, memory, draft } = scope;
  if (draft.status?.initialization?.provisioned === true) {
    throw new CloudFault(
      reason,
      `load balancer ${balancer.name} (${balancer.id}) is in ERROR; ask the operator of the cloud to fail it over, or delete it; it is then created again`,
    );
  }
  const now = context.clock.now();
  memory.brokenSince ??= now;
  const left = memory.brokenSince + brokenMs - now;
  if (left <= 0) {
    memory.brokenSince = undefined;
    memory.parts = undefined;
    await access.openstack.loadBalancer.loadBalancers.delete(balancer.id, { cascade: true, signal: context.signal });
    access.view.forget('loadBalancer', balancer.id);
    follow(scope, 'loadBalancer', balancer.id, { closely: true });
    record(scope, 'SuccessfulDeleteLoadBalancer', `Deleted load balancer ${balancer.name}, which came up in ERROR`);
    return {
      ms: pendingMs,
      reason: 'WaitingForLoadBalancer',
      message: `load balancer ${balancer.name} (${balancer.id}) came up in ERROR and is being replaced`,
    };
  }
  return {
    ms: left,
    reason: 'LoadBalancerInError',
    message: `load balancer ${balancer.name} (${balancer.id}) came up in ERROR; it will be replaced`,
  };
}

/** Names Octavia in the error if the cloud does not have it, instead of a service catalog entry. */
function explainMissingOctavia(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!isOpenStackError(cause, 'noService')) return error;
  return cloudFaultOf(
    new UnusableInput(
      `spec.apiServer.managedLoadBalancer: this cloud has no load balancers (Octavia): ${cause.detail}; leave managedLoadBalancer out to use a floating IP, or use a cloud that has Octavia`,
      { reason, cause },
    ),
    '',
    reason,
  );
}
