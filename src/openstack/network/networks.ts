import type { JsonObject } from '../../machinery/index.ts';
import type { ServiceClient } from '../http/service-client.ts';
import { type Collection, collection } from '../resource/collection.ts';
import { flag, numberIf, text, textOrEmpty, texts } from '../resource/read.ts';
import { type CommonFilter, type NetworkResource, networkQuery, parseCommon, type Tags, tagsOf } from './common.ts';

export interface Network extends NetworkResource {
  readonly status: string;
  readonly adminStateUp: boolean;
  readonly mtu: number | undefined;
  readonly shared: boolean;
  /** whether it provides floating IPs and router gateways */
  readonly external: boolean;
  readonly portSecurityEnabled: boolean;
  readonly subnetIds: readonly string[];
  readonly dnsDomain: string;
}

export interface NetworkSpec {
  readonly name: string;
  readonly description?: string | undefined;
  readonly adminStateUp?: boolean | undefined;
  readonly mtu?: number | undefined;
  readonly portSecurityEnabled?: boolean | undefined;
  /** for administrators only */
  readonly shared?: boolean | undefined;
  /** for administrators only */
  readonly external?: boolean | undefined;
  /** attributes of extensions, by neutron's names */
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
}

export type NetworkChanges = Partial<NetworkSpec>;

export interface NetworkFilter extends CommonFilter {
  readonly status?: string | undefined;
  readonly external?: boolean | undefined;
  readonly shared?: boolean | undefined;
  readonly adminStateUp?: boolean | undefined;
}

export interface Networks extends Collection<Network, NetworkSpec, NetworkChanges, NetworkFilter>, Tags {}

const path = '/networks';

export function networks(service: ServiceClient): Networks {
  return {
    ...collection<Network, NetworkSpec, NetworkChanges, NetworkFilter>(service, {
      path,
      one: 'network',
      many: 'networks',
      parse: parseNetwork,
      desired: body,
      changes: body,
      query: (filter) => networkQuery(filter, { external: 'router:external' }),
    }),
    ...tagsOf(service, path),
  };
}

export function parseNetwork(value: JsonObject): Network {
  return {
    id: text(value, 'id'),
    name: textOrEmpty(value, 'name'),
    ...parseCommon(value),
    status: textOrEmpty(value, 'status'),
    adminStateUp: flag(value, 'admin_state_up', { fallback: true }),
    mtu: numberIf(value, 'mtu'),
    shared: flag(value, 'shared'),
    external: flag(value, 'router:external'),
    portSecurityEnabled: flag(value, 'port_security_enabled', { fallback: true }),
    subnetIds: texts(value, 'subnets'),
    dnsDomain: textOrEmpty(value, 'dns_domain'),
  };
}

function body(desired: NetworkChanges): object {
  return {
    name: desired.name,
    description: desired.description,
    admin_state_up: desired.adminStateUp,
    mtu: desired.mtu,
    port_security_enabled: desired.portSecurityEnabled,
    shared: desired.shared,
    'router:external': desired.external,
    ...desired.extra,
  };
}
