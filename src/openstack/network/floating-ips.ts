import type { JsonObject } from '../../machinery/index.ts';
import { segment } from '../http/query.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { type Deletable, deleteAt } from '../resource/collection.ts';
import { type ListOptions, pages } from '../resource/pages.ts';
import { text, textIf, textOrEmpty } from '../resource/read.ts';
import { type CommonFilter, type NetworkResource, networkQuery, parseCommon, type Tags, tagsOf } from './common.ts';

/** Floating IPs have no names and are identified by address. */
export interface FloatingIp extends Omit<NetworkResource, 'name'> {
  readonly address: string;
  /** external network of the address */
  readonly networkId: string;
  readonly status: string;
  /** associated port */
  readonly portId: string | undefined;
  readonly fixedAddress: string | undefined;
  readonly routerId: string | undefined;
}

export interface FloatingIpSpec {
  readonly networkId: string;
  readonly subnetId?: string | undefined;
  /** a specific address; on most clouds for administrators only */
  readonly address?: string | undefined;
  readonly portId?: string | undefined;
  readonly fixedAddress?: string | undefined;
  readonly description?: string | undefined;
  /** owner project; for administrators only */
  readonly projectId?: string | undefined;
}

export interface FloatingIpChanges {
  /** null disassociates it */
  readonly portId?: string | null | undefined;
  readonly fixedAddress?: string | undefined;
  readonly description?: string | undefined;
}

export interface FloatingIpFilter extends Omit<CommonFilter, 'name'> {
  readonly address?: string | undefined;
  readonly networkId?: string | undefined;
  readonly portId?: string | readonly string[] | undefined;
  readonly fixedAddress?: string | undefined;
  readonly routerId?: string | undefined;
  readonly status?: string | undefined;
}

export interface FloatingIps extends Deletable, Tags {
  list(filter?: FloatingIpFilter, options?: ListOptions): AsyncGenerator<FloatingIp>;
  get(id: string, options?: CallOptions): Promise<FloatingIp>;
  /** returns the floating IP with this address, if it belongs to the project */
  find(address: string, options?: CallOptions): Promise<FloatingIp | undefined>;
  create(desired: FloatingIpSpec, options?: CallOptions): Promise<FloatingIp>;
  update(id: string, changes: FloatingIpChanges, options?: CallOptions): Promise<FloatingIp>;
}

const path = '/floatingips';
const one = 'floatingip';
const many = 'floatingips';
const spelling = {
  address: 'floating_ip_address',
  networkId: 'floating_network_id',
  fixedAddress: 'fixed_ip_address',
};

export function floatingIps(service: ServiceClient): FloatingIps {
  async function* list(filter: FloatingIpFilter = {}, options: ListOptions = {}): AsyncGenerator<FloatingIp> {
    const source = { path, many, query: networkQuery(filter, spelling) };
    for await (const page of pages(service, source, options)) yield* page.many(many, parseFloatingIp);
  }
  return {
    list,
    async get(id, options = {}) {
      const answer = await service.request({ method: 'GET', path: `${path}/${segment(id)}`, ...options });
      return answer.one(one, parseFloatingIp);
    },
    async find(address, options = {}) {
      // In practice an address belongs to one network only. Otherwise the first match is used.
      for await (const found of list({ address }, options)) return found;
      return undefined;
    },
    async create(desired, options = {}) {
      const json = {
        [one]: {
          floating_network_id: desired.networkId,
          subnet_id: desired.subnetId,
          floating_ip_address: desired.address,
          port_id: desired.portId,
          fixed_ip_address: desired.fixedAddress,
          description: desired.description,
          project_id: desired.projectId,
        },
      };
      return (await service.request({ method: 'POST', path, json, ...options })).one(one, parseFloatingIp);
    },
    async update(id, changes, options = {}) {
      const json = {
        [one]: {
          port_id: changes.portId,
          fixed_ip_address: changes.fixedAddress,
          description: changes.description,
        },
      };
      const answer = await service.request({ method: 'PUT', path: `${path}/${segment(id)}`, json, ...options });
      return answer.one(one, parseFloatingIp);
    },
    delete: (id, options = {}) => deleteAt(service, `${path}/${segment(id)}`, options),
    ...tagsOf(service, path),
  };
}

export function parseFloatingIp(value: JsonObject): FloatingIp {
  return {
    id: text(value, 'id'),
    ...parseCommon(value),
    address: textOrEmpty(value, 'floating_ip_address'),
    networkId: textOrEmpty(value, 'floating_network_id'),
    status: textOrEmpty(value, 'status'),
    portId: textIf(value, 'port_id'),
    fixedAddress: textIf(value, 'fixed_ip_address'),
    routerId: textIf(value, 'router_id'),
  };
}
