import { Refusal } from '../core/refusal.ts';
import type { Route } from '../core/service.ts';
import { type Attributes, changedColumns, newColumns, updateShape, viewColumns } from './attributes.ts';
import * as fields from './body/fields.ts';
import type { Shape, Values } from './body/shape.ts';
import { findRow } from './find.ts';
import { listenersOf } from './listeners.ts';
import { idsOf, type Octavia } from './octavia.ts';
import { partRoutes } from './parts.ts';
import { checkPoolProtocol } from './pool-protocols.ts';
import { invalid, notFound } from './refusals.ts';
import type { ListenerRow, LoadBalancerRow, PoolRow, SessionPersistence } from './rows.ts';

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

const attributes: Attributes = {
  name: { read: fields.text(255), empty: '' },
  description: { read: fields.text(255), empty: '' },
  admin_state_up: { read: fields.boolean, default: true, empty: false },
  listener_id: { read: fields.uuid, fixed: true, column: 'none' },
  loadbalancer_id: { read: fields.uuid, fixed: true, filter: true, column: 'hidden' },
  protocol: { read: fields.oneOf(protocols), mandatory: true, fixed: true, filter: true },
  lb_algorithm: { read: fields.oneOf(algorithms), mandatory: true, empty: 'ROUND_ROBIN', filter: true },
  session_persistence: { read: fields.nested(persistenceShape) },
  project_id: { read: fields.text(36), fixed: true, column: 'none' },
  healthmonitor: { read: (value) => value, fixed: true, column: 'none' },
  members: { read: fields.list((value) => value), fixed: true, column: 'none' },
  tags: { read: fields.tags, empty: [] },
  tls_container_ref: { read: fields.text(255), filter: true },
  ca_tls_container_ref: { read: fields.text(255) },
  crl_container_ref: { read: fields.text(255) },
  tls_enabled: { read: fields.boolean, empty: false, filter: true },
  tls_ciphers: { read: fields.text(2048), filter: true },
  tls_versions: { read: fields.list(fields.text(32)) },
  alpn_protocols: { read: fields.list(fields.oneOf(['h2', 'http/1.1', 'http/1.0'])) },
};

const {
  listener_id: _listener,
  loadbalancer_id: _loadBalancer,
  project_id: _project,
  healthmonitor: _monitor,
  members: _members,
  ...pooled
} = attributes;

/** A pool in the create request of a load balancer. With only a name it refers to another pool of the request. */
export const pooledShape: Shape = {
  ...pooled,
  protocol: { read: fields.oneOf(protocols) },
  lb_algorithm: { read: fields.oneOf(algorithms) },
};

interface Parents {
  readonly lb: Readonly<LoadBalancerRow>;
  /** listener whose default pool the new pool becomes */
  readonly listener: Readonly<ListenerRow> | undefined;
  readonly project_id: string;
}

export function poolRoutes(octavia: Octavia, base: string): Route[] {
  const { pools, loadBalancers, listeners, policies } = octavia;
  return partRoutes<PoolRow, Parents>(octavia, base, {
    path: 'pools',
    name: 'pool',
    collection: 'pools',
    argument: 'pool_',
    thing: 'Pool',
    quota: 'pool',
    part: 'pools',
    table: pools,
    attributes,
    updateShape: { ...updateShape(attributes), session_persistence: { read: fields.nested(persistenceUpdateShape) } },
    listedBy: ['loadbalancer_id', 'loadBalancer'],
    view: (row) => viewPool(octavia, row),
    parentOf(values) {
      const listenerId = values['listener_id'] as string | null | undefined;
      const listener = listenerId ? listeners.get(listenerId) : undefined;
      const lbId = (values['loadbalancer_id'] as string | null | undefined) ?? listener?.loadbalancer_id;
      if (!lbId) {
        if (listenerId) throw notFound('Listener', listenerId);
        throw invalid('Must provide at least one of: loadbalancer_id, listener_id');
      }
      const lb = findRow(loadBalancers, 'Load Balancer', lbId);
      return { lb, listener, project_id: lb.project_id };
    },
    checkNew(values, { listener }) {
      if (listener) checkPoolProtocol(listener.protocol, values['protocol'] as string);
      checkPersistence(values, values['protocol'] as string);
    },
    lockNew({ lb, listener }) {
      if (listener && listener.default_pool_id !== null) {
        throw new Refusal(409, 'This listener already has a default pool');
      }
      return octavia.lock(lb.id, listener ? [{ table: 'listeners', id: listener.id }] : []);
    },
    insert({ lb, listener }, values) {
      const made = insertPool(octavia, lb, values);
      if (listener) listeners.update(listener.id, { default_pool_id: made.id });
      return made;
    },
    checkUpdate: (row, values) => checkPersistence(values, row.protocol),
    checkDelete({ id }) {
      const policy = policies.first('pool', id);
      if (policy) throw new Refusal(409, `Pool ${id} is in use by L7 policy ${policy.id}`);
    },
    lock: (row) => octavia.lock(row.loadbalancer_id, listenersOf(octavia, row.id)),
    update: (row, values) => pools.update(row.id, changesOf(row, values)),
  });
}

/** Creates a pool. The load balancer must already be locked. */
export function insertPool(octavia: Octavia, lb: Readonly<LoadBalancerRow>, values: Values): Readonly<PoolRow> {
  if (values['crl_container_ref'] != null && values['ca_tls_container_ref'] == null) {
    throw invalid('A CA certificate reference is required to specify a revocation list.');
  }
  return octavia.pools.insert({
    ...octavia.fresh(values, lb.project_id),
    ...newColumns<PoolRow>(attributes, values),
    loadbalancer_id: lb.id,
  });
}

export function viewPool({ listeners, members, monitors }: Octavia, row: Readonly<PoolRow>): Record<string, unknown> {
  const monitor = monitors.first('pool', row.id);
  return {
    ...viewColumns(attributes, row),
    loadbalancers: [{ id: row.loadbalancer_id }],
    listeners: idsOf(listeners.by('pool', row.id)),
    ...(monitor && { healthmonitor_id: monitor.id }),
    members: idsOf(members.by('pool', row.id)),
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

/** Attributes of session persistence that the update omits keep their values. */
function changesOf(row: Readonly<PoolRow>, values: Values): Partial<PoolRow> {
  const changes = changedColumns<PoolRow>(attributes, values);
  const { session_persistence: persistence } = changes;
  return persistence ? { ...changes, session_persistence: { ...row.session_persistence, ...persistence } } : changes;
}
