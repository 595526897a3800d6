import type { JsonObject } from '../../machinery/index.ts';
import type { ServiceClient } from '../http/service-client.ts';
import { type Collection, collection } from '../resource/collection.ts';
import { ids, numberIf, numberOr, text, textIf, textOrEmpty, texts } from '../resource/read.ts';
import { type CommonFilter, commonQuery, type LoadBalancerResource, parseCommon } from './common.ts';

/** Octavia's first API version with client CIDRs for listeners. */
export const allowedCidrsVersion = 'v2.12';

export interface Listener extends LoadBalancerResource {
  readonly protocol: string;
  readonly protocolPort: number;
  readonly connectionLimit: number;
  readonly defaultPoolId: string | undefined;
  /** empty when unrestricted */
  readonly allowedCidrs: readonly string[];
  readonly loadBalancerIds: readonly string[];
  /** milliseconds */
  readonly timeoutClientData: number | undefined;
  readonly timeoutMemberData: number | undefined;
  readonly timeoutMemberConnect: number | undefined;
}

export interface ListenerChanges {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly adminStateUp?: boolean | undefined;
  readonly connectionLimit?: number | undefined;
  /** null for none */
  readonly defaultPoolId?: string | null | undefined;
  /** null or empty for unrestricted */
  readonly allowedCidrs?: readonly string[] | null | undefined;
  /** milliseconds */
  readonly timeoutClientData?: number | undefined;
  readonly timeoutMemberData?: number | undefined;
  readonly timeoutMemberConnect?: number | undefined;
  readonly tags?: readonly string[] | undefined;
}

export interface ListenerSpec extends ListenerChanges {
  readonly name: string;
  readonly loadBalancerId: string;
  readonly protocol: string;
  readonly protocolPort: number;
}

export interface ListenerFilter extends CommonFilter {
  readonly loadBalancerId?: string | undefined;
  readonly protocol?: string | undefined;
  readonly protocolPort?: number | undefined;
}

export type Listeners = Collection<Listener, ListenerSpec, ListenerChanges, ListenerFilter>;

export function listeners(service: ServiceClient): Listeners {
  return collection<Listener, ListenerSpec, ListenerChanges, ListenerFilter>(service, {
    path: '/lbaas/listeners',
    one: 'listener',
    many: 'listeners',
    parse: parseListener,
    desired: (desired) => ({
      loadbalancer_id: desired.loadBalancerId,
      protocol: desired.protocol,
      protocol_port: desired.protocolPort,
      ...body(desired),
    }),
    changes: body,
    query: ({ loadBalancerId, ...filter }) => ({ ...commonQuery(filter), loadbalancer_id: loadBalancerId }),
  });
}

function parseListener(value: JsonObject): Listener {
  return {
    id: text(value, 'id'),
    name: textOrEmpty(value, 'name'),
    ...parseCommon(value),
    protocol: text(value, 'protocol'),
    protocolPort: numberOr(value, 'protocol_port', 0),
    connectionLimit: numberOr(value, 'connection_limit', -1),
    defaultPoolId: textIf(value, 'default_pool_id'),
    allowedCidrs: texts(value, 'allowed_cidrs'),
    loadBalancerIds: ids(value, 'loadbalancers'),
    timeoutClientData: numberIf(value, 'timeout_client_data'),
    timeoutMemberData: numberIf(value, 'timeout_member_data'),
    timeoutMemberConnect: numberIf(value, 'timeout_member_connect'),
  };
}

function body(desired: ListenerChanges): object {
  return {
    name: desired.name,
    description: desired.description,
    admin_state_up: desired.adminStateUp,
    connection_limit: desired.connectionLimit,
    default_pool_id: desired.defaultPoolId,
    allowed_cidrs: desired.allowedCidrs,
    timeout_client_data: desired.timeoutClientData,
    timeout_member_data: desired.timeoutMemberData,
    timeout_member_connect: desired.timeoutMemberConnect,
    tags: desired.tags,
  };
}
