import { pythonRepr } from '../core/checks/python.ts';
import { Refusal } from '../core/refusal.ts';
import type { Answer, Route } from '../core/service.ts';
import { parseCidr } from '../network/addressing/cidr.ts';
import { parseIp } from '../network/addressing/ip.ts';
import { checkRead, checkWrite } from './access.ts';
import * as fields from './body/fields.ts';
import { readBody, type Shape, type Values } from './body/shape.ts';
import { type Listed, listAnswer, pick } from './listing.ts';
import { idsOf, type Octavia, type Touched, times } from './octavia.ts';
import { checkPoolProtocol } from './pool-protocols.ts';
import { checkQuota } from './quotas.ts';
import { invalid, invalidOption, notFound } from './refusals.ts';
import type { ListenerRow, LoadBalancerRow } from './rows.ts';
import { noStats } from './statistics.ts';
import { transportOf } from './vip.ts';

const protocols = ['TCP', 'SCTP', 'HTTP', 'TERMINATED_HTTPS', 'UDP', 'HTTPS', 'PROMETHEUS'];
const maxTimeout = 24 * 24 * 60 * 60 * 1000;
const timeout = { read: fields.integer(0, maxTimeout) };
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

/** What stands in when null is sent. */
const defaults = {
  connection_limit: -1,
  timeout_client_data: 50_000,
  timeout_member_connect: 5_000,
  timeout_member_data: 50_000,
  timeout_tcp_inspect: 0,
  client_authentication: 'NONE',
} as const;

const changeable: Shape = {
  connection_limit: { read: fields.integer(-1) },
  default_tls_container_ref: { read: fields.text(255) },
  sni_container_refs: { read: fields.list(fields.text(255)) },
  default_pool_id: { read: fields.uuid },
  insert_headers: { read: fields.headers },
  timeout_client_data: timeout,
  timeout_member_connect: timeout,
  timeout_member_data: timeout,
  timeout_tcp_inspect: timeout,
  tags: { read: fields.tags },
  client_ca_tls_container_ref: { read: fields.text(255) },
  client_authentication: { read: fields.oneOf(['NONE', 'OPTIONAL', 'MANDATORY']) },
  client_crl_container_ref: { read: fields.text(255) },
  allowed_cidrs: { read: fields.list(fields.cidr) },
  tls_ciphers: { read: fields.text(2048) },
  tls_versions: { read: fields.list(fields.text(32)) },
  alpn_protocols: { read: fields.list(fields.oneOf(['h2', 'http/1.1', 'http/1.0'])) },
};

/** A listener in the body of its load balancer; a default pool is read by whoever reads the whole. */
export const listenerShape: Shape = {
  name: { read: fields.text(255) },
  description: { read: fields.text(255) },
  admin_state_up: { read: fields.boolean, default: true },
  protocol: { read: fields.oneOf(protocols), mandatory: true },
  protocol_port: { read: fields.integer(1, 65_535), mandatory: true },
  ...changeable,
};

const createShape: Shape = {
  ...listenerShape,
  project_id: { read: fields.text(36) },
  default_pool: { read: (value) => value },
  l7policies: { read: fields.list((value) => value) },
  loadbalancer_id: { read: fields.uuid, mandatory: true },
};

const updateShape: Shape = {
  name: { read: fields.text(255) },
  description: { read: fields.text(255) },
  admin_state_up: { read: fields.boolean },
  ...changeable,
};

const filters = [
  'loadbalancer_id',
  'protocol',
  'protocol_port',
  'connection_limit',
  'default_pool_id',
  'default_tls_container_ref',
  'timeout_client_data',
  'timeout_member_connect',
  'timeout_member_data',
  'timeout_tcp_inspect',
  'client_authentication',
  'client_ca_tls_container_ref',
  'client_crl_container_ref',
  'tls_ciphers',
];

export function listenerRoutes(octavia: Octavia, base: string): Route[] {
  const { listeners, loadBalancers } = octavia;
  const path = `${base}/listeners`;
  const listed: Listed<ListenerRow> = {
    collection: 'listeners',
    table: listeners,
    filters,
    view: (row) => viewListener(octavia, row),
  };
  const find = (id: string): Readonly<ListenerRow> => {
    const row = listeners.get(id);
    if (!row) throw notFound('Listener', id);
    return row;
  };
  return [
    {
      method: 'GET',
      path,
      handle(context): Answer {
        const lb = context.query.get('loadbalancer_id');
        return listAnswer(context, listed, lb === undefined ? undefined : listeners.by('loadBalancer', lb));
      },
    },
    {
      method: 'POST',
      path,
      handle(context): Answer {
        const values = readBody(context, { argument: 'listener_', wrapper: 'listener', shape: createShape });
        const lbId = values['loadbalancer_id'] as string;
        const lb = loadBalancers.get(lbId);
        if (!lb) throw notFound('Load Balancer', lbId);
        checkWrite(context.caller, lb.project_id);
        checkQuota(octavia, lb.project_id, 'listener');
        checkDefaultPool(octavia, lbId, values, values['protocol'] as string);
        octavia.lock(lbId);
        const made = insertListener(octavia, lb, values);
        octavia.begin(lb, 'update', [{ table: 'listeners', id: made.id }]);
        return { status: 201, body: { listener: viewListener(octavia, made) } };
      },
    },
    {
      method: 'GET',
      path: `${path}/{id}`,
      handle(context): Answer {
        const row = find(context.param('id'));
        checkRead(context.caller, row.project_id);
        return { status: 200, body: { listener: pick(viewListener(octavia, row), context) } };
      },
    },
    {
      method: 'GET',
      path: `${path}/{id}/stats`,
      handle(context): Answer {
        checkRead(context.caller, find(context.param('id')).project_id);
        return { status: 200, body: { stats: noStats } };
      },
    },
    {
      method: 'PUT',
      path: `${path}/{id}`,
      handle(context): Answer {
        const values = readBody(context, { argument: 'listener_', wrapper: 'listener', shape: updateShape });
        const row = find(context.param('id'));
        checkWrite(context.caller, row.project_id);
        const lb = loadBalancers.get(row.loadbalancer_id)!;
        checkListener(lb, { ...row, ...values }, values, true);
        checkDefaultPool(octavia, lb.id, values, row.protocol);
        const touched: Touched = { table: 'listeners', id: row.id };
        octavia.lock(lb.id, [touched]);
        const changed = listeners.update(row.id, withDefaults(values));
        octavia.begin(lb, 'update', [touched]);
        return { status: 200, body: { listener: viewListener(octavia, changed) } };
      },
    },
    {
      method: 'DELETE',
      path: `${path}/{id}`,
      handle(context): Answer {
        const row = find(context.param('id'));
        checkWrite(context.caller, row.project_id);
        const lb = octavia.lock(row.loadbalancer_id);
        const touched: Touched = { table: 'listeners', id: row.id };
        octavia.mark(touched, 'PENDING_DELETE');
        octavia.begin(lb, 'update', [touched]);
        return { status: 204 };
      },
    },
  ];
}

/** Makes a listener whose load balancer is taken already. */
export function insertListener(octavia: Octavia, lb: Readonly<LoadBalancerRow>, values: Values): Readonly<ListenerRow> {
  const { listeners } = octavia;
  const protocol = values['protocol'] as string;
  const port = values['protocol_port'] as number;
  checkListener(lb, values, values, false);
  for (const other of listeners.by('loadBalancer', lb.id)) {
    if (other.protocol_port !== port || transportOf(other) !== transportOf({ protocol })) continue;
    const message = `Another Listener on this Load Balancer is already using protocol ${other.protocol} and protocol_port ${port}`;
    throw new Refusal(409, message);
  }
  const text = (name: string): string | null => (values[name] as string | null | undefined) ?? null;
  const list = (name: string): string[] | null => (values[name] as string[] | null | undefined) ?? null;
  return listeners.insert({
    ...octavia.fresh(values, lb.project_id),
    loadbalancer_id: lb.id,
    name: text('name') ?? '',
    description: text('description') ?? '',
    protocol,
    protocol_port: port,
    default_pool_id: text('default_pool_id'),
    default_tls_container_ref: text('default_tls_container_ref'),
    sni_container_refs: list('sni_container_refs') ?? [],
    insert_headers: (values['insert_headers'] as Record<string, string> | null | undefined) ?? {},
    client_ca_tls_container_ref: text('client_ca_tls_container_ref'),
    client_crl_container_ref: text('client_crl_container_ref'),
    allowed_cidrs: list('allowed_cidrs'),
    tls_ciphers: text('tls_ciphers'),
    tls_versions: list('tls_versions'),
    alpn_protocols: list('alpn_protocols'),
    connection_limit: (values['connection_limit'] as number | null | undefined) ?? defaults.connection_limit,
    timeout_client_data: (values['timeout_client_data'] as number | null | undefined) ?? defaults.timeout_client_data,
    timeout_member_connect:
      (values['timeout_member_connect'] as number | null | undefined) ?? defaults.timeout_member_connect,
    timeout_member_data: (values['timeout_member_data'] as number | null | undefined) ?? defaults.timeout_member_data,
    timeout_tcp_inspect: (values['timeout_tcp_inspect'] as number | null | undefined) ?? defaults.timeout_tcp_inspect,
    client_authentication: text('client_authentication') ?? defaults.client_authentication,
  });
}

export function viewListener({ policies }: Octavia, row: Readonly<ListenerRow>): Record<string, unknown> {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    provisioning_status: row.provisioning_status,
    operating_status: row.operating_status,
    admin_state_up: row.admin_state_up,
    protocol: row.protocol,
    protocol_port: row.protocol_port,
    connection_limit: row.connection_limit,
    default_tls_container_ref: row.default_tls_container_ref,
    sni_container_refs: row.sni_container_refs,
    project_id: row.project_id,
    default_pool_id: row.default_pool_id,
    l7policies: idsOf(policies.by('listener', row.id)),
    insert_headers: row.insert_headers,
    ...times(row),
    loadbalancers: [{ id: row.loadbalancer_id }],
    timeout_client_data: row.timeout_client_data,
    timeout_member_connect: row.timeout_member_connect,
    timeout_member_data: row.timeout_member_data,
    timeout_tcp_inspect: row.timeout_tcp_inspect,
    tags: row.tags,
    client_ca_tls_container_ref: row.client_ca_tls_container_ref,
    client_authentication: row.client_authentication,
    client_crl_container_ref: row.client_crl_container_ref,
    allowed_cidrs: row.allowed_cidrs && row.allowed_cidrs.length > 0 ? row.allowed_cidrs : null,
    tls_ciphers: row.tls_ciphers,
    tls_versions: row.tls_versions,
    alpn_protocols: row.alpn_protocols,
    tenant_id: row.project_id,
  };
}

/** The other listeners of a pool, as parts a change of the pool touches. */
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

/** The rules that hold between attributes of a listener; `given` are those of the request. */
function checkListener(
  lb: Readonly<LoadBalancerRow>,
  all: Values | ListenerRow,
  given: Values,
  isUpdate: boolean,
): void {
  const whole = all as Partial<ListenerRow>;
  const protocol = whole.protocol!;
  const insert = given['insert_headers'] as Record<string, string> | null | undefined;
  if (insert && Object.keys(insert).length > 0) checkHeaders(Object.keys(insert), protocol);
  const references = [given['default_tls_container_ref'], given['client_ca_tls_container_ref']].filter(Boolean);
  const sni = (given['sni_container_refs'] as string[] | null | undefined) ?? [];
  const hasReferences = references.length > 0 || sni.length > 0;
  if ((protocol === 'UDP' || protocol === 'SCTP') && hasReferences) {
    throw invalid(`${protocol} protocol listener does not support TLS${isUpdate ? ' or header insertion' : ''}.`);
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
    if (parseCidr(cidr)!.version !== parseIp(lb.vip_address)!.version) {
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

/** Null puts an attribute back to what it was without asking. */
function withDefaults(values: Values): Partial<ListenerRow> {
  const empty: Readonly<Record<string, unknown>> = {
    ...defaults,
    name: '',
    description: '',
    admin_state_up: false,
    sni_container_refs: [],
    insert_headers: {},
    tags: [],
  };
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === null ? (empty[name] ?? null) : value]),
  );
}
