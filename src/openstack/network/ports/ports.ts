import type { JsonObject } from '../../../machinery/index.ts';
import type { Query } from '../../http/query.ts';
import type { CallOptions, ServiceClient } from '../../http/service-client.ts';
import { type Collection, collection } from '../../resource/collection.ts';
import { flag, objectIf, objects, text, textIf, textOrEmpty, texts } from '../../resource/read.ts';
import { networkQuery, parseCommon, type Tags, tagsOf } from '../common.ts';
import type { Port, PortChanges, PortFilter, PortSpec } from './types.ts';

export interface Ports extends Collection<Port, PortSpec, PortChanges, PortFilter>, Tags {
  /** creates several in one request, all or none */
  createMany(specs: readonly PortSpec[], options?: CallOptions): Promise<Port[]>;
}

const path = '/ports';

export function ports(service: ServiceClient): Ports {
  return {
    ...collection<Port, PortSpec, PortChanges, PortFilter>(service, {
      path,
      one: 'port',
      many: 'ports',
      parse: parsePort,
      desired: createBody,
      changes: body,
      query: portQuery,
    }),
    ...tagsOf(service, path),
    async createMany(specs, options = {}) {
      const answer = await service.request({
        method: 'POST',
        path,
        json: { ports: specs.map(createBody) },
        ...options,
      });
      return answer.many('ports', parsePort);
    },
  };
}

export function parsePort(value: JsonObject): Port {
  return {
    id: text(value, 'id'),
    name: textOrEmpty(value, 'name'),
    ...parseCommon(value),
    networkId: textOrEmpty(value, 'network_id'),
    status: textOrEmpty(value, 'status'),
    adminStateUp: flag(value, 'admin_state_up', { fallback: true }),
    macAddress: textOrEmpty(value, 'mac_address'),
    fixedIps: objects(value, 'fixed_ips', (ip) => ({
      subnetId: textOrEmpty(ip, 'subnet_id'),
      address: text(ip, 'ip_address'),
    })),
    deviceId: textOrEmpty(value, 'device_id'),
    deviceOwner: textOrEmpty(value, 'device_owner'),
    securityGroupIds: texts(value, 'security_groups'),
    allowedAddressPairs: objects(value, 'allowed_address_pairs', (pair) => ({
      address: text(pair, 'ip_address'),
      macAddress: textIf(pair, 'mac_address'),
    })),
    portSecurityEnabled: flag(value, 'port_security_enabled', { fallback: true }),
    vnicType: textIf(value, 'binding:vnic_type'),
    hostId: textIf(value, 'binding:host_id'),
    profile: objectIf(value, 'binding:profile') ?? {},
    dnsName: textOrEmpty(value, 'dns_name'),
    trunkId: textIf(objectIf(value, 'trunk_details') ?? {}, 'trunk_id'),
  };
}

function createBody(desired: PortSpec): object {
  return { network_id: desired.networkId, ...body(desired) };
}

function body(desired: PortChanges): object {
  return {
    name: desired.name,
    description: desired.description,
    admin_state_up: desired.adminStateUp,
    fixed_ips: desired.fixedIps?.map((ip) => ({ subnet_id: ip.subnetId, ip_address: ip.address })),
    security_groups: desired.securityGroupIds,
    allowed_address_pairs: desired.allowedAddressPairs?.map((pair) => ({
      ip_address: pair.address,
      mac_address: pair.macAddress,
    })),
    port_security_enabled: desired.portSecurityEnabled,
    device_id: desired.deviceId,
    device_owner: desired.deviceOwner,
    mac_address: desired.macAddress,
    'binding:vnic_type': desired.vnicType,
    'binding:host_id': desired.hostId,
    'binding:profile': desired.profile,
    dns_name: desired.dnsName,
    propagate_uplink_status: desired.propagateUplinkStatus,
    ...desired.extra,
  };
}

function portQuery(filter: PortFilter): Query {
  const { fixedIp, ...rest } = filter;
  const fixedIps: string[] = [];
  if (fixedIp?.subnetId !== undefined) fixedIps.push(`subnet_id=${fixedIp.subnetId}`);
  if (fixedIp?.address !== undefined) fixedIps.push(`ip_address=${fixedIp.address}`);
  return { ...networkQuery(rest), fixed_ips: fixedIps.length === 0 ? undefined : fixedIps };
}
