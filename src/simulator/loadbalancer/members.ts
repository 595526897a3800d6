import { Refusal } from '../core/refusal.ts';
import type { Answer, Route } from '../core/service.ts';
import { checkWrite } from './access.ts';
import { type Attributes, changedColumns, newColumns, viewColumns } from './attributes.ts';
import * as fields from './body/fields.ts';
import { readBodyList, type Values } from './body/shape.ts';
import { findRow } from './find.ts';
import { listenersOf } from './listeners.ts';
import { isTrue } from './listing.ts';
import type { Locked, Octavia, Touched } from './octavia.ts';
import { type Inside, type Part, parentIn, partRoutes } from './parts.ts';
import { checkQuota } from './quotas.ts';
import { immutable, invalidOption, noSuch } from './refusals.ts';
import type { MemberRow, PoolRow } from './rows.ts';
import { endpointKey } from './tables.ts';

/** Attributes of a member, on its own or in the body of its pool. */
export const memberAttributes: Attributes = {
  name: { read: fields.text(255), empty: '' },
  admin_state_up: { read: fields.boolean, default: true, empty: false },
  address: { read: fields.ip, mandatory: true, fixed: true, filter: true },
  protocol_port: { read: fields.integer(1, 65_535), mandatory: true, fixed: true, filter: true },
  subnet_id: { read: fields.uuid, fixed: true, filter: true },
  project_id: { read: fields.text(36), fixed: true, column: 'none' },
  weight: { read: fields.integer(0, 256), empty: 1, filter: true },
  backup: { read: fields.boolean, empty: false, filter: true },
  monitor_port: { read: fields.integer(1, 65_535), filter: true },
  monitor_address: { read: fields.ip, filter: true },
  tags: { read: fields.tags, empty: [] },
};

/** Address of the metadata service, which octavia refuses as a member. */
const reservedAddress = '169.254.169.254';

export function memberRoutes(octavia: Octavia, base: string): Route[] {
  const { members, pools } = octavia;
  const inside: Inside<MemberRow, PoolRow> = {
    parameter: 'pool',
    parents: pools,
    thing: 'Pool',
    index: 'pool',
    parentId: (row) => row.pool_id,
  };
  const part: Part<MemberRow, PoolRow> = {
    path: 'pools/{pool}/members',
    name: 'member',
    collection: 'members',
    argument: 'member_',
    thing: 'Member',
    quota: 'member',
    part: 'members',
    table: members,
    attributes: memberAttributes,
    inside,
    view: viewMember,
    parentOf: (_values, context) => parentIn(inside, context),
    checkNew: (values) => checkMember(octavia, values),
    lockNew: (pool) => lockPool(octavia, pool.id),
    insert: (pool, values) => insertMember(octavia, pool, values),
    lock: (row) => lockPool(octavia, row.pool_id),
  };
  return [
    ...partRoutes(octavia, base, part),
    {
      method: 'PUT',
      path: `${base}/${part.path}`,
      handle(context): Answer {
        const pool = parentIn(inside, context);
        const wanted = readBodyList(context, { argument: 'members_', wrapper: 'members', shape: memberAttributes });
        checkWrite(context.caller, pool.project_id);
        replaceMembers(octavia, pool, wanted, isTrue(context.query.get('additive_only')));
        return { status: 202 };
      },
    },
  ];
}

/** Locks the load balancer of a pool for a change below the pool. */
export function lockPool(octavia: Octavia, poolId: string): Locked {
  const pool = findRow(octavia.pools, 'Pool', poolId);
  const lb = octavia.loadBalancers.known(pool.loadbalancer_id);
  // A pool can be in ERROR while its load balancer is ACTIVE.
  if (pool.provisioning_status === 'ERROR' && lb.provisioning_status === 'ACTIVE') throw immutable('Pool', pool.id);
  return octavia.lock(lb.id, [...listenersOf(octavia, pool.id), { table: 'pools', id: pool.id }]);
}

export function checkMember({ core }: Octavia, values: Values): void {
  if (values['address'] === reservedAddress) throw invalidOption(reservedAddress, 'member address');
  const subnetId = values['subnet_id'] as string | null | undefined;
  if (subnetId && !core.services.network.subnet(subnetId)) throw noSuch('Subnet', subnetId);
}

/** Creates a member. The load balancer must already be locked. */
export function insertMember(octavia: Octavia, pool: Readonly<PoolRow>, values: Values): Readonly<MemberRow> {
  const address = values['address'] as string;
  const port = values['protocol_port'] as number;
  if (octavia.members.count('endpoint', endpointKey(pool.id, address, port)) > 0) {
    const message = `Another member on this pool is already using ip ${address} on protocol_port ${port}`;
    throw new Refusal(409, message);
  }
  return octavia.members.insert({
    ...octavia.fresh(values, pool.project_id),
    ...newColumns<MemberRow>(memberAttributes, values),
    operating_status: octavia.monitors.count('pool', pool.id) > 0 ? 'OFFLINE' : 'NO_MONITOR',
    pool_id: pool.id,
  });
}

/** Replaces the members of a pool by the given ones. Members are matched by address and port. */
function replaceMembers(
  octavia: Octavia,
  pool: Readonly<PoolRow>,
  desired: readonly Values[],
  isAdditive: boolean,
): void {
  const { members } = octavia;
  const key = (address: unknown, port: unknown): string => `${address} ${port}`;
  const current = new Map([...members.by('pool', pool.id)].map((row) => [key(row.address, row.protocol_port), row]));
  const kept = new Set(desired.map((each) => key(each['address'], each['protocol_port'])));
  const added = desired.filter((each) => !current.has(key(each['address'], each['protocol_port'])));
  const removed = isAdditive ? [] : [...current].filter(([each]) => !kept.has(each)).map(([, row]) => row);
  const { lb, touched } = lockPool(octavia, pool.id);
  if (added.length > removed.length) checkQuota(octavia, pool.project_id, 'member', added.length - removed.length);
  const parts: Touched[] = [...touched];
  for (const values of added) {
    checkMember(octavia, values);
    parts.push({ table: 'members', id: insertMember(octavia, pool, values).id });
  }
  for (const values of desired) {
    const row = current.get(key(values['address'], values['protocol_port']));
    if (!row) continue;
    const { address: _address, protocol_port: _port, project_id: _project, subnet_id: _subnet, ...rest } = values;
    const part: Touched = { table: 'members', id: row.id };
    octavia.mark(part, 'PENDING_UPDATE');
    members.update(row.id, changedColumns<MemberRow>(memberAttributes, rest));
    parts.push(part);
  }
  for (const { id } of removed) {
    const part: Touched = { table: 'members', id };
    octavia.mark(part, 'PENDING_DELETE');
    parts.push(part);
  }
  octavia.begin(lb, 'update', parts);
}

export function viewMember(row: Readonly<MemberRow>): Record<string, unknown> {
  return viewColumns(memberAttributes, row);
}
