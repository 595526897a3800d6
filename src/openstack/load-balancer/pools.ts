import type { JsonObject } from '../../machinery/index.ts';
import type { ServiceClient } from '../http/service-client.ts';
import { type Collection, collection } from '../resource/collection.ts';
import { ids, objectIf, text, textIf, textOrEmpty } from '../resource/read.ts';
import { type CommonFilter, commonQuery, type LoadBalancerResource, parseCommon } from './common.ts';

export interface Pool extends LoadBalancerResource {
  readonly protocol: string;
  readonly algorithm: string;
  readonly listenerIds: readonly string[];
  readonly loadBalancerIds: readonly string[];
  readonly memberIds: readonly string[];
  readonly healthMonitorId: string | undefined;
  /** `SOURCE_IP`, `HTTP_COOKIE`, `APP_COOKIE` */
  readonly sessionPersistence: string | undefined;
}

export interface PoolChanges {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly adminStateUp?: boolean | undefined;
  /** `ROUND_ROBIN`, `LEAST_CONNECTIONS`, `SOURCE_IP`, `SOURCE_IP_PORT` */
  readonly algorithm?: string | undefined;
  readonly sessionPersistence?: { readonly type: string; readonly cookieName?: string | undefined } | null | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** A pool belongs to a listener as its default pool, or directly to a load balancer. */
export interface PoolSpec extends PoolChanges {
  readonly name: string;
  readonly protocol: string;
  readonly algorithm: string;
  readonly listenerId?: string | undefined;
  readonly loadBalancerId?: string | undefined;
}

export interface PoolFilter extends CommonFilter {
  readonly loadBalancerId?: string | undefined;
  readonly protocol?: string | undefined;
}

export type Pools = Collection<Pool, PoolSpec, PoolChanges, PoolFilter>;

export function pools(service: ServiceClient): Pools {
  return collection<Pool, PoolSpec, PoolChanges, PoolFilter>(service, {
    path: '/lbaas/pools',
    one: 'pool',
    many: 'pools',
    parse: parsePool,
    desired: (desired) => ({
      protocol: desired.protocol,
      listener_id: desired.listenerId,
      loadbalancer_id: desired.loadBalancerId,
      ...body(desired),
    }),
    changes: body,
    query: ({ loadBalancerId, ...filter }) => ({ ...commonQuery(filter), loadbalancer_id: loadBalancerId }),
  });
}

function parsePool(value: JsonObject): Pool {
  return {
    id: text(value, 'id'),
    name: textOrEmpty(value, 'name'),
    ...parseCommon(value),
    protocol: text(value, 'protocol'),
    algorithm: textOrEmpty(value, 'lb_algorithm'),
    listenerIds: ids(value, 'listeners'),
    loadBalancerIds: ids(value, 'loadbalancers'),
    memberIds: ids(value, 'members'),
    healthMonitorId: textIf(value, 'healthmonitor_id'),
    sessionPersistence: textIf(objectIf(value, 'session_persistence') ?? {}, 'type'),
  };
}

function body(desired: PoolChanges): object {
  const { sessionPersistence } = desired;
  return {
    name: desired.name,
    description: desired.description,
    admin_state_up: desired.adminStateUp,
    lb_algorithm: desired.algorithm,
    session_persistence: sessionPersistence && {
      type: sessionPersistence.type,
      cookie_name: sessionPersistence.cookieName,
    },
    tags: desired.tags,
  };
}
