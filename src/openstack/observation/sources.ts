import type { JsonObject } from '../../machinery/index.ts';
import { parseServer } from '../compute/servers/wire.ts';
import type { Query } from '../http/query.ts';
import type { ServiceClient } from '../http/service-client.ts';
import { parseLoadBalancer } from '../load-balancer/load-balancers.ts';
import { parseFloatingIp } from '../network/floating-ips.ts';
import { parseNetwork } from '../network/networks.ts';
import { parsePort } from '../network/ports/ports.ts';
import { parseRouter } from '../network/routers.ts';
import { parseGroup } from '../network/security-groups.ts';
import type { OpenStack } from '../openstack.ts';
import { parseVolume } from '../volume/volumes.ts';
import type { ObservedType, ObservedTypes } from './types.ts';

/** How one type of resource is listed and judged. */
export interface Source<T> {
  readonly service: ServiceClient;
  readonly path: string;
  readonly many: string;
  /** of a complete list; sorted so that pages stay as they are when things are added */
  readonly query: Query;
  readonly pageSize: number;
  parse(value: JsonObject): T;
  /** whether it will change by itself before long */
  inFlight(thing: T): boolean;
  /** present, but the service cannot tell more at the moment */
  isUnknown?(thing: T): boolean;
  /** a list of what changed since a time, the deleted included */
  changesQuery?(since: string): Query;
  isDeleted?(thing: T): boolean;
  /** a list of certain ones only */
  idsQuery?(ids: readonly string[]): Query;
  /** asks for one by itself, where a list that lacks it is no proof that it is gone */
  confirm?(id: string, signal: AbortSignal): Promise<T>;
}

/** Narrows what is observed, by the service's own filters: `{server: {'tags-any': 'a,b'}}`. */
export type ObservationFilters = Partial<Record<ObservedType, Query>>;

type Sources = { [K in ObservedType]: Source<ObservedTypes[K]> };

/** Large enough to be few, small enough to be read without a pause anybody notices. */
const pageSize = 500;

export function observationSources(cloud: OpenStack, projectId: string, filters: ObservationFilters): Sources {
  const neutron = { service: cloud.network.service, pageSize, idsQuery: (id: readonly string[]) => ({ id }) };
  // An administrator would see the things of every project.
  const own = { project_id: projectId };
  return {
    server: {
      service: cloud.compute.service,
      path: '/servers/detail',
      many: 'servers',
      query: { sort_key: 'created_at', sort_dir: 'asc', ...filters.server },
      pageSize,
      parse: parseServer,
      inFlight: (server) => server.status === 'BUILD' || server.taskState !== undefined,
      isUnknown: (server) => server.status === 'UNKNOWN',
      changesQuery: (since) => ({ 'changes-since': since, ...filters.server }),
      isDeleted: (server) => server.status === 'DELETED',
      // nova may leave out servers of a cell it cannot reach
      confirm: (id, signal) => cloud.compute.servers.get(id, { signal }),
    },
    port: {
      ...neutron,
      path: '/ports',
      many: 'ports',
      query: { ...own, sort_key: 'id', sort_dir: 'asc', ...filters.port },
      parse: parsePort,
      inFlight: (port) => port.status === 'BUILD',
    },
    floatingIp: {
      ...neutron,
      path: '/floatingips',
      many: 'floatingips',
      query: { ...own, sort_key: 'id', sort_dir: 'asc', ...filters.floatingIp },
      parse: parseFloatingIp,
      inFlight: () => false,
    },
    network: {
      ...neutron,
      path: '/networks',
      many: 'networks',
      query: { ...own, sort_key: 'id', sort_dir: 'asc', ...filters.network },
      parse: parseNetwork,
      inFlight: () => false,
      // a network of somebody else that is shared is not in the list of the project's own
      confirm: (id, signal) => cloud.network.networks.get(id, { signal }),
    },
    router: {
      ...neutron,
      path: '/routers',
      many: 'routers',
      query: { ...own, sort_key: 'id', sort_dir: 'asc', ...filters.router },
      parse: parseRouter,
      inFlight: () => false,
      confirm: (id, signal) => cloud.network.routers.get(id, { signal }),
    },
    securityGroup: {
      ...neutron,
      path: '/security-groups',
      many: 'security_groups',
      query: { ...own, sort_key: 'id', sort_dir: 'asc', ...filters.securityGroup },
      parse: parseGroup,
      inFlight: () => false,
    },
    volume: {
      service: cloud.volume.service,
      path: '/volumes/detail',
      many: 'volumes',
      query: { sort: 'created_at:asc', ...filters.volume },
      pageSize,
      parse: parseVolume,
      inFlight: (volume) => /ing$/.test(volume.status) || volume.status === 'reserved',
    },
    loadBalancer: {
      service: cloud.loadBalancer.service,
      path: '/lbaas/loadbalancers',
      many: 'loadbalancers',
      query: { ...own, ...filters.loadBalancer },
      pageSize,
      parse: parseLoadBalancer,
      inFlight: (balancer) => balancer.provisioningStatus.startsWith('PENDING_'),
    },
  };
}
