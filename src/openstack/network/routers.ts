import type { JsonObject } from '../../machinery/index.ts';
import { segment } from '../http/query.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { type Collection, collection } from '../resource/collection.ts';
import { flag, objectIf, objects, text, textOrEmpty, textUnlessEmpty } from '../resource/read.ts';
import { type CommonFilter, type NetworkResource, networkQuery, parseCommon, type Tags, tagsOf } from './common.ts';
import type { HostRoute } from './subnets.ts';
import { parseRoute } from './subnets.ts';

/** External gateway of a router. */
export interface RouterGateway {
  readonly networkId: string;
  readonly enableSnat: boolean | undefined;
  readonly fixedIps: readonly { readonly subnetId: string | undefined; readonly address: string | undefined }[];
}

export interface Router extends NetworkResource {
  readonly status: string;
  readonly adminStateUp: boolean;
  readonly gateway: RouterGateway | undefined;
  readonly routes: readonly HostRoute[];
}

export interface GatewaySpec {
  readonly networkId: string;
  readonly enableSnat?: boolean | undefined;
  readonly fixedIps?:
    | readonly { readonly subnetId?: string | undefined; readonly address?: string | undefined }[]
    | undefined;
}

export interface RouterChanges {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly adminStateUp?: boolean | undefined;
  /** null removes the gateway */
  readonly gateway?: GatewaySpec | null | undefined;
  readonly routes?: readonly HostRoute[] | undefined;
  /** attributes of extensions, by neutron's names */
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
}

export interface RouterSpec extends RouterChanges {
  readonly name: string;
  readonly gateway?: GatewaySpec | undefined;
}

export interface RouterFilter extends CommonFilter {
  readonly adminStateUp?: boolean | undefined;
}

/** A subnet, or an existing port. */
export type RouterInterface = { readonly subnetId: string } | { readonly portId: string };

export interface InterfaceResult {
  readonly portId: string;
  readonly subnetId: string;
  readonly networkId: string;
}

export interface Routers extends Collection<Router, RouterSpec, RouterChanges, RouterFilter>, Tags {
  addInterface(id: string, target: RouterInterface, options?: CallOptions): Promise<InterfaceResult>;
  removeInterface(id: string, target: RouterInterface, options?: CallOptions): Promise<void>;
}

const path = '/routers';

export function routers(service: ServiceClient): Routers {
  const change = (id: string, verb: string, target: RouterInterface, options: CallOptions) =>
    service.request({
      method: 'PUT',
      path: `${path}/${segment(id)}/${verb}`,
      json: 'subnetId' in target ? { subnet_id: target.subnetId } : { port_id: target.portId },
      // Although this is a PUT, a repetition fails once the first one succeeded.
      repeatable: false,
      ...options,
    });
  return {
    ...collection<Router, RouterSpec, RouterChanges, RouterFilter>(service, {
      path,
      one: 'router',
      many: 'routers',
      parse: parseRouter,
      desired: body,
      changes: body,
      query: networkQuery,
    }),
    ...tagsOf(service, path),
    async addInterface(id, target, options = {}) {
      const answer = await change(id, 'add_router_interface', target, options);
      return answer.whole((value) => ({
        portId: text(value, 'port_id'),
        subnetId: textOrEmpty(value, 'subnet_id'),
        networkId: textOrEmpty(value, 'network_id'),
      }));
    },
    async removeInterface(id, target, options = {}) {
      await change(id, 'remove_router_interface', target, options);
    },
  };
}

export function parseRouter(value: JsonObject): Router {
  const gateway = objectIf(value, 'external_gateway_info');
  const gatewayNetwork = gateway && textUnlessEmpty(gateway, 'network_id');
  return {
    id: text(value, 'id'),
    name: textOrEmpty(value, 'name'),
    ...parseCommon(value),
    status: textOrEmpty(value, 'status'),
    adminStateUp: flag(value, 'admin_state_up', { fallback: true }),
    gateway:
      gateway && gatewayNetwork !== undefined
        ? {
            networkId: gatewayNetwork,
            enableSnat: typeof gateway['enable_snat'] === 'boolean' ? gateway['enable_snat'] : undefined,
            fixedIps: objects(gateway, 'external_fixed_ips', (ip) => ({
              subnetId: textUnlessEmpty(ip, 'subnet_id'),
              address: textUnlessEmpty(ip, 'ip_address'),
            })),
          }
        : undefined,
    routes: objects(value, 'routes', parseRoute),
  };
}

function body(desired: RouterChanges): object {
  return {
    name: desired.name,
    description: desired.description,
    admin_state_up: desired.adminStateUp,
    external_gateway_info: gatewayBody(desired.gateway),
    routes: desired.routes,
    ...desired.extra,
  };
}

function gatewayBody(gateway: GatewaySpec | null | undefined): object | null | undefined {
  if (!gateway) return gateway === null ? {} : undefined;
  return {
    network_id: gateway.networkId,
    enable_snat: gateway.enableSnat,
    external_fixed_ips: gateway.fixedIps?.map((ip) => ({ subnet_id: ip.subnetId, ip_address: ip.address })),
  };
}
