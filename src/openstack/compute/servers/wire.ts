import type { JsonObject } from '../../../machinery/index.ts';
import type { Query } from '../../http/query.ts';
import {
  flag,
  numberIf,
  numberOr,
  objectIf,
  objects,
  text,
  textIf,
  textMap,
  textOrEmpty,
  texts,
  textUnlessEmpty,
  timeIf,
} from '../../resource/read.ts';
import type {
  BlockDevice,
  InterfaceAttachment,
  Server,
  ServerAction,
  ServerAddress,
  ServerFilter,
  ServerSpec,
  VolumeAttachment,
} from './types.ts';

export function parseServer(value: JsonObject): Server {
  const flavor = objectIf(value, 'flavor') ?? {};
  const fault = objectIf(value, 'fault');
  return {
    id: text(value, 'id'),
    // nova returns only the id of servers whose cell it cannot reach.
    name: textOrEmpty(value, 'name'),
    status: textOrEmpty(value, 'status') || 'UNKNOWN',
    taskState: textIf(value, 'OS-EXT-STS:task_state'),
    vmState: textIf(value, 'OS-EXT-STS:vm_state'),
    powerState: numberIf(value, 'OS-EXT-STS:power_state'),
    fault: fault && { code: numberOr(fault, 'code', 0), message: textOrEmpty(fault, 'message') },
    addresses: parseAddresses(objectIf(value, 'addresses') ?? {}),
    imageId: textIf(objectIf(value, 'image') ?? {}, 'id'),
    flavor: {
      id: textIf(flavor, 'id'),
      name: textIf(flavor, 'original_name'),
      vcpus: numberIf(flavor, 'vcpus'),
      ram: numberIf(flavor, 'ram'),
      disk: numberIf(flavor, 'disk'),
    },
    keyName: textIf(value, 'key_name'),
    metadata: textMap(value, 'metadata'),
    tags: texts(value, 'tags'),
    availabilityZone: textUnlessEmpty(value, 'OS-EXT-AZ:availability_zone'),
    hostId: textUnlessEmpty(value, 'hostId'),
    configDrive: flag(value, 'config_drive'),
    securityGroupNames: objects(value, 'security_groups', (group) => textOrEmpty(group, 'name')),
    volumes: objects(value, 'os-extended-volumes:volumes_attached', (volume) => ({
      id: text(volume, 'id'),
      deleteOnTermination: flag(volume, 'delete_on_termination'),
    })),
    serverGroupIds: texts(value, 'server_groups'),
    projectId: textOrEmpty(value, 'tenant_id'),
    userId: textOrEmpty(value, 'user_id'),
    description: textIf(value, 'description'),
    locked: flag(value, 'locked'),
    created: timeIf(value, 'created'),
    updated: timeIf(value, 'updated'),
    launchedAt: timeIf(value, 'OS-SRV-USG:launched_at'),
  };
}

function parseAddresses(value: JsonObject): Record<string, readonly ServerAddress[]> {
  const addresses: Record<string, readonly ServerAddress[]> = {};
  for (const network of Object.keys(value)) addresses[network] = objects(value, network, parseAddress);
  return addresses;
}

function parseAddress(value: JsonObject): ServerAddress {
  return {
    address: text(value, 'addr'),
    version: numberOr(value, 'version', 4),
    type: value['OS-EXT-IPS:type'] === 'floating' ? 'floating' : 'fixed',
    macAddress: textIf(value, 'OS-EXT-IPS-MAC:mac_addr'),
  };
}

export function serverBody(desired: ServerSpec): object {
  return {
    name: desired.name,
    flavorRef: desired.flavorId,
    imageRef: desired.imageId,
    networks:
      typeof desired.networks === 'string'
        ? desired.networks
        : desired.networks.map((network) =>
            'portId' in network ? { port: network.portId } : { uuid: network.networkId, fixed_ip: network.fixedIp },
          ),
    availability_zone: desired.availabilityZone,
    user_data: desired.userData === undefined ? undefined : Buffer.from(desired.userData as string).toString('base64'),
    key_name: desired.keyName,
    tags: desired.tags,
    metadata: desired.metadata,
    config_drive: desired.configDrive,
    block_device_mapping_v2: desired.blockDevices?.map(blockDeviceBody),
    security_groups: desired.securityGroups?.map((name) => ({ name })),
    description: desired.description,
  };
}

function blockDeviceBody(device: BlockDevice): object {
  return {
    source_type: device.source,
    destination_type: device.destination,
    uuid: device.id,
    boot_index: device.bootIndex,
    volume_size: device.size,
    delete_on_termination: device.deleteOnTermination,
    volume_type: device.volumeType,
    tag: device.tag,
  };
}

/** Hints are a sibling of `server` in the body of a create. */
export function schedulerHints(desired: ServerSpec): object | undefined {
  const hints = {
    ...desired.schedulerHints,
    ...(desired.serverGroupId !== undefined && { group: desired.serverGroupId }),
  };
  return Object.keys(hints).length === 0 ? undefined : hints;
}

export function serverQuery(filter: ServerFilter): Query {
  return {
    name: filter.name,
    status: filter.status,
    image: filter.imageId,
    flavor: filter.flavorId,
    ip: filter.ip,
    tags: filter.tags?.join(','),
    'tags-any': filter.tagsAny?.join(','),
    'not-tags': filter.notTags?.join(','),
    'not-tags-any': filter.notTagsAny?.join(','),
    'changes-since': filter.changesSince,
    sort_key: filter.sortKey,
    sort_dir: filter.sortDir,
    all_tenants: filter.allTenants === true ? 1 : undefined,
  };
}

/** Escapes a name: nova's name filter is a regular expression. */
export function exactName(name: string): string {
  return `^${name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`;
}

export function parseInterface(value: JsonObject): InterfaceAttachment {
  return {
    portId: text(value, 'port_id'),
    networkId: textOrEmpty(value, 'net_id'),
    macAddress: textOrEmpty(value, 'mac_addr'),
    state: textOrEmpty(value, 'port_state'),
    fixedIps: objects(value, 'fixed_ips', (ip) => ({
      subnetId: textOrEmpty(ip, 'subnet_id'),
      address: text(ip, 'ip_address'),
    })),
  };
}

export function parseVolumeAttachment(value: JsonObject): VolumeAttachment {
  return {
    volumeId: text(value, 'volumeId'),
    serverId: text(value, 'serverId'),
    device: textUnlessEmpty(value, 'device'),
  };
}

export function parseServerAction(value: JsonObject): ServerAction {
  return {
    action: text(value, 'action'),
    requestId: textOrEmpty(value, 'request_id'),
    startTime: timeIf(value, 'start_time'),
    message: textIf(value, 'message'),
  };
}
