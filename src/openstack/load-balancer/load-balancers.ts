import type { JsonObject } from '../../machinery/index.ts';
import { segment } from '../http/query.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { type Collection, collection, deleteAt } from '../resource/collection.ts';
import { ids, numberOr, text, textIf, textOrEmpty } from '../resource/read.ts';
import { type CommonFilter, commonQuery, type LoadBalancerResource, parseCommon } from './common.ts';

export interface LoadBalancer extends LoadBalancerResource {
  readonly vipAddress: string | undefined;
  readonly vipPortId: string | undefined;
  readonly vipSubnetId: string | undefined;
  readonly vipNetworkId: string | undefined;
  readonly provider: string | undefined;
  readonly flavorId: string | undefined;
  readonly availabilityZone: string | undefined;
  readonly listenerIds: readonly string[];
  readonly poolIds: readonly string[];
}

export interface LoadBalancerChanges {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly adminStateUp?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** The address comes from a subnet, a network or a port; one of them is required. */
export interface LoadBalancerSpec extends LoadBalancerChanges {
  readonly name: string;
  readonly vipSubnetId?: string | undefined;
  readonly vipNetworkId?: string | undefined;
  readonly vipPortId?: string | undefined;
  readonly vipAddress?: string | undefined;
  readonly provider?: string | undefined;
  readonly flavorId?: string | undefined;
  readonly availabilityZone?: string | undefined;
}

export interface LoadBalancerFilter extends CommonFilter {
  readonly vipAddress?: string | undefined;
  readonly vipPortId?: string | undefined;
  readonly vipSubnetId?: string | undefined;
  readonly vipNetworkId?: string | undefined;
}

export interface LoadBalancerStats {
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly activeConnections: number;
  readonly totalConnections: number;
  readonly requestErrors: number;
}

export interface LoadBalancers
  extends Collection<LoadBalancer, LoadBalancerSpec, LoadBalancerChanges, LoadBalancerFilter> {
  /** with `cascade` child resources are deleted too; returns false if it was already gone */
  delete(id: string, options?: CallOptions & { readonly cascade?: boolean }): Promise<boolean>;
  stats(id: string, options?: CallOptions): Promise<LoadBalancerStats>;
  /** the status tree in octavia's format */
  statusTree(id: string, options?: CallOptions): Promise<JsonObject>;
  /** on most clouds for administrators only */
  failover(id: string, options?: CallOptions): Promise<void>;
}

const path = '/lbaas/loadbalancers';

export function loadBalancers(service: ServiceClient): LoadBalancers {
  const at = (id: string, part = ''): string => `${path}/${segment(id)}${part}`;
  return {
    ...collection<LoadBalancer, LoadBalancerSpec, LoadBalancerChanges, LoadBalancerFilter>(service, {
      path,
      one: 'loadbalancer',
      many: 'loadbalancers',
      parse: parseLoadBalancer,
      desired: (desired) => ({
        vip_subnet_id: desired.vipSubnetId,
        vip_network_id: desired.vipNetworkId,
        vip_port_id: desired.vipPortId,
        vip_address: desired.vipAddress,
        provider: desired.provider,
        flavor_id: desired.flavorId,
        availability_zone: desired.availabilityZone,
        ...body(desired),
      }),
      changes: body,
      query: commonQuery,
    }),
    delete: (id, { cascade, ...options } = {}) =>
      deleteAt(service, at(id), { query: { cascade: cascade === true ? 'true' : undefined }, ...options }),
    async stats(id, options = {}) {
      const answer = await service.request({ method: 'GET', path: at(id, '/stats'), ...options });
      return answer.one('stats', (value) => ({
        bytesIn: numberOr(value, 'bytes_in', 0),
        bytesOut: numberOr(value, 'bytes_out', 0),
        activeConnections: numberOr(value, 'active_connections', 0),
        totalConnections: numberOr(value, 'total_connections', 0),
        requestErrors: numberOr(value, 'request_errors', 0),
      }));
    },
    async statusTree(id, options = {}) {
      const answer = await service.request({ method: 'GET', path: at(id, '/status'), ...options });
      return answer.member('statuses');
    },
    async failover(id, options = {}) {
      await service.request({ method: 'PUT', path: at(id, '/failover'), repeatable: false, ...options });
    },
  };
}

export function parseLoadBalancer(value: JsonObject): LoadBalancer {
  return {
    id: text(value, 'id'),
    name: textOrEmpty(value, 'name'),
    ...parseCommon(value),
    vipAddress: textIf(value, 'vip_address'),
    vipPortId: textIf(value, 'vip_port_id'),
    vipSubnetId: textIf(value, 'vip_subnet_id'),
    vipNetworkId: textIf(value, 'vip_network_id'),
    provider: textIf(value, 'provider'),
    flavorId: textIf(value, 'flavor_id'),
    availabilityZone: textIf(value, 'availability_zone'),
    listenerIds: ids(value, 'listeners'),
    poolIds: ids(value, 'pools'),
  };
}

function body(desired: LoadBalancerChanges): object {
  return {
    name: desired.name,
    description: desired.description,
    admin_state_up: desired.adminStateUp,
    tags: desired.tags,
  };
}
