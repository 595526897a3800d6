import type { Core } from '../core/core.ts';
import { outcomeOf } from '../core/faults/outcome.ts';
import type { Row, Table } from '../core/state/table.ts';
import type { Values } from './body/shape.ts';
import { Health } from './health.ts';
import { immutable, pendingState } from './refusals.ts';
import { removeLoadBalancer, removePart } from './removal.ts';
import type { LoadBalancerRow, PartRow, ProvisioningStatus } from './rows.ts';
import { createTables, type LoadBalancerTables, type PartTable } from './tables.ts';
import { openPorts } from './vip.ts';

/** A child that a change sets to a pending status. */
export interface Touched {
  readonly table: PartTable;
  readonly id: string;
}

/** A load balancer locked for a change, and the children that are pending with it. */
export interface Locked {
  readonly lb: Readonly<LoadBalancerRow>;
  readonly touched: readonly Touched[];
}

export type Operation = 'create' | 'update' | 'delete' | 'failover';

/** State of octavia and functions its parts share. */
export interface Octavia extends LoadBalancerTables {
  readonly core: Core;
  readonly health: Health;
  /** common columns of a new row */
  fresh(values: Values, projectId: string): NewPart;
  /**
   * Locks a load balancer for a change of its children: it is immutable until the change completes. Existing parents
   * become PENDING_UPDATE.
   */
  lock(id: string, parents?: readonly Touched[]): Locked;
  /** Locks a load balancer for a change of itself. */
  lockItself(id: string, operation: Operation): Readonly<LoadBalancerRow>;
  /** Starts the change. It completes after the duration of the operation. */
  begin(lb: Readonly<LoadBalancerRow>, operation: Operation, touched?: readonly Touched[]): void;
  /** Cancels pending changes. They never complete. */
  abandon(id: string): void;
  /** Sets the status of a child and its update time. */
  mark(part: Touched, status: ProvisioningStatus): void;
}

type NewPart = Pick<
  PartRow,
  | 'id'
  | 'project_id'
  | 'provisioning_status'
  | 'operating_status'
  | 'admin_state_up'
  | 'tags'
  | 'created_at'
  | 'updated_at'
>;

interface SettleJob {
  readonly touched: readonly Touched[];
  readonly error: string | null;
}

const settleJob = 'loadbalancer.settle';
const step = (operation: Operation): string => `loadbalancer.${operation}`;

export function createOctavia(core: Core): Octavia {
  const tables = createTables(core.state);
  core.timings.declare({
    [step('create')]: [4_000, 12_000],
    [step('update')]: [300, 1_500],
    [step('delete')]: [2_000, 3_000],
    [step('failover')]: [4_000, 12_000],
  });
  const tableOf = (name: PartTable): Table<PartRow> => tables[name] as unknown as Table<PartRow>;
  const octavia: Octavia = {
    ...tables,
    core,
    get health() {
      return health;
    },
    fresh: (values, projectId) => ({
      id: core.ids.uuid(),
      project_id: projectId,
      provisioning_status: 'PENDING_CREATE',
      operating_status: 'OFFLINE',
      admin_state_up: (values['admin_state_up'] as boolean | null | undefined) ?? false,
      tags: (values['tags'] as string[] | null | undefined) ?? [],
      created_at: core.now(),
      updated_at: null,
    }),
    lock(id, parents = []) {
      const lb = tables.loadBalancers.known(id);
      if (lb.provisioning_status !== 'ACTIVE') throw immutable('Load Balancer', id);
      tables.loadBalancers.update(id, { provisioning_status: 'PENDING_UPDATE', updated_at: core.now() });
      for (const parent of parents) octavia.mark(parent, 'PENDING_UPDATE');
      return { lb, touched: parents };
    },
    lockItself(id, operation) {
      const lb = tables.loadBalancers.known(id);
      const { provisioning_status: status } = lb;
      const isBroken = status === 'ERROR' && operation !== 'update';
      if (status !== 'ACTIVE' && !isBroken) throw pendingState(status, id);
      const next = operation === 'delete' ? 'PENDING_DELETE' : 'PENDING_UPDATE';
      return tables.loadBalancers.update(id, { provisioning_status: next, updated_at: core.now() });
    },
    begin(lb, operation, touched = []) {
      const about = { projectId: lb.project_id, name: lb.name };
      const effect = outcomeOf(core, step(operation), about);
      if (effect?.kind === 'stuck') return;
      const delay = effect?.kind === 'slow' ? core.faults.duration(effect.ms) : 0;
      const error = effect?.kind === 'error' ? (effect.message ?? 'the amphora could not be configured') : null;
      const job: SettleJob = { touched, error };
      core.jobs.schedule(core.timings.sample(step(operation)) + delay, settleJob, lb.id, job);
    },
    abandon: (id) => core.jobs.cancel(settleJob, id),
    mark({ table, id }, status) {
      tableOf(table).update(id, { provisioning_status: status, updated_at: core.now() });
    },
  };
  const health = new Health(octavia);
  core.jobs.define<SettleJob>(settleJob, (id, { touched, error }) => {
    const lb = tables.loadBalancers.get(id);
    if (lb) settle(octavia, lb, { touched, hasFailed: error !== null }, tableOf);
  });
  return octavia;
}

/** Completes pending changes, or fails them. */
function settle(
  octavia: Octavia,
  lb: Readonly<LoadBalancerRow>,
  { touched, hasFailed }: { touched: readonly Touched[]; hasFailed: boolean },
  tableOf: (name: PartTable) => Table<PartRow>,
): void {
  const { loadBalancers, core, health } = octavia;
  if (lb.provisioning_status === 'PENDING_DELETE' && !hasFailed) {
    removeLoadBalancer(octavia, lb);
    return;
  }
  // A deleted member no longer affects the health of its pool.
  for (const part of touched) {
    const isLeaving = tableOf(part.table).get(part.id)?.provisioning_status === 'PENDING_DELETE';
    if (isLeaving && !hasFailed) removePart(octavia, part);
  }
  for (const part of touched) {
    const row = tableOf(part.table).get(part.id);
    if (!row?.provisioning_status.startsWith('PENDING')) continue;
    if (hasFailed) octavia.mark(part, 'ERROR');
    else {
      tableOf(part.table).update(part.id, {
        provisioning_status: 'ACTIVE',
        operating_status: operatingStatus(octavia, lb, part, row),
        updated_at: core.now(),
      });
    }
  }
  loadBalancers.update(lb.id, {
    provisioning_status: hasFailed ? 'ERROR' : 'ACTIVE',
    operating_status: hasFailed ? 'ERROR' : lb.admin_state_up ? health.balancerStatus(lb) : 'OFFLINE',
    updated_at: core.now(),
  });
  if (!hasFailed) openPorts(octavia, loadBalancers.known(lb.id));
}

/** Returns the status an amphora would report. Members without a monitor are never checked. */
function operatingStatus(
  { members, monitors, pools, health }: Octavia,
  lb: Readonly<LoadBalancerRow>,
  { table, id }: Touched,
  row: Readonly<PartRow>,
): string {
  if (!row.admin_state_up) return 'OFFLINE';
  // A new monitor checks all members. A change of a pool keeps its health.
  if (table === 'monitors') health.scheduleCheck(monitors.known(id).pool_id);
  if (table === 'pools') return health.poolStatus(pools.known(id));
  if (table !== 'members') return 'ONLINE';
  const member = members.known(id);
  return monitors.count('pool', member.pool_id) > 0 ? health.statusOfNew(member, lb) : 'NO_MONITOR';
}

/** Renders references to rows. */
export function idsOf(rows: Iterable<Row>): { id: string }[] {
  return Array.from(rows, ({ id }) => ({ id }));
}

/** Returns all children of a load balancer. */
export function partsOf(octavia: Octavia, loadBalancerId: string): Touched[] {
  const { listeners, pools, members, monitors, policies, rules } = octavia;
  const parts: Touched[] = [];
  const add = (table: PartTable, rows: Iterable<Row>): void => {
    for (const { id } of rows) parts.push({ table, id });
  };
  add('listeners', listeners.by('loadBalancer', loadBalancerId));
  add('pools', pools.by('loadBalancer', loadBalancerId));
  for (const { table, id } of [...parts]) {
    if (table === 'pools') {
      add('members', members.by('pool', id));
      add('monitors', monitors.by('pool', id));
    } else {
      for (const policy of policies.by('listener', id)) {
        add('policies', [policy]);
        add('rules', rules.by('policy', policy.id));
      }
    }
  }
  return parts;
}
