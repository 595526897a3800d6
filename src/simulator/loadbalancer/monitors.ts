import { Refusal } from '../core/refusal.ts';
import type { Route } from '../core/service.ts';
import { type Attributes, newColumns, viewColumns } from './attributes.ts';
import * as fields from './body/fields.ts';
import type { Values } from './body/shape.ts';
import { findRow } from './find.ts';
import { lockPool } from './members.ts';
import type { Octavia } from './octavia.ts';
import { partRoutes } from './parts.ts';
import { invalid, invalidOption } from './refusals.ts';
import type { HealthMonitorRow, PoolRow } from './rows.ts';

const types = ['HTTP', 'HTTPS', 'PING', 'SCTP', 'TCP', 'TLS-HELLO', 'UDP-CONNECT'];
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'TRACE', 'OPTIONS', 'PATCH', 'CONNECT'];
const codes = /^(\d{3}(\s*,\s*\d{3})*)$|^(\d{3}-\d{3})$/;
const retries = fields.integer(1, 10);
const shortestDatagramDelay = 3;

/** Attributes of a monitor in the body of its pool. */
export const monitorAttributes: Attributes = {
  name: { read: fields.text(255), empty: '' },
  type: { read: fields.oneOf(types), mandatory: true, fixed: true, filter: true },
  delay: { read: fields.integer(0), mandatory: true, filter: true },
  timeout: { read: fields.integer(0), mandatory: true, filter: true },
  max_retries_down: { read: retries, default: 3, empty: 3, filter: true },
  max_retries: { read: retries, mandatory: true, filter: true },
  admin_state_up: { read: fields.boolean, default: true, empty: false },
  http_method: { read: fields.oneOf(methods), empty: 'GET', filter: true },
  url_path: { read: fields.urlPath, empty: '/', filter: true },
  expected_codes: { read: fields.text(undefined, codes), empty: '200', filter: true },
  tags: { read: fields.tags, empty: [] },
  http_version: { read: fields.oneOf([1.0, 1.1]), filter: true },
  domain_name: { read: fields.text(255), filter: true },
};

const attributes: Attributes = {
  ...monitorAttributes,
  project_id: { read: fields.text(36), fixed: true, column: 'none' },
  pool_id: { read: fields.uuid, mandatory: true, fixed: true, filter: true, column: 'hidden' },
};

const httpOnly = ['http_method', 'url_path', 'expected_codes'];

export function monitorRoutes(octavia: Octavia, base: string): Route[] {
  return partRoutes<HealthMonitorRow, PoolRow>(octavia, base, {
    path: 'healthmonitors',
    name: 'healthmonitor',
    collection: 'healthmonitors',
    argument: 'health_monitor_',
    thing: 'Health Monitor',
    quota: 'health_monitor',
    part: 'monitors',
    table: octavia.monitors,
    attributes,
    listedBy: ['pool_id', 'pool'],
    view: viewMonitor,
    parentOf: (values) => findRow(octavia.pools, 'Pool', values['pool_id'] as string),
    checkNew: checkType,
    lockNew: (pool) => lockPool(octavia, pool.id),
    insert: (pool, values) => insertMonitor(octavia, pool, values),
    checkUpdate,
    lock: (row) => lockPool(octavia, row.pool_id),
  });
}

/** Checks that the type of a monitor fits the protocol of its pool. */
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

/** Creates a monitor. The load balancer must already be locked. */
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
  return octavia.monitors.insert({
    ...octavia.fresh(values, pool.project_id),
    ...newColumns<HealthMonitorRow>(attributes, values),
    ...(!isHttp && { http_method: null, url_path: null, expected_codes: null }),
    pool_id: pool.id,
  });
}

export function viewMonitor(row: Readonly<HealthMonitorRow>): Record<string, unknown> {
  return { ...viewColumns(attributes, row), pools: [{ id: row.pool_id }] };
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
