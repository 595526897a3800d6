import type { LoadBalancerMonitor } from '../../../api/index.ts';
import { deepEqual } from '../../../machinery/index.ts';
import { collect, isOpenStackError, type LoadBalancer, orUndefined } from '../../../openstack/index.ts';
import { loadBalancerPartName } from '../common/names.ts';
import { servedPorts } from '../common/served-ports.ts';
import { record } from './events.ts';
import type { ClusterScope, PortParts } from './scope.ts';

/**
 * Reconciles listener, pool and monitor of every port. Octavia allows one change at a time, so each reconcile makes one
 * and returns what it waits for; undefined when done.
 */
export async function reconcileParts(
  scope: ClusterScope,
  balancer: LoadBalancer,
  cidrs: readonly string[] | undefined,
): Promise<string | undefined> {
  const { memory, access } = scope;
  const seen = shapeOf(balancer);
  // a known listener or pool is gone, so someone changed the load balancer
  if (memory.parts && memory.partsSeen !== seen && !showsAll(balancer, memory.parts)) memory.parts = undefined;
  try {
    memory.parts ??= await readParts(scope, balancer);
    memory.partsSeen = seen;
    for (const port of portsOf(scope)) {
      const parts = memory.parts.get(port) ?? { listener: undefined, pool: undefined, monitor: undefined };
      memory.parts.set(port, parts);
      const made = await nextPart(scope, balancer, port, parts, cidrs);
      if (made === undefined) continue;
      access.view.remember('loadBalancer', withParts(balancer, memory.parts));
      return `load balancer ${balancer.name} (${balancer.id}) is being changed: ${made}`;
    }
    return undefined;
  } catch (error) {
    if (isOpenStackError(error, 'immutable')) {
      return `load balancer ${balancer.name} (${balancer.id}) is busy with an earlier change`;
    }
    // the change may have succeeded despite the error, so read again in the next reconcile
    memory.parts = undefined;
    throw error;
  }
}

export function portsOf({ draft, cluster }: Pick<ClusterScope, 'draft' | 'cluster'>): number[] {
  return servedPorts(draft.spec, cluster);
}

function shapeOf({ listenerIds, poolIds }: LoadBalancer): string {
  return [...listenerIds, ...poolIds].sort().join(' ');
}

function showsAll({ listenerIds, poolIds }: LoadBalancer, all: ReadonlyMap<number, PortParts>): boolean {
  for (const { listener, pool } of all.values()) {
    if (listener && !listenerIds.includes(listener.id)) return false;
    if (pool && !poolIds.includes(pool.id)) return false;
  }
  return true;
}

function withParts(balancer: LoadBalancer, all: ReadonlyMap<number, PortParts>): LoadBalancer {
  const parts = [...all.values()];
  return {
    ...balancer,
    provisioningStatus: 'PENDING_UPDATE',
    listenerIds: [...new Set([...balancer.listenerIds, ...parts.flatMap(({ listener }) => listener?.id ?? [])])],
    poolIds: [...new Set([...balancer.poolIds, ...parts.flatMap(({ pool }) => pool?.id ?? [])])],
  };
}

async function readParts(scope: ClusterScope, balancer: LoadBalancer): Promise<Map<number, PortParts>> {
  const { loadBalancer } = scope.access.openstack;
  const { signal } = scope.context;
  const loadBalancerId = balancer.id;
  const listeners = await collect(loadBalancer.listeners.list({ loadBalancerId }, { signal }));
  const pools = await collect(loadBalancer.pools.list({ loadBalancerId }, { signal }));
  const parts = new Map<number, PortParts>();
  for (const port of portsOf(scope)) {
    const name = loadBalancerPartName(scope.base, port);
    const listener = listeners.find(({ protocolPort }) => protocolPort === port);
    const pool = pools.find(({ id }) => id === listener?.defaultPoolId) ?? pools.find((one) => one.name === name);
    const monitor = pool?.healthMonitorId
      ? await orUndefined(loadBalancer.healthMonitors.get(pool.healthMonitorId, { signal }))
      : undefined;
    parts.set(port, { listener, pool, monitor });
  }
  return parts;
}

/** Creates or repairs the first part that is not as desired; undefined if all are. */
async function nextPart(
  scope: ClusterScope,
  balancer: LoadBalancer,
  port: number,
  parts: PortParts,
  cidrs: readonly string[] | undefined,
): Promise<string | undefined> {
  const { listeners, pools, healthMonitors } = scope.access.openstack.loadBalancer;
  const { signal } = scope.context;
  const name = loadBalancerPartName(scope.base, port);
  const tags = scope.draft.spec.tags ?? [];
  const tagged = tags.length > 0 ? { tags } : {};
  const { listener, pool, monitor } = parts;
  if (!listener) {
    parts.listener = await listeners.create(
      {
        name,
        loadBalancerId: balancer.id,
        protocol: 'TCP',
        protocolPort: port,
        ...(pool && { defaultPoolId: pool.id }),
        ...(cidrs && cidrs.length > 0 && { allowedCidrs: cidrs }),
        ...tagged,
      },
      { signal },
    );
    record(scope, 'SuccessfulCreateListener', `Created listener ${name} with id ${parts.listener.id}`);
    return `listener ${name} was made`;
  }
  if (!pool) {
    parts.pool = await pools.create(
      {
        name,
        protocol: 'TCP',
        algorithm: balancer.provider === 'ovn' ? 'SOURCE_IP_PORT' : 'ROUND_ROBIN',
        listenerId: listener.id,
        ...tagged,
      },
      { signal },
    );
    parts.listener = { ...listener, defaultPoolId: parts.pool.id };
    record(scope, 'SuccessfulCreatePool', `Created pool ${name} with id ${parts.pool.id}`);
    return `pool ${name} was made`;
  }
  if (listener.defaultPoolId !== pool.id) {
    parts.listener = await listeners.update(listener.id, { defaultPoolId: pool.id }, { signal });
    return `listener ${name} was led to its pool`;
  }
  const desired = monitorSpec(scope.draft.spec.apiServer?.managedLoadBalancer?.monitor);
  if (!monitor) {
    try {
      parts.monitor = await healthMonitors.create({ name, poolId: pool.id, type: 'TCP', ...desired }, { signal });
    } catch (error) {
      if (!isOpenStackError(error, 'unsupported')) throw error;
      parts.monitor = 'unsupported';
      record(scope, 'SkippedCreateMonitor', `The provider of load balancer ${balancer.name} has no health monitors`);
      return undefined;
    }
    record(scope, 'SuccessfulCreateMonitor', `Created health monitor ${name} with id ${parts.monitor.id}`);
    return `health monitor ${name} was made`;
  }
  if (monitor !== 'unsupported') {
    const { delay, timeout, maxRetries, maxRetriesDown } = monitor;
    if (!deepEqual({ delay, timeout, maxRetries, maxRetriesDown }, desired)) {
      parts.monitor = { ...(await healthMonitors.update(monitor.id, desired, { signal })), ...desired };
      record(scope, 'SuccessfulUpdateMonitor', `Updated health monitor ${name} with id ${monitor.id}`);
      return `health monitor ${name} was changed`;
    }
  }
  if (cidrs && !deepEqual([...listener.allowedCidrs].sort(), [...cidrs])) {
    await listeners.update(listener.id, { allowedCidrs: cidrs.length === 0 ? null : cidrs }, { signal });
    parts.listener = { ...listener, allowedCidrs: cidrs };
    record(scope, 'SuccessfulUpdateListener', `Updated allowed CIDRs of listener ${name} with id ${listener.id}`);
    return `allowed CIDRs of listener ${name} were changed`;
  }
  return undefined;
}

/** Zero means default, as upstream. */
function monitorSpec(monitor: LoadBalancerMonitor | undefined) {
  return {
    delay: monitor?.delay || 10,
    timeout: monitor?.timeout || 5,
    maxRetries: monitor?.maxRetries || 5,
    maxRetriesDown: monitor?.maxRetriesDown || 3,
  };
}
