import { Refusal } from '../core/refusal.ts';
import type { Answer, Route } from '../core/service.ts';
import { checkRead, checkWrite } from './access.ts';
import * as fields from './body/fields.ts';
import { readBody, type Shape, type Values } from './body/shape.ts';
import { type Listed, listAnswer, pick } from './listing.ts';
import { lockPool } from './members.ts';
import { type Octavia, type Touched, times } from './octavia.ts';
import { findPool } from './pools.ts';
import { checkQuota } from './quotas.ts';
import { invalid, invalidOption, notFound } from './refusals.ts';
import type { HealthMonitorRow, PoolRow } from './rows.ts';

const types = ['HTTP', 'HTTPS', 'PING', 'SCTP', 'TCP', 'TLS-HELLO', 'UDP-CONNECT'];
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'TRACE', 'OPTIONS', 'PATCH', 'CONNECT'];
const codes = /^(\d{3}(\s*,\s*\d{3})*)$|^(\d{3}-\d{3})$/;
const retries = fields.integer(1, 10);
const shortestDatagramDelay = 3;

const changeable: Shape = {
  http_method: { read: fields.oneOf(methods) },
  url_path: { read: fields.urlPath },
  expected_codes: { read: fields.text(undefined, codes) },
  tags: { read: fields.tags },
  http_version: { read: fields.oneOf([1.0, 1.1]) },
  domain_name: { read: fields.text(255) },
};

/** A monitor in the body of its pool. */
export const monitorShape: Shape = {
  name: { read: fields.text(255) },
  type: { read: fields.oneOf(types), mandatory: true },
  delay: { read: fields.integer(0), mandatory: true },
  timeout: { read: fields.integer(0), mandatory: true },
  max_retries_down: { read: retries, default: 3 },
  max_retries: { read: retries, mandatory: true },
  admin_state_up: { read: fields.boolean, default: true },
  ...changeable,
};

const createShape: Shape = {
  ...monitorShape,
  project_id: { read: fields.text(36) },
  pool_id: { read: fields.uuid, mandatory: true },
};

const updateShape: Shape = {
  name: { read: fields.text(255) },
  delay: { read: fields.integer(0) },
  timeout: { read: fields.integer(0) },
  max_retries_down: { read: retries },
  max_retries: { read: retries },
  admin_state_up: { read: fields.boolean },
  ...changeable,
};

const httpOnly = ['http_method', 'url_path', 'expected_codes'];
const httpDefaults = { http_method: 'GET', url_path: '/', expected_codes: '200' } as const;

const filters = [
  'pool_id',
  'type',
  'delay',
  'timeout',
  'max_retries',
  'max_retries_down',
  'http_method',
  'url_path',
  'expected_codes',
  'http_version',
  'domain_name',
];

export function monitorRoutes(octavia: Octavia, base: string): Route[] {
  const { monitors } = octavia;
  const path = `${base}/healthmonitors`;
  const listed: Listed<HealthMonitorRow> = {
    collection: 'healthmonitors',
    table: monitors,
    filters,
    view: viewMonitor,
  };
  const find = (id: string): Readonly<HealthMonitorRow> => {
    const row = monitors.get(id);
    if (!row) throw notFound('Health Monitor', id);
    return row;
  };
  return [
    {
      method: 'GET',
      path,
      handle(context): Answer {
        const pool = context.query.get('pool_id');
        return listAnswer(context, listed, pool === undefined ? undefined : monitors.by('pool', pool));
      },
    },
    {
      method: 'POST',
      path,
      handle(context): Answer {
        const form = { argument: 'health_monitor_', wrapper: 'healthmonitor', shape: createShape };
        const values = readBody(context, form);
        const pool = findPool(octavia, values['pool_id'] as string);
        checkWrite(context.caller, pool.project_id);
        checkType(values, pool);
        checkQuota(octavia, pool.project_id, 'health_monitor');
        const { lb, touched } = lockPool(octavia, pool);
        const made = insertMonitor(octavia, pool, values);
        octavia.begin(lb, 'update', [...touched, { table: 'monitors', id: made.id }]);
        return { status: 201, body: { healthmonitor: viewMonitor(made) } };
      },
    },
    {
      method: 'GET',
      path: `${path}/{id}`,
      handle(context): Answer {
        const row = find(context.param('id'));
        checkRead(context.caller, row.project_id);
        return { status: 200, body: { healthmonitor: pick(viewMonitor(row), context) } };
      },
    },
    {
      method: 'PUT',
      path: `${path}/{id}`,
      handle(context): Answer {
        const form = { argument: 'health_monitor_', wrapper: 'healthmonitor', shape: updateShape };
        const values = readBody(context, form);
        const row = find(context.param('id'));
        checkWrite(context.caller, row.project_id);
        checkUpdate(row, values);
        const monitor: Touched = { table: 'monitors', id: row.id };
        const { lb, touched } = lockPool(octavia, findPool(octavia, row.pool_id));
        octavia.mark(monitor, 'PENDING_UPDATE');
        const changed = monitors.update(row.id, changesOf(values));
        octavia.begin(lb, 'update', [...touched, monitor]);
        return { status: 200, body: { healthmonitor: viewMonitor(changed) } };
      },
    },
    {
      method: 'DELETE',
      path: `${path}/{id}`,
      handle(context): Answer {
        const row = find(context.param('id'));
        checkWrite(context.caller, row.project_id);
        const monitor: Touched = { table: 'monitors', id: row.id };
        const { lb, touched } = lockPool(octavia, findPool(octavia, row.pool_id));
        octavia.mark(monitor, 'PENDING_DELETE');
        octavia.begin(lb, 'update', [...touched, monitor]);
        return { status: 204 };
      },
    },
  ];
}

/** Which kinds of monitor go with the protocol of a pool. */
export function checkType(values: Values, pool: Pick<PoolRow, 'protocol'>): void {
  const type = values['type'] as string;
  const isDatagram = pool.protocol === 'UDP' || pool.protocol === 'SCTP';
  if (isDatagram && !['UDP-CONNECT', 'SCTP', 'TCP', 'HTTP'].includes(type)) {
    throw invalid(
      `The associated pool protocol is ${pool.protocol}, so only a UDP-CONNECT/SCTP/TCP/HTTP health monitor is supported.`,
    );
  }
  if (!isDatagram && (type === 'UDP-CONNECT' || type === 'SCTP')) {
    throw invalid(`The ${type} type is only supported for pools of type UDP/SCTP.`);
  }
  const delay = values['delay'] as number;
  if (type === 'UDP-CONNECT' && delay < shortestDatagramDelay) {
    throw invalid(
      `The request delay value ${delay} should be larger than ${shortestDatagramDelay} for UDP-CONNECT health monitor type.`,
    );
  }
}

/** Makes a monitor whose load balancer is taken already. */
export function insertMonitor(octavia: Octavia, pool: Readonly<PoolRow>, values: Values): Readonly<HealthMonitorRow> {
  const type = values['type'] as string;
  const isHttp = type === 'HTTP' || type === 'HTTPS';
  if (!isHttp) {
    for (const name of httpOnly) {
      if (values[name]) throw invalidOption(name, `health monitors of type ${type}`);
    }
  }
  checkDomain(values['http_version'], values['domain_name']);
  if (octavia.monitors.count('pool', pool.id) > 0) throw new Refusal(409, 'This pool already has a health monitor');
  const http = (name: keyof typeof httpDefaults): string | null =>
    (values[name] as string | null | undefined) ?? (isHttp ? httpDefaults[name] : null);
  return octavia.monitors.insert({
    ...octavia.fresh(values, pool.project_id),
    pool_id: pool.id,
    name: (values['name'] as string | null | undefined) ?? '',
    type,
    delay: values['delay'] as number,
    timeout: values['timeout'] as number,
    max_retries: values['max_retries'] as number,
    max_retries_down: (values['max_retries_down'] as number | null | undefined) ?? 3,
    http_method: http('http_method'),
    url_path: http('url_path'),
    expected_codes: http('expected_codes'),
    http_version: (values['http_version'] as number | null | undefined) ?? null,
    domain_name: (values['domain_name'] as string | null | undefined) ?? null,
  });
}

export function viewMonitor(row: Readonly<HealthMonitorRow>): Record<string, unknown> {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    delay: row.delay,
    timeout: row.timeout,
    max_retries: row.max_retries,
    max_retries_down: row.max_retries_down,
    http_method: row.http_method,
    url_path: row.url_path,
    expected_codes: row.expected_codes,
    admin_state_up: row.admin_state_up,
    project_id: row.project_id,
    pools: [{ id: row.pool_id }],
    provisioning_status: row.provisioning_status,
    operating_status: row.operating_status,
    ...times(row),
    tags: row.tags,
    http_version: row.http_version,
    domain_name: row.domain_name,
    tenant_id: row.project_id,
  };
}

function checkUpdate(row: Readonly<HealthMonitorRow>, values: Values): void {
  if (row.type !== 'HTTP' && row.type !== 'HTTPS') {
    for (const name of httpOnly) {
      if (name in values) throw invalidOption(name, `health monitors of type ${row.type}`);
    }
  }
  for (const name of ['delay', 'max_retries', 'timeout']) {
    if (values[name] === null) throw invalidOption('None', name);
  }
  checkDomain(values['http_version'] ?? row.http_version, values['domain_name'] ?? row.domain_name);
}

function checkDomain(version: unknown, domain: unknown): void {
  if (domain && !version) throw invalid("'http_version' must be specified when 'domain_name' is provided.");
  if (domain && (version as number) < 1.1) {
    throw invalidOption(`http_version ${version}`, 'health monitors HTTP 1.1 domain name health check');
  }
}

function changesOf(values: Values): Partial<HealthMonitorRow> {
  const cleared: Readonly<Record<string, unknown>> = {
    ...httpDefaults,
    name: '',
    max_retries_down: 3,
    admin_state_up: false,
    tags: [],
  };
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === null ? (cleared[name] ?? null) : value]),
  );
}
