import type { HealthMonitor } from '../load-balancer/health-monitors.ts';
import type { Listener } from '../load-balancer/listeners.ts';
import type { LoadBalancerService } from '../load-balancer/load-balancer.ts';
import type { LoadBalancer } from '../load-balancer/load-balancers.ts';
import type { Member, Members } from '../load-balancer/members.ts';
import type { Pool } from '../load-balancer/pools.ts';
import { collect } from '../resource/pages.ts';
import { createRecorder } from './recorder.ts';
import type { Rehearsal } from './rehearsal.ts';
import { createTable, isMadeHere, matcher, readFrom, rehearsedPart, type Table } from './table.ts';

export interface LoadBalancerTables {
  readonly loadBalancers: Table<LoadBalancer>;
  readonly listeners: Table<Listener>;
  readonly pools: Table<Pool>;
  readonly healthMonitors: Table<HealthMonitor>;
  /** members of one pool */
  members(poolId: string): Table<Member>;
}

const service = 'load-balancer';

export function loadBalancerTables({ loadBalancer }: { loadBalancer: LoadBalancerService }): LoadBalancerTables {
  const members = new Map<string, Table<Member>>();
  return {
    loadBalancers: createTable({
      service,
      kind: 'load balancer',
      load: () => collect(loadBalancer.loadBalancers.list()),
    }),
    listeners: createTable({ service, kind: 'listener', load: () => collect(loadBalancer.listeners.list()) }),
    pools: createTable({ service, kind: 'pool', load: () => collect(loadBalancer.pools.list()) }),
    healthMonitors: createTable({
      service,
      kind: 'health monitor',
      load: () => collect(loadBalancer.healthMonitors.list()),
    }),
    members(poolId) {
      const known = members.get(poolId);
      if (known) return known;
      const load = async (): Promise<Member[]> =>
        isMadeHere(poolId) ? [] : await collect(loadBalancer.members(poolId).list());
      const table = createTable({ service, kind: 'member', load });
      members.set(poolId, table);
      return table;
    },
  };
}

export function rehearsedLoadBalancer(
  real: LoadBalancerService,
  tables: LoadBalancerTables,
  rehearsal: Rehearsal,
): LoadBalancerService {
  const { loadBalancers, listeners, pools, healthMonitors } = tables;
  const { newId, newAddress } = rehearsal;
  const { made, changed, deleted } = createRecorder(rehearsal);

  const common = (
    kind: string,
    desired: { name: string; description?: string | undefined; tags?: readonly string[] | undefined },
  ) => ({
    id: newId(kind),
    name: desired.name,
    description: desired.description ?? '',
    projectId: rehearsal.projectId,
    provisioningStatus: 'ACTIVE',
    operatingStatus: 'ONLINE',
    adminStateUp: true,
    tags: desired.tags ?? [],
    createdAt: rehearsal.now(),
    updatedAt: rehearsal.now(),
  });

  /** A load balancer lists its children, so new ones are added to it. */
  const hang = async (id: string, change: (balancer: LoadBalancer) => LoadBalancer): Promise<void> =>
    loadBalancers.put(change(await loadBalancers.get(id)));

  /** Finds the load balancer of a listener or pool. Children of a new one need no request. */
  const below = <T extends Listener | Pool>(
    kind: string,
    table: Table<T>,
  ): Pick<ReturnType<typeof readFrom<T>>, 'list' | 'get' | 'find'> => {
    const rules = {
      loadBalancerId: (wanted: unknown) => (thing: object) =>
        (thing as Listener | Pool).loadBalancerIds.includes(String(wanted)),
    };
    const all = readFrom({ service, kind }, table, rules);
    return {
      ...all,
      async *list(filter) {
        const { loadBalancerId } = (filter ?? {}) as { loadBalancerId?: string };
        const balancer = loadBalancerId === undefined ? undefined : loadBalancers.current(loadBalancerId);
        if (!balancer || !isMadeHere(balancer.id)) {
          yield* all.list(filter);
          return;
        }
        const ids = kind === 'pools' ? balancer.poolIds : balancer.listenerIds;
        const matches = matcher(filter, rules);
        for (const id of ids) {
          const thing = await table.get(id);
          if (matches(thing)) yield thing;
        }
      },
    };
  };

  const membersOf = (poolId: string): Members => {
    const table = tables.members(poolId);
    return rehearsedPart(real.members(poolId), {
      ...readFrom({ service, kind: 'members' }, table),
      async create(desired) {
        return made('member', table, {
          ...common('member', { ...desired, name: desired.name ?? '' }),
          address: desired.address,
          protocolPort: desired.protocolPort,
          subnetId: desired.subnetId,
          monitorPort: desired.monitorPort,
          weight: desired.weight ?? 1,
          backup: desired.backup ?? false,
        });
      },
      delete: (id) => deleted('member', table, id),
    });
  };

  return rehearsedPart(real, {
    members: membersOf,
    loadBalancers: rehearsedPart(real.loadBalancers, {
      ...readFrom({ service, kind: 'loadbalancers' }, loadBalancers),
      async create(desired) {
        return made('loadBalancer', loadBalancers, {
          ...common('load-balancer', desired),
          vipAddress: desired.vipAddress ?? newAddress(),
          vipPortId: desired.vipPortId ?? newId('port'),
          vipSubnetId: desired.vipSubnetId,
          vipNetworkId: desired.vipNetworkId,
          provider: desired.provider,
          flavorId: desired.flavorId,
          availabilityZone: desired.availabilityZone,
          listenerIds: [],
          poolIds: [],
        });
      },
      delete: (id) => deleted('loadBalancer', loadBalancers, id),
    }),
    listeners: rehearsedPart(real.listeners, {
      ...below('listeners', listeners),
      async create(desired) {
        const { loadBalancerId } = desired;
        const listener = made('listener', listeners, {
          ...common('listener', desired),
          protocol: desired.protocol,
          protocolPort: desired.protocolPort,
          connectionLimit: -1,
          defaultPoolId: desired.defaultPoolId ?? undefined,
          allowedCidrs: desired.allowedCidrs ?? [],
          loadBalancerIds: [loadBalancerId],
          // octavia's defaults, which the controllers compare with the desired values
          timeoutClientData: desired.timeoutClientData ?? 50_000,
          timeoutMemberData: desired.timeoutMemberData ?? 50_000,
          timeoutMemberConnect: desired.timeoutMemberConnect ?? 5_000,
        });
        await hang(loadBalancerId, (one) => ({ ...one, listenerIds: [...one.listenerIds, listener.id] }));
        return listener;
      },
      update: (id, { allowedCidrs, defaultPoolId, tags, ...times }) =>
        changed('listener', listeners, id, (before) => ({
          ...before,
          ...(allowedCidrs !== undefined && { allowedCidrs: allowedCidrs ?? [] }),
          ...(defaultPoolId !== undefined && { defaultPoolId: defaultPoolId ?? undefined }),
          ...(tags && { tags }),
          timeoutClientData: times.timeoutClientData ?? before.timeoutClientData,
          timeoutMemberData: times.timeoutMemberData ?? before.timeoutMemberData,
          timeoutMemberConnect: times.timeoutMemberConnect ?? before.timeoutMemberConnect,
        })),
      delete: (id) => deleted('listener', listeners, id),
    }),
    pools: rehearsedPart(real.pools, {
      ...below('pools', pools),
      async create(desired) {
        const listener = desired.listenerId === undefined ? undefined : await listeners.get(desired.listenerId);
        const [balancerId = desired.loadBalancerId ?? ''] = listener?.loadBalancerIds ?? [];
        const pool = made('pool', pools, {
          ...common('pool', desired),
          protocol: desired.protocol,
          algorithm: desired.algorithm,
          listenerIds: listener ? [listener.id] : [],
          loadBalancerIds: [balancerId],
          memberIds: [],
          healthMonitorId: undefined,
          sessionPersistence: desired.sessionPersistence?.type,
        });
        if (listener) listeners.put({ ...listener, defaultPoolId: pool.id });
        await hang(balancerId, (one) => ({ ...one, poolIds: [...one.poolIds, pool.id] }));
        return pool;
      },
      delete: (id) => deleted('pool', pools, id),
    }),
    healthMonitors: rehearsedPart(real.healthMonitors, {
      ...readFrom({ service, kind: 'healthmonitors' }, healthMonitors),
      async create(desired) {
        const monitor = made('healthMonitor', healthMonitors, {
          ...common('health-monitor', desired),
          type: desired.type,
          delay: desired.delay,
          timeout: desired.timeout,
          maxRetries: desired.maxRetries,
          maxRetriesDown: desired.maxRetriesDown ?? 3,
          httpMethod: desired.httpMethod,
          urlPath: desired.urlPath,
          expectedCodes: desired.expectedCodes,
          poolIds: [desired.poolId],
        });
        const pool = await pools.get(desired.poolId);
        pools.put({ ...pool, healthMonitorId: monitor.id });
        return monitor;
      },
      update: (id, { delay, timeout, maxRetries, maxRetriesDown, tags }) =>
        changed('healthMonitor', healthMonitors, id, (before) => ({
          ...before,
          delay: delay ?? before.delay,
          timeout: timeout ?? before.timeout,
          maxRetries: maxRetries ?? before.maxRetries,
          maxRetriesDown: maxRetriesDown ?? before.maxRetriesDown,
          ...(tags && { tags }),
        })),
      delete: (id) => deleted('healthMonitor', healthMonitors, id),
    }),
  });
}
