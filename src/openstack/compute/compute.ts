import { segment } from '../http/query.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { type AvailabilityZones, availabilityZones } from '../resource/availability-zones.ts';
import { parseQuotas, type Quotas } from '../resource/quotas.ts';
import { type Flavors, flavors } from './flavors.ts';
import { type Keypairs, keypairs } from './keypairs.ts';
import { type ComputeLimits, computeLimits } from './limits.ts';
import { type ServerGroups, serverGroups } from './server-groups.ts';
import { type Servers, servers } from './servers/servers.ts';

/** Client for nova. */
export interface Compute {
  /** for requests that have no method here */
  readonly service: ServiceClient;
  readonly servers: Servers;
  readonly flavors: Flavors;
  readonly keypairs: Keypairs;
  readonly serverGroups: ServerGroups;
  readonly availabilityZones: AvailabilityZones;
  limits(options?: CallOptions): Promise<ComputeLimits>;
  quotas(projectId: string, options?: CallOptions): Promise<Quotas>;
}

export function createCompute(service: ServiceClient): Compute {
  return {
    service,
    servers: servers(service),
    flavors: flavors(service),
    keypairs: keypairs(service),
    serverGroups: serverGroups(service),
    availabilityZones: availabilityZones(service),
    limits: (options) => computeLimits(service, options),
    async quotas(projectId, options = {}) {
      const path = `/os-quota-sets/${segment(projectId)}/detail`;
      return (await service.request({ method: 'GET', path, ...options })).one('quota_set', parseQuotas);
    },
  };
}
