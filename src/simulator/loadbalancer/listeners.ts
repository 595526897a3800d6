import { must } from '../../machinery/index.ts';
import { pythonRepr } from '../core/checks/python.ts';
import { Refusal } from '../core/refusal.ts';
import type { Answer, Route } from '../core/service.ts';
import { knownCidr } from '../network/addressing/cidr.ts';
import { knownIp } from '../network/addressing/ip.ts';
import { checkRead } from './access.ts';
import { type Attributes, newColumns, viewColumns } from './attributes.ts';
import * as fields from './body/fields.ts';
import type { Values } from './body/shape.ts';
import { findRow } from './find.ts';
import { idsOf, type Octavia, type Touched } from './octavia.ts';
import { type Part, partRoutes } from './parts.ts';
import { checkPoolProtocol } from './pool-protocols.ts';
import { invalid, invalidOption, notFound } from './refusals.ts';
import type { ListenerRow, LoadBalancerRow } from './rows.ts';
import { noStats } from './statistics.ts';
import { transportOf } from './vip.ts';

const protocols = ['TCP', 'SCTP', 'HTTP', 'TERMINATED_HTTPS', 'UDP', 'HTTPS', 'PROMETHEUS'];
const maxTimeout = 24 * 24 * 60 * 60 * 1000;
const timeout = fields.integer(0, maxTimeout);
const forwardHeaders = ['X-Forwarded-For', 'X-Forwarded-Port', 'X-Forwarded-Proto'];
const certificateHeaders = [
  'X-SSL-Client-Verify',
  'X-SSL-Client-Has-Cert',
  'X-SSL-Client-DN',
  'X-SSL-Client-CN',
  'X-SSL-Issuer',
  'X-SSL-Client-SHA1',
  'X-SSL-Client-Not-Before',
  'X-SSL-Client-Not-After',
];

/** Attributes of a listener in the create request of a load balancer. The caller reads its default pool. */
export const listenerAttributes: Attributes = {
  name: { read: fields.text(255), empty: '' },
  description: { read: fields.text(255), empty: '' },
  admin_state_up: { read: fields.boolean, default: true, empty: false },
  protocol: { read: fields.oneOf(protocols), mandatory: true, fixed: true, filter: true },
  protocol_port: { read: fields.integer(1, 65_535), mandatory: true, fixed: true, filter: true },
  connection_limit: { read: fields.integer(-1), empty: -1, filter: true },
  default_tls_container_ref: { read: fields.text(255), filter: true },
  sni_container_refs: { read: fields.list(fields.text(255)), empty: [] },
  default_pool_id: { read: fields.uuid, filter: true },
  insert_headers: { read: fields.headers, empty: {} },
  timeout_client_data: { read: timeout, empty: 50_000, filter: true },
  timeout_member_connect: { read: timeout, empty: 5_000, filter: true },
  timeout_member_data: { read: timeout, empty: 50_000, filter: true },
  timeout_tcp_inspect: { read: timeout, empty: 0, filter: true },
  tags: { read: fields.tags, empty: [] },
  client_ca_tls_container_ref: { read: fields.text(255), filter: true },
  client_authentication: {
    read: fields.oneOf(['NONE', 'OPTIONAL', 'MANDATORY']),
    empty: 'NONE',
    filter: true,
  },
  client_crl_container_ref: { read: fields.text(255), filter: true },
  allowed_cidrs: { read: fields.list(fields.cidr) },
  tls_ciphers: { read: fields.text(2048), filter: true },
  tls_versions: { read: fields.list(fields.text(32)) },
  alpn_protocols: { read: fields.list(fields.oneOf(['h2', 'http/1.1', 'http/1.0'])) },
};

const attributes: Attributes = {
  ...listenerAttributes,
  project_id: { read: fields.text(36), fixed: true, column: 'none' },
  default_pool: { read: (value) => value, fixed: true, column: 'none' },
  l7policies: { read: fields.list((value) => value), fixed: true, column: 'none' },
  loadbalancer_id: { read: fields.uuid, mandatory: true, fixed: true, filter: true, column: 'hidden' },
};

export function listenerRoutes(octavia: Octavia, base: string): Route[] {
  const { listeners, loadBalancers } = octavia;
  const part: Part<ListenerRow, LoadBalancerRow> = {
    path: 'listeners',
    name: 'listener',
    collection: 'listeners',
    argument: 'listener_',
    thing: 'Listener',
    quota: 'listener',
    part: 'listeners',
    table: listeners,
    attributes,
    listedBy: ['loadbalancer_id', 'loadBalancer'],
    view: (row) => viewListener(octavia, row),
    parentOf: (values) => findRow(loadBalancers, 'Load Balancer', values['loadbalancer_id'] as string),
    lockNew(lb, values) {
      checkDefaultPool(octavia, lb.id, values, values['protocol'] as string);
      return octavia.lock(lb.id);
    },
    insert: (lb, values) => insertListener(octavia, lb, values),
    checkUpdate(row, values) {
      const lb = loadBalancers.known(row.loadbalancer_id);
      checkListener(lb, { ...row, ...values }, values, 'update');
      checkDefaultPool(octavia, lb.id, values, row.protocol);
    },
    lock: (row) => octavia.lock(row.loadbalancer_id),
  };
  return [
    ...partRoutes(octavia, base, part),
    {
      method: 'GET',
      path: `${base}/listeners/{id}/stats`,
      handle(context): Answer {
        checkRead(context.caller, findRow(listeners, 'Listener', context.param('id')).project_id);
        return { status: 200, body: { stats: noStats } };
      },
    },
  ];
}

/** Creates a listener. The load balancer must already be locked. */
export function insertListener(octavia: Octavia, lb: Readonly<LoadBalancerRow>, values: Values): Readonly<ListenerRow> {
  const { listeners } = octavia;
  const protocol = values['protocol'] as string;
  const port = values['protocol_port'] as number;
  checkListener(lb, values, values, 'create');
  for (const other of listeners.by('loadBalancer', lb.id)) {
    if (other.protocol_port !== port || transportOf(other) !== transportOf({ protocol })) continue;
    const message = `Another Listener on this Load Balancer is already using protocol ${other.protocol} and protocol_port ${port}`;
    throw new Refusal(409, message);
  }
  return listeners.insert({
    ...octavia.fresh(values, lb.project_id),
    ...newColumns<ListenerRow>(attributes, values),
    loadbalancer_id: lb.id,
  });
}

export function viewListener({ policies }: Octavia, row: Readonly<ListenerRow>): Record<string, unknown> {
  return {
    ...viewColumns(attributes, row),
    allowed_cidrs: row.allowed_cidrs && row.allowed_cidrs.length > 0 ? row.allowed_cidrs : null,
    l7policies: idsOf(policies.by('listener', row.id)),
    loadbalancers: [{ id: row.loadbalancer_id }],
  };
}

/** Returns the listeners of a pool, which a change of the pool also sets to PENDING_UPDATE. */
export function listenersOf({ listeners }: Octavia, poolId: string): Touched[] {
  return Array.from(listeners.by('pool', poolId), ({ id }) => ({ table: 'listeners', id }) as const);
}

function checkDefaultPool({ pools }: Octavia, lbId: string, values: Values, protocol: string): void {
  const id = values['default_pool_id'] as string | null | undefined;
  if (!id) return;
  if (protocol === 'PROMETHEUS') throw new Refusal(409, 'Protocol PROMETHEUS listeners cannot have child objects.');
  const pool = pools.get(id);
  if (!pool || pool.loadbalancer_id !== lbId) throw notFound('Pool', id);
  checkPoolProtocol(protocol, pool.protocol);
}

/** Checks constraints between attributes of a listener. `given` are those of the request. */
function checkListener(
  lb: Readonly<LoadBalancerRow>,
  all: Values | ListenerRow,
  given: Values,
  operation: 'update' | 'create',
): void {
  const whole = all as Partial<ListenerRow>;
  const protocol = must(whole.protocol, 'whole.protocol');
  const insert = given['insert_headers'] as Record<string, string> | null | undefined;
  if (insert && Object.keys(insert).length > 0) checkHeaders(Object.keys(insert), protocol);
  const references = [given['default_tls_container_ref'], given['client_ca_tls_container_ref']].filter(Boolean);
  const sni = (given['sni_container_refs'] as string[] | null | undefined) ?? [];
  const hasReferences = references.length > 0 || sni.length > 0;
  if ((protocol === 'UDP' || protocol === 'SCTP') && hasReferences) {
    throw invalid(
      `${protocol} protocol listener does not support TLS${operation === 'update' ? ' or header insertion' : ''}.`,
    );
  }
  const canOffload = protocol === 'TERMINATED_HTTPS' || (protocol === 'PROMETHEUS' && hasReferences);
  if (!canOffload && hasReferences) {
    throw invalid(`Certificate container references are not allowed on ${protocol} protocol listeners.`);
  }
  const hasCertificate = Boolean(whole.default_tls_container_ref) || (whole.sni_container_refs ?? []).length > 0;
  if (protocol === 'TERMINATED_HTTPS' && !hasCertificate) {
    throw invalid(
      `An SNI or default certificate container reference must be provided for ${protocol} protocol listeners.`,
    );
  }
  const authentication = given['client_authentication'] as string | null | undefined;
  if (authentication && authentication !== 'NONE' && !whole.client_ca_tls_container_ref) {
    throw invalid(`Client authentication setting ${authentication} requires a client CA container reference.`);
  }
  if (whole.client_crl_container_ref && !whole.client_ca_tls_container_ref) {
    throw invalid(
      'A client authentication CA reference is required to specify a client authentication revocation list.',
    );
  }
  for (const cidr of (given['allowed_cidrs'] as string[] | null | undefined) ?? []) {
    if (knownCidr(cidr).version !== knownIp(lb.vip_address).version) {
      throw invalid(`CIDR ${cidr} IP version incompatible with VIP ${lb.vip_address} IP version.`);
    }
  }
}

function checkHeaders(names: readonly string[], protocol: string): void {
  if (protocol !== 'HTTP' && protocol !== 'TERMINATED_HTTPS') {
    throw invalidOption('insert-headers', `a ${protocol} protocol listener.`);
  }
  if (names.some((name) => !forwardHeaders.includes(name) && !certificateHeaders.includes(name))) {
    throw invalidOption(`dict_keys(${pythonRepr(names)})`, 'insert_headers');
  }
  const needCertificate = names.filter((name) => certificateHeaders.includes(name));
  if (protocol !== 'TERMINATED_HTTPS' && needCertificate.length > 0) {
    throw invalidOption(pythonRepr(needCertificate), `${protocol} protocol listener.`);
  }
}
