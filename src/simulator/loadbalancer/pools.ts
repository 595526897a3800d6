import { Refusal } from '../core/refusal.ts';
import type { Answer, Route } from '../core/service.ts';
import { checkRead, checkWrite } from './access.ts';
import * as fields from './body/fields.ts';
import { readBody, type Shape, type Values } from './body/shape.ts';
import { listenersOf } from './listeners.ts';
import { type Listed, listAnswer, pick } from './listing.ts';
import { idsOf, type Octavia, type Touched, times } from './octavia.ts';
import { checkPoolProtocol } from './pool-protocols.ts';
import { checkQuota } from './quotas.ts';
import { invalid, notFound } from './refusals.ts';
import type { LoadBalancerRow, PoolRow, SessionPersistence } from './rows.ts';

const algorithms = ['ROUND_ROBIN', 'LEAST_CONNECTIONS', 'SOURCE_IP', 'SOURCE_IP_PORT'];
const protocols = ['TCP', 'SCTP', 'HTTP', 'UDP', 'HTTPS', 'PROXY', 'PROXYV2'];

const persistenceShape: Shape = {
  type: { read: fields.oneOf(['SOURCE_IP', 'HTTP_COOKIE', 'APP_COOKIE']), mandatory: true },
  cookie_name: { read: fields.text(255, /^[^\s,;\\]+$/), default: null },
  persistence_timeout: { read: fields.integer(), default: null },
  persistence_granularity: { read: fields.ip, default: null },
};

const persistenceUpdateShape: Shape = {
  ...persistenceShape,
  type: { read: fields.oneOf(['SOURCE_IP', 'HTTP_COOKIE', 'APP_COOKIE']) },
};

const changeable: Shape = {
  tags: { read: fields.tags },
  tls_container_ref: { read: fields.text(255) },
  ca_tls_container_ref: { read: fields.text(255) },
  crl_container_ref: { read: fields.text(255) },
  tls_enabled: { read: fields.boolean },
  tls_ciphers: { read: fields.text(2048) },
  tls_versions: { read: fields.list(fields.text(32)) },
  alpn_protocols: { read: fields.list(fields.oneOf(['h2', 'http/1.1', 'http/1.0'])) },
};

const names: Shape = {
  name: { read: fields.text(255) },
  description: { read: fields.text(255) },
};

/** A pool in the body of its load balancer, where a name alone refers to another one. */
export const pooledShape: Shape = {
  ...names,
  admin_state_up: { read: fields.boolean, default: true },
  protocol: { read: fields.oneOf(protocols) },
  lb_algorithm: { read: fields.oneOf(algorithms) },
  session_persistence: { read: fields.nested(persistenceShape) },
  ...changeable,
};

const createShape: Shape = {
  ...names,
  admin_state_up: { read: fields.boolean, default: true },
  listener_id: { read: fields.uuid },
  loadbalancer_id: { read: fields.uuid },
  protocol: { read: fields.oneOf(protocols), mandatory: true },
  lb_algorithm: { read: fields.oneOf(algorithms), mandatory: true },
  session_persistence: { read: fields.nested(persistenceShape) },
  project_id: { read: fields.text(36) },
  healthmonitor: { read: (value) => value },
  members: { read: fields.list((value) => value) },
  ...changeable,
};

const updateShape: Shape = {
  ...names,
  admin_state_up: { read: fields.boolean },
  lb_algorithm: { read: fields.oneOf(algorithms) },
  session_persistence: { read: fields.nested(persistenceUpdateShape) },
  ...changeable,
};

const filters = ['loadbalancer_id', 'protocol', 'lb_algorithm', 'tls_enabled', 'tls_container_ref', 'tls_ciphers'];

export function poolRoutes(octavia: Octavia, base: string): Route[] {
  const { pools, loadBalancers, listeners } = octavia;
  const path = `${base}/pools`;
  const listed: Listed<PoolRow> = {
    collection: 'pools',
    table: pools,
    filters,
    view: (row) => viewPool(octavia, row),
  };
  return [
    {
      method: 'GET',
      path,
      handle(context): Answer {
        const lb = context.query.get('loadbalancer_id');
        return listAnswer(context, listed, lb === undefined ? undefined : pools.by('loadBalancer', lb));
      },
    },
    {
      method: 'POST',
      path,
      handle(context): Answer {
        const values = readBody(context, { argument: 'pool_', wrapper: 'pool', shape: createShape });
        const listenerId = values['listener_id'] as string | null | undefined;
        const listener = listenerId ? listeners.get(listenerId) : undefined;
        const lbId = (values['loadbalancer_id'] as string | null | undefined) ?? listener?.loadbalancer_id;
        if (!lbId) {
          if (listenerId) throw notFound('Listener', listenerId);
          throw invalid('Must provide at least one of: loadbalancer_id, listener_id');
        }
        const lb = loadBalancers.get(lbId);
        if (!lb) throw notFound('Load Balancer', lbId);
        checkWrite(context.caller, lb.project_id);
        if (listener) checkPoolProtocol(listener.protocol, values['protocol'] as string);
        checkPersistence(values, values['protocol'] as string);
        checkQuota(octavia, lb.project_id, 'pool');
        if (listener && listener.default_pool_id !== null) {
          throw new Refusal(409, 'This listener already has a default pool');
        }
        const parents: Touched[] = listener ? [{ table: 'listeners', id: listener.id }] : [];
        octavia.lock(lbId, parents);
        const made = insertPool(octavia, lb, values);
        if (listener) listeners.update(listener.id, { default_pool_id: made.id });
        octavia.begin(lb, 'update', [...parents, { table: 'pools', id: made.id }]);
        return { status: 201, body: { pool: viewPool(octavia, made) } };
      },
    },
    {
      method: 'GET',
      path: `${path}/{id}`,
      handle(context): Answer {
        const row = findPool(octavia, context.param('id'));
        checkRead(context.caller, row.project_id);
        return { status: 200, body: { pool: pick(viewPool(octavia, row), context) } };
      },
    },
    {
      method: 'PUT',
      path: `${path}/{id}`,
      handle(context): Answer {
        const values = readBody(context, { argument: 'pool_', wrapper: 'pool', shape: updateShape });
        const row = findPool(octavia, context.param('id'));
        checkWrite(context.caller, row.project_id);
        checkPersistence(values, row.protocol);
        const touched: Touched[] = [...listenersOf(octavia, row.id), { table: 'pools', id: row.id }];
        const lb = octavia.lock(row.loadbalancer_id, touched);
        const changed = pools.update(row.id, changesOf(row, values));
        octavia.begin(lb, 'update', touched);
        return { status: 200, body: { pool: viewPool(octavia, changed) } };
      },
    },
    {
      method: 'DELETE',
      path: `${path}/{id}`,
      handle(context): Answer {
        const row = findPool(octavia, context.param('id'));
        checkWrite(context.caller, row.project_id);
        const policy = octavia.policies.first('pool', row.id);
        if (policy) throw new Refusal(409, `Pool ${row.id} is in use by L7 policy ${policy.id}`);
        const parents = listenersOf(octavia, row.id);
        const lb = octavia.lock(row.loadbalancer_id, parents);
        const touched: Touched = { table: 'pools', id: row.id };
        octavia.mark(touched, 'PENDING_DELETE');
        octavia.begin(lb, 'update', [...parents, touched]);
        return { status: 204 };
      },
    },
  ];
}

export function findPool({ pools }: Octavia, id: string): Readonly<PoolRow> {
  const row = pools.get(id);
  if (!row) throw notFound('Pool', id);
  return row;
}

/** Makes a pool whose load balancer is taken already. */
export function insertPool(octavia: Octavia, lb: Readonly<LoadBalancerRow>, values: Values): Readonly<PoolRow> {
  const text = (name: string): string | null => (values[name] as string | null | undefined) ?? null;
  const list = (name: string): string[] | null => (values[name] as string[] | null | undefined) ?? null;
  if (text('crl_container_ref') !== null && text('ca_tls_container_ref') === null) {
    throw invalid('A CA certificate reference is required to specify a revocation list.');
  }
  return octavia.pools.insert({
    ...octavia.fresh(values, lb.project_id),
    loadbalancer_id: lb.id,
    name: text('name') ?? '',
    description: text('description') ?? '',
    protocol: values['protocol'] as string,
    lb_algorithm: values['lb_algorithm'] as string,
    session_persistence: (values['session_persistence'] as SessionPersistence | null | undefined) ?? null,
    tls_enabled: (values['tls_enabled'] as boolean | null | undefined) ?? false,
    tls_container_ref: text('tls_container_ref'),
    ca_tls_container_ref: text('ca_tls_container_ref'),
    crl_container_ref: text('crl_container_ref'),
    tls_ciphers: text('tls_ciphers'),
    tls_versions: list('tls_versions'),
    alpn_protocols: list('alpn_protocols'),
  });
}

export function viewPool({ listeners, members, monitors }: Octavia, row: Readonly<PoolRow>): Record<string, unknown> {
  const monitor = monitors.first('pool', row.id);
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    provisioning_status: row.provisioning_status,
    operating_status: row.operating_status,
    admin_state_up: row.admin_state_up,
    protocol: row.protocol,
    lb_algorithm: row.lb_algorithm,
    session_persistence: row.session_persistence,
    project_id: row.project_id,
    loadbalancers: [{ id: row.loadbalancer_id }],
    listeners: idsOf(listeners.by('pool', row.id)),
    ...times(row),
    ...(monitor && { healthmonitor_id: monitor.id }),
    members: idsOf(members.by('pool', row.id)),
    tags: row.tags,
    tls_container_ref: row.tls_container_ref,
    ca_tls_container_ref: row.ca_tls_container_ref,
    crl_container_ref: row.crl_container_ref,
    tls_enabled: row.tls_enabled,
    tls_ciphers: row.tls_ciphers,
    tls_versions: row.tls_versions,
    alpn_protocols: row.alpn_protocols,
    tenant_id: row.project_id,
  };
}

export function checkPersistence(values: Values, protocol: string): void {
  const persistence = values['session_persistence'] as SessionPersistence | null | undefined;
  if (!persistence) return;
  const { type, cookie_name: cookie, persistence_timeout: timeout, persistence_granularity: mask } = persistence;
  const isDatagram = protocol === 'UDP' || protocol === 'SCTP';
  if (isDatagram) {
    if (cookie) throw invalid('Cookie names are not supported for UDP/SCTP pools.');
    if (type === 'HTTP_COOKIE' || type === 'APP_COOKIE') {
      throw invalid(`Session persistence of type ${type} is not supported for UDP/SCTP protocol pools.`);
    }
  } else if (timeout || mask) {
    throw invalid('persistence_timeout and persistence_granularity is only for UDP and SCTP protocol pools.');
  }
  if (type === 'APP_COOKIE' && !cookie) {
    throw invalid('Field "cookie_name" must be specified when using the "APP_COOKIE" session persistence type.');
  }
  if (type !== undefined && type !== 'APP_COOKIE' && cookie) {
    throw invalid(`Field "cookie_name" can not be specified with the "${type}" session persistence type.`);
  }
}

function changesOf(row: Readonly<PoolRow>, values: Values): Partial<PoolRow> {
  const changes: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    if (value !== null) changes[name] = value;
    else if (name === 'name' || name === 'description') changes[name] = '';
    else if (name === 'admin_state_up' || name === 'tls_enabled') changes[name] = false;
    else if (name === 'tags') changes[name] = [];
    else if (name === 'lb_algorithm') changes[name] = 'ROUND_ROBIN';
    else changes[name] = null;
  }
  const persistence = changes['session_persistence'] as Partial<SessionPersistence> | null | undefined;
  if (persistence) changes['session_persistence'] = { ...row.session_persistence, ...persistence };
  return changes;
}
