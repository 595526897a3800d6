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

/** How one resource type is listed and interpreted. */
export interface Source<T> {
  readonly service: ServiceClient;
  readonly path: string;
  readonly many: string;
  /** query of a complete list; sorted, so that additions change few pages */
  readonly query: Query;
  readonly pageSize: number;
  parse(value: JsonObject): T;
  /** returns true if the resource will soon change by itself */
  inFlight(thing: T): boolean;
  /** returns true if it exists but the service currently cannot report its details */
  isUnknown?(thing: T): boolean;
  /** query for changes since a time, including deletions */
  changesQuery?(since: string): Query;
  isDeleted?(thing: T): boolean;
  /** query for certain ids only */
  idsQuery?(ids: readonly string[]): Query;
  /** requests a single resource, if its absence from a list does not prove that it is gone */
  confirm?(id: string, signal: AbortSignal): Promise<T>;
}

/** Restricts the observed resources by the service's own filters: `{server: {'tags-any': 'a,b'}}`. */
export type ObservationFilters = Partial<Record<ObservedType, Query>>;

type Sources = { [K in ObservedType]: Source<ObservedTypes[K]> };

/** Large enough for few requests, small enough to parse without a noticeable pause. */
const pageSize = 500;

export function observationSources(cloud: OpenStack, projectId: string, filters: ObservationFilters): Sources {
  const neutron = { service: cloud.network.service, pageSize, idsQuery: (id: readonly string[]) => ({ id }) };
  // Without this filter an administrator would see the resources of all projects.
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
      // nova may omit servers of a cell it cannot reach.
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
      // A shared network of another project is missing from the project's own list.
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
