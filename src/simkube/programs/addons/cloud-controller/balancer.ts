import { must } from '../../../../machinery/index.ts';
import {
  collect,
  isNotFound,
  type Listener,
  type LoadBalancer,
  type MemberSpec,
  type OpenStack,
  type Pool,
} from '../../../../openstack/index.ts';
import { type BalancerPort, BalancerProblem, type BalancerSpec } from './balancer-spec.ts';

/** Result of one step: the addresses, or that octavia is still busy. */
export type BalancerOutcome =
  | { readonly kind: 'busy'; readonly id: string | undefined }
  | { readonly kind: 'ready'; readonly id: string; readonly address: string };

interface Work {
  readonly cloud: OpenStack;
  readonly desired: BalancerSpec;
  readonly signal: AbortSignal;
}

/**
 * Performs one step towards the desired load balancer. Octavia accepts one change at a time and takes a while for each,
 * so most steps return `busy`.
 */
export async function ensureBalancer(work: Work, description: string): Promise<BalancerOutcome> {
  const { cloud, desired, signal } = work;
  let balancer = await findBalancer(work);
  if (!balancer) {
    if (desired.id !== undefined) throw new BalancerProblem(`loadbalancer ${desired.id} not found`);
    balancer = await cloud.loadBalancer.loadBalancers.create(
      {
        name: desired.name,
        description: `Kubernetes external service ${desired.name}`,
        ...(desired.networkId === undefined
          ? { vipSubnetId: desired.subnetId ?? (await subnetOfMembers(work)) }
          : { vipNetworkId: desired.networkId }),
        provider: desired.provider,
        flavorId: desired.flavorId,
        availabilityZone: desired.availabilityZone,
        tags: [desired.name],
      },
      { signal },
    );
  }
  const { id } = balancer;
  if (balancer.provisioningStatus === 'ERROR')
    throw new BalancerProblem(`loadbalancer ${id} has gone into ERROR state`);
  if (balancer.provisioningStatus !== 'ACTIVE' || (await changePart(work, id))) return { kind: 'busy', id };
  const address = desired.isInternal ? balancer.vipAddress : await ensureFloatingIp(work, balancer, description);
  return address === undefined ? { kind: 'busy', id } : { kind: 'ready', id, address };
}

/** Deletes the load balancer with its children. Returns true when nothing is left. */
export async function removeBalancer(
  work: { readonly cloud: OpenStack; readonly signal: AbortSignal },
  which: { readonly name: string; readonly id?: string | undefined; readonly keepsFloatingIp: boolean },
): Promise<boolean> {
  const { cloud, signal } = work;
  const balancer = await findBalancer({ ...work, desired: which });
  if (!balancer) return true;
  if (balancer.vipPortId !== undefined && !which.keepsFloatingIp) {
    const portId = balancer.vipPortId;
    for (const found of await collect(cloud.network.floatingIps.list({ portId }, { signal }))) {
      // Floating IPs that somebody else attached are only disassociated.
      if (found.description?.startsWith('Floating IP for Kubernetes external service ')) {
        await cloud.network.floatingIps.delete(found.id, { signal });
      }
    }
  }
  if (!balancer.provisioningStatus.startsWith('PENDING')) {
    await cloud.loadBalancer.loadBalancers.delete(balancer.id, { cascade: true, signal });
  }
  return false;
}

async function findBalancer({
  cloud,
  desired,
  signal,
}: {
  readonly cloud: OpenStack;
  readonly desired: { readonly name: string; readonly id?: string | undefined };
  readonly signal: AbortSignal;
}): Promise<LoadBalancer | undefined> {
  const { loadBalancers } = cloud.loadBalancer;
  let found: LoadBalancer | undefined;
  if (desired.id !== undefined) {
    try {
      found = await loadBalancers.get(desired.id, { signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  found ??= await loadBalancers.find(desired.name, undefined, { signal });
  return found?.provisioningStatus === 'DELETED' ? undefined : found;
}

/** Changes the first part that differs from the spec. Returns false if none differs. */
async function changePart(work: Work, balancerId: string): Promise<boolean> {
  const { cloud, desired, signal } = work;
  const api = cloud.loadBalancer;
  const listeners = await collect(api.listeners.list({ loadBalancerId: balancerId }, { signal }));
  const pools = await collect(api.pools.list({ loadBalancerId: balancerId }, { signal }));
  for (const [index, port] of desired.ports.entries()) {
    const listener = listeners.find((each) => each.protocolPort === port.port && each.protocol === port.protocol);
    if (!listener) {
      await api.listeners.create(
        {
          name: `listener_${index}_${desired.name}`,
          loadBalancerId: balancerId,
          protocol: port.protocol,
          protocolPort: port.port,
          connectionLimit: desired.connectionLimit,
          ...(desired.allowedCidrs.length > 0 && { allowedCidrs: desired.allowedCidrs }),
          ...desired.timeouts,
          tags: [desired.name],
        },
        { signal },
      );
      return true;
    }
    if (await changeListener(work, listener)) return true;
    const pool = pools.find(({ listenerIds }) => listenerIds.includes(listener.id));
    if (!pool) {
      await createPool(work, index, port, listener);
      return true;
    }
    if (await changePool(work, index, port, pool)) return true;
  }
  return await removeObsolete(work, listeners, pools);
}

async function changeListener({ cloud, desired, signal }: Work, listener: Listener): Promise<boolean> {
  const hasCidrs = same([...listener.allowedCidrs].sort(), [...desired.allowedCidrs].sort());
  const hasTimeouts = Object.entries(desired.timeouts).every(
    ([key, value]) => listener[key as keyof typeof desired.timeouts] === value,
  );
  if (hasCidrs && hasTimeouts && listener.connectionLimit === desired.connectionLimit) return false;
  await cloud.loadBalancer.listeners.update(
    listener.id,
    {
      connectionLimit: desired.connectionLimit,
      ...desired.timeouts,
      ...(!hasCidrs && { allowedCidrs: desired.allowedCidrs.length > 0 ? desired.allowedCidrs : null }),
    },
    { signal },
  );
  return true;
}

async function createPool(work: Work, index: number, port: BalancerPort, listener: Listener): Promise<void> {
  const { cloud, desired, signal } = work;
  await cloud.loadBalancer.pools.create(
    {
      name: `pool_${index}_${desired.name}`,
      protocol: port.poolProtocol,
      algorithm: desired.algorithm,
      listenerId: listener.id,
      ...(desired.keepsClients && { sessionPersistence: { type: 'SOURCE_IP' } }),
    },
    { signal },
  );
}

async function changePool(work: Work, index: number, port: BalancerPort, pool: Pool): Promise<boolean> {
  const { cloud, desired, signal } = work;
  const api = cloud.loadBalancer;
  if (pool.algorithm !== desired.algorithm || (pool.sessionPersistence === 'SOURCE_IP') !== desired.keepsClients) {
    await api.pools.update(
      pool.id,
      {
        algorithm: desired.algorithm,
        sessionPersistence: desired.keepsClients ? { type: 'SOURCE_IP' } : null,
      },
      { signal },
    );
    return true;
  }
  const members = await collect(api.members(pool.id).list(undefined, { signal }));
  const wanted = desired.members.map(
    ({ name, address }): MemberSpec => ({
      name,
      address,
      protocolPort: port.nodePort,
      ...(desired.memberSubnetId !== undefined && { subnetId: desired.memberSubnetId }),
    }),
  );
  const place = (member: { readonly address: string; readonly protocolPort: number }): string =>
    `${member.address}:${member.protocolPort}`;
  if (!same(members.map(place).sort(), wanted.map(place).sort())) {
    await api.members(pool.id).replaceAll(wanted, { signal });
    return true;
  }
  if ((pool.healthMonitorId !== undefined) === (desired.monitor !== undefined)) return false;
  if (desired.monitor) {
    const type = port.protocol === 'UDP' ? 'UDP-CONNECT' : 'TCP';
    const name = `monitor_${index}_${desired.name}`;
    await api.healthMonitors.create({ name, poolId: pool.id, type, ...desired.monitor }, { signal });
  } else await api.healthMonitors.delete(must(pool.healthMonitorId, 'pool.healthMonitorId'), { signal });
  return true;
}

/** Deletes listeners of removed Service ports. In a shared load balancer, only children with our name are deleted. */
async function removeObsolete(
  { cloud, desired, signal }: Work,
  listeners: readonly Listener[],
  pools: readonly Pool[],
): Promise<boolean> {
  for (const listener of listeners) {
    const isWanted = desired.ports.some(
      ({ port, protocol }) => port === listener.protocolPort && protocol === listener.protocol,
    );
    if (isWanted || !listener.name.endsWith(`_${desired.name}`)) continue;
    const pool = pools.find(({ listenerIds }) => listenerIds.includes(listener.id));
    if (pool) await cloud.loadBalancer.pools.delete(pool.id, { signal });
    else await cloud.loadBalancer.listeners.delete(listener.id, { signal });
    return true;
  }
  return false;
}

async function ensureFloatingIp(
  { cloud, desired, signal }: Work,
  balancer: LoadBalancer,
  description: string,
): Promise<string | undefined> {
  const portId = balancer.vipPortId;
  if (portId === undefined) return undefined;
  const { floatingIps } = cloud.network;
  for await (const found of floatingIps.list({ portId }, { signal })) return found.address;
  if (desired.address !== undefined) {
    const own = await floatingIps.find(desired.address, { signal });
    if (own) {
      if (own.portId !== undefined) throw new BalancerProblem(`floating IP ${own.address} is not available`);
      return (await floatingIps.update(own.id, { portId }, { signal })).address;
    }
  }
  const networkId = desired.floatingNetworkId ?? (await externalNetwork(cloud, signal));
  const made = await floatingIps.create(
    {
      networkId,
      portId,
      description,
      ...(desired.floatingSubnetId !== undefined && { subnetId: desired.floatingSubnetId }),
      ...(desired.address !== undefined && { address: desired.address }),
    },
    { signal },
  );
  return made.address;
}

async function externalNetwork(cloud: OpenStack, signal: AbortSignal): Promise<string> {
  for await (const network of cloud.network.networks.list({ external: true }, { signal })) return network.id;
  throw new BalancerProblem('could not find an external network for floating IPs');
}

/** Finds the subnet of the nodes. */
async function subnetOfMembers({ cloud, desired, signal }: Work): Promise<string> {
  const [first] = desired.members;
  if (!first) throw new BalancerProblem('no hosts for load balancer');
  const ports = await collect(cloud.network.ports.list({ fixedIp: { address: first.address } }, { signal }));
  for (const { fixedIps, deviceOwner } of ports) {
    const own = fixedIps.find(({ address }) => address === first.address);
    if (own && deviceOwner.startsWith('compute:')) return own.subnetId;
  }
  throw new BalancerProblem(`no subnet-id found for service: ${first.address} belongs to no server`);
}

function same(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((value, index) => value === right[index]);
}
