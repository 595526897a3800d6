import type { RequestContext } from '../core/http/context.ts';
import { Refusal } from '../core/refusal.ts';
import type { Answer, Route } from '../core/service.ts';
import { checkRead, checkWrite } from './access.ts';
import * as fields from './body/fields.ts';
import { readBody, readBodyList, type Shape, type Values } from './body/shape.ts';
import { listenersOf } from './listeners.ts';
import { type Listed, listAnswer, pick } from './listing.ts';
import { type Octavia, type Touched, times } from './octavia.ts';
import { findPool } from './pools.ts';
import { checkQuota } from './quotas.ts';
import { asPage, immutable, invalidOption, noSuch, notFound } from './refusals.ts';
import type { LoadBalancerRow, MemberRow, PoolRow } from './rows.ts';
import { endpointKey } from './tables.ts';

const changeable: Shape = {
  weight: { read: fields.integer(0, 256) },
  backup: { read: fields.boolean },
  monitor_port: { read: fields.integer(1, 65_535) },
  monitor_address: { read: fields.ip },
  tags: { read: fields.tags },
};

/** A new member, alone or in the body of its pool. */
export const memberShape: Shape = {
  name: { read: fields.text(255) },
  admin_state_up: { read: fields.boolean, default: true },
  address: { read: fields.ip, mandatory: true },
  protocol_port: { read: fields.integer(1, 65_535), mandatory: true },
  subnet_id: { read: fields.uuid },
  project_id: { read: fields.text(36) },
  ...changeable,
};

const updateShape: Shape = {
  name: { read: fields.text(255) },
  admin_state_up: { read: fields.boolean },
  ...changeable,
};

/** The metadata service: a load balancer must not lead there. */
const reservedAddress = '169.254.169.254';

const filters = ['address', 'protocol_port', 'weight', 'backup', 'subnet_id', 'monitor_address', 'monitor_port'];

export function memberRoutes(octavia: Octavia, base: string): Route[] {
  const { members } = octavia;
  const path = `${base}/pools/{pool}/members`;
  const listed: Listed<MemberRow> = { collection: 'members', table: members, filters, view: viewMember };
  const poolOf = (context: RequestContext): Readonly<PoolRow> => {
    const id = context.param('pool');
    const pool = octavia.pools.get(id);
    if (!pool) throw asPage(404, `Pool ${id} not found.`);
    return pool;
  };
  const find = (context: RequestContext): Readonly<MemberRow> => {
    const pool = poolOf(context);
    const id = context.param('id');
    const row = members.get(id);
    if (!row || row.pool_id !== pool.id) throw notFound('Member', id);
    return row;
  };
  return [
    {
      method: 'GET',
      path,
      handle(context): Answer {
        const pool = poolOf(context);
        checkRead(context.caller, pool.project_id);
        return listAnswer(context, listed, members.by('pool', pool.id));
      },
    },
    {
      method: 'POST',
      path,
      handle(context): Answer {
        const pool = poolOf(context);
        const values = readBody(context, { argument: 'member_', wrapper: 'member', shape: memberShape });
        checkWrite(context.caller, pool.project_id);
        checkMember(octavia, values);
        checkQuota(octavia, pool.project_id, 'member');
        const { lb, touched } = lockPool(octavia, pool);
        const made = insertMember(octavia, pool, values);
        octavia.begin(lb, 'update', [...touched, { table: 'members', id: made.id }]);
        return { status: 201, body: { member: viewMember(made) } };
      },
    },
    {
      method: 'PUT',
      path,
      handle(context): Answer {
        const pool = poolOf(context);
        const form = { argument: 'members_', wrapper: 'members', shape: memberShape };
        const wished = readBodyList(context, form);
        checkWrite(context.caller, pool.project_id);
        const isAdditive = ['true', '1', 'yes', 'on', 't', 'y'].includes(
          context.query.get('additive_only')?.toLowerCase() ?? '',
        );
        replaceMembers(octavia, pool, wished, isAdditive);
        return { status: 202 };
      },
    },
    {
      method: 'GET',
      path: `${path}/{id}`,
      handle(context): Answer {
        const row = find(context);
        checkRead(context.caller, row.project_id);
        return { status: 200, body: { member: pick(viewMember(row), context) } };
      },
    },
    {
      method: 'PUT',
      path: `${path}/{id}`,
      handle(context): Answer {
        const values = readBody(context, { argument: 'member_', wrapper: 'member', shape: updateShape });
        const row = find(context);
        checkWrite(context.caller, row.project_id);
        const member: Touched = { table: 'members', id: row.id };
        const { lb, touched } = lockPool(octavia, findPool(octavia, row.pool_id));
        octavia.mark(member, 'PENDING_UPDATE');
        const changed = members.update(row.id, changesOf(values));
        octavia.begin(lb, 'update', [...touched, member]);
        return { status: 200, body: { member: viewMember(changed) } };
      },
    },
    {
      method: 'DELETE',
      path: `${path}/{id}`,
      handle(context): Answer {
        const row = find(context);
        checkWrite(context.caller, row.project_id);
        const member: Touched = { table: 'members', id: row.id };
        const { lb, touched } = lockPool(octavia, findPool(octavia, row.pool_id));
        octavia.mark(member, 'PENDING_DELETE');
        octavia.begin(lb, 'update', [...touched, member]);
        return { status: 204 };
      },
    },
  ];
}

/** Takes the load balancer of a pool for a change below the pool. */
export function lockPool(
  octavia: Octavia,
  pool: Readonly<PoolRow>,
): { lb: Readonly<LoadBalancerRow>; touched: Touched[] } {
  const lb = octavia.loadBalancers.get(pool.loadbalancer_id)!;
  // A pool can be broken while its load balancer is not.
  if (pool.provisioning_status === 'ERROR' && lb.provisioning_status === 'ACTIVE') throw immutable('Pool', pool.id);
  const touched: Touched[] = [...listenersOf(octavia, pool.id), { table: 'pools', id: pool.id }];
  return { lb: octavia.lock(pool.loadbalancer_id, touched), touched };
}

export function checkMember({ core }: Octavia, values: Values): void {
  if (values['address'] === reservedAddress) throw invalidOption(reservedAddress, 'member address');
  const subnetId = values['subnet_id'] as string | null | undefined;
  if (subnetId && !core.services.network.subnet(subnetId)) throw noSuch('Subnet', subnetId);
}

/** Makes a member whose load balancer is taken already. */
export function insertMember(octavia: Octavia, pool: Readonly<PoolRow>, values: Values): Readonly<MemberRow> {
  const address = values['address'] as string;
  const port = values['protocol_port'] as number;
  if (octavia.members.count('endpoint', endpointKey(pool.id, address, port)) > 0) {
    const message = `Another member on this pool is already using ip ${address} on protocol_port ${port}`;
    throw new Refusal(409, message);
  }
  return octavia.members.insert({
    ...octavia.fresh(values, pool.project_id),
    operating_status: octavia.monitors.count('pool', pool.id) > 0 ? 'OFFLINE' : 'NO_MONITOR',
    pool_id: pool.id,
    name: (values['name'] as string | null | undefined) ?? '',
    address,
    protocol_port: port,
    weight: (values['weight'] as number | null | undefined) ?? 1,
    backup: (values['backup'] as boolean | null | undefined) ?? false,
    subnet_id: (values['subnet_id'] as string | null | undefined) ?? null,
    monitor_address: (values['monitor_address'] as string | null | undefined) ?? null,
    monitor_port: (values['monitor_port'] as number | null | undefined) ?? null,
  });
}

/** Makes the members of a pool those that are wished for, recognised by address and port. */
function replaceMembers(
  octavia: Octavia,
  pool: Readonly<PoolRow>,
  wished: readonly Values[],
  isAdditive: boolean,
): void {
  const { members } = octavia;
  const key = (address: unknown, port: unknown): string => `${address} ${port}`;
  const current = new Map([...members.by('pool', pool.id)].map((row) => [key(row.address, row.protocol_port), row]));
  const kept = new Set(wished.map((each) => key(each['address'], each['protocol_port'])));
  const added = wished.filter((each) => !current.has(key(each['address'], each['protocol_port'])));
  const removed = isAdditive ? [] : [...current].filter(([each]) => !kept.has(each)).map(([, row]) => row);
  const { lb, touched } = lockPool(octavia, pool);
  if (added.length > removed.length) checkQuota(octavia, pool.project_id, 'member', added.length - removed.length);
  const parts: Touched[] = [...touched];
  for (const values of added) {
    checkMember(octavia, values);
    parts.push({ table: 'members', id: insertMember(octavia, pool, values).id });
  }
  for (const values of wished) {
    const row = current.get(key(values['address'], values['protocol_port']));
    if (!row) continue;
    const { address: _address, protocol_port: _port, project_id: _project, subnet_id: _subnet, ...rest } = values;
    const part: Touched = { table: 'members', id: row.id };
    octavia.mark(part, 'PENDING_UPDATE');
    members.update(row.id, changesOf(rest));
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
  return {
    id: row.id,
    name: row.name,
    operating_status: row.operating_status,
    provisioning_status: row.provisioning_status,
    admin_state_up: row.admin_state_up,
    address: row.address,
    protocol_port: row.protocol_port,
    weight: row.weight,
    backup: row.backup,
    subnet_id: row.subnet_id,
    project_id: row.project_id,
    ...times(row),
    monitor_address: row.monitor_address,
    monitor_port: row.monitor_port,
    tags: row.tags,
    tenant_id: row.project_id,
  };
}

function changesOf(values: Values): Partial<MemberRow> {
  const cleared: Readonly<Record<string, unknown>> = {
    name: '',
    weight: 1,
    backup: false,
    admin_state_up: false,
    tags: [],
  };
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === null ? (cleared[name] ?? null) : value]),
  );
}
