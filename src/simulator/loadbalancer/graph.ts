import type { Attributes } from './attributes.ts';
import * as fields from './body/fields.ts';
import type { Shape, Values } from './body/shape.ts';
import { insertWholePolicy, viewWholePolicies, wholePolicyShape } from './l7.ts';
import { insertListener, listenerAttributes, viewListener } from './listeners.ts';
import { checkMember, insertMember, memberAttributes, viewMember } from './members.ts';
import { checkType, insertMonitor, monitorAttributes, viewMonitor } from './monitors.ts';
import type { Octavia, Touched } from './octavia.ts';
import { checkPoolProtocol } from './pool-protocols.ts';
import { checkPersistence, insertPool, pooledShape, viewPool } from './pools.ts';
import { checkQuota } from './quotas.ts';
import { invalid } from './refusals.ts';
import type { LoadBalancerRow, PoolRow } from './rows.ts';

/** A pool with all its children. */
const wholePoolShape: Shape = {
  ...pooledShape,
  healthmonitor: { read: fields.nested(monitorAttributes) },
  members: { read: fields.list(fields.nested(memberAttributes)) },
};

/** Children in the create request of a load balancer: whole listeners and pools, and pools referenced by name. */
export const graphAttributes: Attributes = {
  listeners: {
    read: fields.list(
      fields.nested({
        ...listenerAttributes,
        default_pool: { read: fields.nested(wholePoolShape) },
        l7policies: {
          read: fields.list(
            fields.nested({ ...wholePolicyShape, redirect_pool: { read: fields.nested(wholePoolShape) } }),
          ),
        },
      }),
    ),
    default: [],
    fixed: true,
    column: 'none',
  },
  pools: { read: fields.list(fields.nested(wholePoolShape)), default: [], fixed: true, column: 'none' },
};

/** Creates the children of a new load balancer. They become ACTIVE together with it. */
export function insertGraph(octavia: Octavia, lb: Readonly<LoadBalancerRow>, values: Values): Touched[] {
  const listeners = (values['listeners'] as Values[] | null) ?? [];
  const pools = [...((values['pools'] as Values[] | null) ?? [])];
  const touched: Touched[] = [];
  if (listeners.length === 0 && pools.length === 0) return touched;
  for (const listener of listeners) {
    for (const pool of [listener['default_pool'], ...policiesOf(listener).map((policy) => policy['redirect_pool'])]) {
      if (!pool) continue;
      if (!(pool as Values)['name']) {
        throw invalid('Pools must be named when creating a fully populated loadbalancer.');
      }
      if (isWhole(pool as Values)) pools.push(pool as Values);
    }
  }
  const byName = new Map(pools.map((pool) => [pool['name'] as string, pool]));
  if (byName.size !== pools.length) {
    throw invalid('Pool names must be unique when creating a fully populated loadbalancer.');
  }
  checkQuota(octavia, lb.project_id, 'pool', pools.length);
  const ids = new Map<string, string>();
  for (const pool of pools) {
    const made = insertWholePool(octavia, lb, pool, touched);
    ids.set(made.name, made.id);
  }
  checkQuota(octavia, lb.project_id, 'listener', listeners.length);
  for (const listener of listeners) {
    const { default_pool: reference, l7policies: _policies, ...rest } = listener;
    const poolId = idOf(ids, reference);
    if (poolId !== undefined) {
      checkPoolProtocol(listener['protocol'] as string, octavia.pools.known(poolId).protocol);
    }
    const made = insertListener(octavia, lb, { ...rest, ...(poolId !== undefined && { default_pool_id: poolId }) });
    touched.push({ table: 'listeners', id: made.id });
    for (const { redirect_pool: target, ...policy } of policiesOf(listener)) {
      const targetId = idOf(ids, target);
      touched.push(
        ...insertWholePolicy(octavia, made, {
          ...policy,
          ...(targetId !== undefined && { redirect_pool_id: targetId }),
        }),
      );
    }
  }
  return touched;
}

function policiesOf(listener: Values): Values[] {
  return (listener['l7policies'] as Values[] | null | undefined) ?? [];
}

/** Resolves a pool reference by name. The pool must be in the same body. */
function idOf(ids: ReadonlyMap<string, string>, reference: unknown): string | undefined {
  const name = (reference as Values | null | undefined)?.['name'] as string | undefined;
  if (name === undefined) return undefined;
  const id = ids.get(name);
  if (id === undefined) throw invalid(`Pool '${name}' was referenced but no full definition was found.`);
  return id;
}

/** A pool with only its name and defaults is a reference. */
function isWhole(pool: Values): boolean {
  return Object.keys(pool).some((key) => key !== 'name' && key !== 'admin_state_up');
}

function insertWholePool(
  octavia: Octavia,
  lb: Readonly<LoadBalancerRow>,
  pool: Values,
  touched: Touched[],
): Readonly<PoolRow> {
  for (const name of ['protocol', 'lb_algorithm']) {
    if (!pool[name]) throw invalid(`Pool definition for '${pool['name']}' missing required attribute: ${name}`);
  }
  checkPersistence(pool, pool['protocol'] as string);
  const made = insertPool(octavia, lb, pool);
  touched.push({ table: 'pools', id: made.id });
  const monitor = pool['healthmonitor'] as Values | null | undefined;
  if (monitor) {
    checkQuota(octavia, lb.project_id, 'health_monitor');
    checkType(monitor, made);
    touched.push({ table: 'monitors', id: insertMonitor(octavia, made, monitor).id });
  }
  const members = (pool['members'] as Values[] | null | undefined) ?? [];
  checkQuota(octavia, lb.project_id, 'member', members.length);
  for (const member of members) {
    checkMember(octavia, member);
    touched.push({ table: 'members', id: insertMember(octavia, made, member).id });
  }
  return made;
}

/** Renders the children of a load balancer in the answer to its creation. */
export function viewGraph(octavia: Octavia, lb: Readonly<LoadBalancerRow>): { listeners: object[]; pools: object[] } {
  const { listeners, pools, members, monitors } = octavia;
  return {
    listeners: Array.from(listeners.by('loadBalancer', lb.id), (row) => {
      const { loadbalancers: _parents, ...view } = viewListener(octavia, row);
      return { ...view, l7policies: viewWholePolicies(octavia, row.id) };
    }),
    pools: Array.from(pools.by('loadBalancer', lb.id), (row) => {
      const { loadbalancers: _parents, healthmonitor_id: _monitor, ...view } = viewPool(octavia, row);
      const monitor = monitors.first('pool', row.id);
      return {
        ...view,
        members: Array.from(members.by('pool', row.id), viewMember),
        ...(monitor && { healthmonitor: withoutPools(viewMonitor(monitor)) }),
      };
    }),
  };
}

function withoutPools({ pools: _pools, ...view }: Record<string, unknown>): object {
  return view;
}
