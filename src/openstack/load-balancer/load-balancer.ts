import { segment } from '../http/query.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { parseQuotas, type Quotas } from '../resource/quotas.ts';
import { type HealthMonitors, healthMonitors } from './health-monitors.ts';
import { type Listeners, listeners } from './listeners.ts';
import { type LoadBalancers, loadBalancers } from './load-balancers.ts';
import { type Members, members } from './members.ts';
import { type LoadBalancerFlavors, listProviders, listZones, loadBalancerFlavors, type Offer } from './offers.ts';
import { type Pools, pools } from './pools.ts';

/** Client for octavia. */
export interface LoadBalancerService {
  /** for requests that have no method here */
  readonly service: ServiceClient;
  readonly loadBalancers: LoadBalancers;
  readonly listeners: Listeners;
  readonly pools: Pools;
  readonly healthMonitors: HealthMonitors;
  readonly flavors: LoadBalancerFlavors;
  /** members of one pool */
  members(poolId: string): Members;
  providers(options?: CallOptions): Promise<Offer[]>;
  availabilityZones(options?: CallOptions): Promise<Offer[]>;
  /** limits only; octavia does not report usage */
  quotas(projectId: string, options?: CallOptions): Promise<Quotas>;
  /** reports whether this octavia has at least version `v2.x` */
  supports(version: string, options?: CallOptions): Promise<boolean>;
}

export function createLoadBalancer(service: ServiceClient): LoadBalancerService {
  return {
    service,
    loadBalancers: loadBalancers(service),
    listeners: listeners(service),
    pools: pools(service),
    healthMonitors: healthMonitors(service),
    flavors: loadBalancerFlavors(service),
    members: (poolId) => members(service, poolId),
    providers: (options) => listProviders(service, options),
    availabilityZones: (options) => listZones(service, options),
    async quotas(projectId, options = {}) {
      const path = `/lbaas/quotas/${segment(projectId)}`;
      return (await service.request({ method: 'GET', path, ...options })).one('quota', parseQuotas);
    },
    supports: (version, options) => service.supports(version, options),
  };
}
