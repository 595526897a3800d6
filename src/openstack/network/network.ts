import { segment } from '../http/query.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { parseQuotas, type Quotas } from '../resource/quotas.ts';
import { type Extensions, extensions } from './extensions.ts';
import { type FloatingIps, floatingIps } from './floating-ips.ts';
import { type Networks, networks } from './networks.ts';
import { type Ports, ports } from './ports/ports.ts';
import { type Routers, routers } from './routers.ts';
import { type SecurityGroupRules, securityGroupRules } from './security-group-rules.ts';
import { type SecurityGroups, securityGroups } from './security-groups.ts';
import { type Subnets, subnets } from './subnets.ts';
import { type Trunks, trunks } from './trunks.ts';

/** Client for neutron. */
export interface NetworkService {
  /** for requests that have no method here */
  readonly service: ServiceClient;
  readonly networks: Networks;
  readonly subnets: Subnets;
  readonly routers: Routers;
  readonly ports: Ports;
  readonly trunks: Trunks;
  readonly securityGroups: SecurityGroups;
  readonly securityGroupRules: SecurityGroupRules;
  readonly floatingIps: FloatingIps;
  readonly extensions: Extensions;
  /** including usage */
  quotas(projectId: string, options?: CallOptions): Promise<Quotas>;
}

export function createNetwork(service: ServiceClient): NetworkService {
  return {
    service,
    networks: networks(service),
    subnets: subnets(service),
    routers: routers(service),
    ports: ports(service),
    trunks: trunks(service),
    securityGroups: securityGroups(service),
    securityGroupRules: securityGroupRules(service),
    floatingIps: floatingIps(service),
    extensions: extensions(service),
    async quotas(projectId, options = {}) {
      const path = `/quotas/${segment(projectId)}/details.json`;
      return (await service.request({ method: 'GET', path, ...options })).one('quota', parseQuotas);
    },
  };
}
