import type { JsonObject } from '../../machinery/index.ts';
import type { ServiceClient } from '../http/service-client.ts';
import { type Collection, collection } from '../resource/collection.ts';
import { flag, numberOr, objects, text, textIf, textOrEmpty, texts } from '../resource/read.ts';
import { type CommonFilter, type NetworkResource, networkQuery, parseCommon, type Tags, tagsOf } from './common.ts';

export interface AddressRange {
  readonly start: string;
  readonly end: string;
}

export interface HostRoute {
  readonly destination: string;
  readonly nexthop: string;
}

export interface Subnet extends NetworkResource {
  readonly networkId: string;
  readonly cidr: string;
  readonly ipVersion: number;
  readonly gatewayIp: string | undefined;
  readonly enableDhcp: boolean;
  readonly allocationPools: readonly AddressRange[];
  readonly dnsNameservers: readonly string[];
  readonly hostRoutes: readonly HostRoute[];
  readonly ipv6AddressMode: string | undefined;
  readonly ipv6RaMode: string | undefined;
}

export interface SubnetChanges {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** null for none */
  readonly gatewayIp?: string | null | undefined;
  readonly enableDhcp?: boolean | undefined;
  readonly allocationPools?: readonly AddressRange[] | undefined;
  readonly dnsNameservers?: readonly string[] | undefined;
  readonly hostRoutes?: readonly HostRoute[] | undefined;
  /** attributes of extensions, by neutron's names */
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
}

export interface SubnetSpec extends SubnetChanges {
  readonly networkId: string;
  readonly cidr: string;
  readonly ipVersion: 4 | 6;
  readonly ipv6AddressMode?: string | undefined;
  readonly ipv6RaMode?: string | undefined;
}

export interface SubnetFilter extends CommonFilter {
  readonly networkId?: string | readonly string[] | undefined;
  readonly cidr?: string | undefined;
  readonly ipVersion?: 4 | 6 | undefined;
  readonly gatewayIp?: string | undefined;
  readonly enableDhcp?: boolean | undefined;
  readonly ipv6AddressMode?: string | undefined;
  readonly ipv6RaMode?: string | undefined;
}

export interface Subnets extends Collection<Subnet, SubnetSpec, SubnetChanges, SubnetFilter>, Tags {}

const path = '/subnets';

export function subnets(service: ServiceClient): Subnets {
  return {
    ...collection<Subnet, SubnetSpec, SubnetChanges, SubnetFilter>(service, {
      path,
      one: 'subnet',
      many: 'subnets',
      parse: parseSubnet,
      desired: (desired) => ({
        network_id: desired.networkId,
        cidr: desired.cidr,
        ip_version: desired.ipVersion,
        ipv6_address_mode: desired.ipv6AddressMode,
        ipv6_ra_mode: desired.ipv6RaMode,
        ...body(desired),
      }),
      changes: body,
      query: networkQuery,
    }),
    ...tagsOf(service, path),
  };
}

function parseSubnet(value: JsonObject): Subnet {
  return {
    id: text(value, 'id'),
    name: textOrEmpty(value, 'name'),
    ...parseCommon(value),
    networkId: text(value, 'network_id'),
    cidr: text(value, 'cidr'),
    ipVersion: numberOr(value, 'ip_version', 4),
    gatewayIp: textIf(value, 'gateway_ip'),
    enableDhcp: flag(value, 'enable_dhcp', { fallback: true }),
    allocationPools: objects(value, 'allocation_pools', (pool) => ({
      start: text(pool, 'start'),
      end: text(pool, 'end'),
    })),
    dnsNameservers: texts(value, 'dns_nameservers'),
    hostRoutes: objects(value, 'host_routes', parseRoute),
    ipv6AddressMode: textIf(value, 'ipv6_address_mode'),
    ipv6RaMode: textIf(value, 'ipv6_ra_mode'),
  };
}

export function parseRoute(value: JsonObject): HostRoute {
  return { destination: text(value, 'destination'), nexthop: text(value, 'nexthop') };
}

function body(desired: SubnetChanges): object {
  return {
    name: desired.name,
    description: desired.description,
    gateway_ip: desired.gatewayIp,
    enable_dhcp: desired.enableDhcp,
    allocation_pools: desired.allocationPools,
    dns_nameservers: desired.dnsNameservers,
    host_routes: desired.hostRoutes,
    ...desired.extra,
  };
}
