import type { JsonObject } from '../../machinery/index.ts';
import type { ServiceClient } from '../http/service-client.ts';
import { type Collection, collection } from '../resource/collection.ts';
import { ids, numberOr, text, textIf, textOrEmpty } from '../resource/read.ts';
import { type CommonFilter, commonQuery, type LoadBalancerResource, parseCommon } from './common.ts';

/** Health check of pool members. Times in seconds. */
export interface HealthMonitor extends LoadBalancerResource {
  readonly type: string;
  readonly delay: number;
  readonly timeout: number;
  readonly maxRetries: number;
  readonly maxRetriesDown: number;
  readonly httpMethod: string | undefined;
  readonly urlPath: string | undefined;
  readonly expectedCodes: string | undefined;
  readonly poolIds: readonly string[];
}

export interface HealthMonitorChanges {
  readonly name?: string | undefined;
  readonly adminStateUp?: boolean | undefined;
  readonly delay?: number | undefined;
  readonly timeout?: number | undefined;
  readonly maxRetries?: number | undefined;
  readonly maxRetriesDown?: number | undefined;
  readonly httpMethod?: string | undefined;
  readonly urlPath?: string | undefined;
  readonly expectedCodes?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

export interface HealthMonitorSpec extends HealthMonitorChanges {
  readonly name: string;
  readonly poolId: string;
  /** `TCP`, `HTTP`, `HTTPS`, `TLS-HELLO`, `PING`, `UDP-CONNECT`, `SCTP` */
  readonly type: string;
  readonly delay: number;
  readonly timeout: number;
  readonly maxRetries: number;
}

export interface HealthMonitorFilter extends CommonFilter {
  readonly poolId?: string | undefined;
  readonly type?: string | undefined;
}

export type HealthMonitors = Collection<HealthMonitor, HealthMonitorSpec, HealthMonitorChanges, HealthMonitorFilter>;

export function healthMonitors(service: ServiceClient): HealthMonitors {
  return collection<HealthMonitor, HealthMonitorSpec, HealthMonitorChanges, HealthMonitorFilter>(service, {
    path: '/lbaas/healthmonitors',
    one: 'healthmonitor',
    many: 'healthmonitors',
    parse: parseMonitor,
    desired: (desired) => ({ pool_id: desired.poolId, type: desired.type, ...body(desired) }),
    changes: body,
    query: commonQuery,
  });
}

function parseMonitor(value: JsonObject): HealthMonitor {
  return {
    id: text(value, 'id'),
    name: textOrEmpty(value, 'name'),
    ...parseCommon(value),
    type: text(value, 'type'),
    delay: numberOr(value, 'delay', 0),
    timeout: numberOr(value, 'timeout', 0),
    maxRetries: numberOr(value, 'max_retries', 0),
    maxRetriesDown: numberOr(value, 'max_retries_down', 3),
    httpMethod: textIf(value, 'http_method'),
    urlPath: textIf(value, 'url_path'),
    expectedCodes: textIf(value, 'expected_codes'),
    poolIds: ids(value, 'pools'),
  };
}

function body(desired: HealthMonitorChanges): object {
  return {
    name: desired.name,
    admin_state_up: desired.adminStateUp,
    delay: desired.delay,
    timeout: desired.timeout,
    max_retries: desired.maxRetries,
    max_retries_down: desired.maxRetriesDown,
    http_method: desired.httpMethod,
    url_path: desired.urlPath,
    expected_codes: desired.expectedCodes,
    tags: desired.tags,
  };
}
