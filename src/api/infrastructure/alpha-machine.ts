import { isJsonObject, type JsonObject, type JsonValue } from '../../machinery/index.ts';
import { chain, each, type FieldMapping, field, fields, type Mapping, type MappingContext } from '../kind/mapping.ts';
import type { Alpha } from './alpha-schema.ts';
import {
  flatFilter,
  isText,
  isUuid,
  metadataList,
  securityGroupParam,
  textOrAbsent,
  uuidOrFilter,
  volumeZone,
} from './alpha-values.ts';
import { machineSpecV1beta1 } from './v1beta1.ts';

/** Credentials: a Secret and the name of a cloud in it, in two fields. */
export function identityMappings(alpha: Alpha): readonly FieldMapping[] {
  const secret: Mapping =
    alpha === 3
      ? {
          up: (value) => (isJsonObject(value) && isText(value['name']) ? { name: value['name'] } : undefined),
          down: (value, { namespace }) =>
            isJsonObject(value) && value['name'] !== undefined ? { name: value['name'], namespace } : undefined,
        }
      : {
          up: (value) => (isJsonObject(value) && isText(value['name']) ? { name: value['name'] } : undefined),
          down: (value) =>
            isJsonObject(value) && value['name'] !== undefined
              ? { kind: value['type'] ?? 'Secret', name: value['name'] }
              : undefined,
        };
  return [
    field(alpha === 3 ? 'cloudsSecret' : 'identityRef', 'identityRef', secret),
    field('cloudName', 'identityRef.cloudName', textOrAbsent),
  ];
}

const items = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : []);
const present = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));

/** Every network becomes one port, or one port per listed subnet. */
function portsOfNetworks(networks: JsonValue | undefined, context: MappingContext): JsonObject[] {
  return items(networks).flatMap((entry) => {
    if (!isJsonObject(entry)) return [];
    const network = uuidOrFilter.up({ uuid: entry['uuid'], filter: entry['filter'] }, context);
    const subnets = items(entry['subnets'])
      .map((subnet) => uuidOrFilter.up(subnet, context))
      .filter((subnet) => subnet !== undefined);
    if (subnets.length === 0) return [present({ network })];
    return subnets.map((subnet) => present({ network, fixedIPs: [{ subnet }] }));
  });
}

/** v1alpha3 has networks, but no ports. */
function networksOfPorts(ports: JsonValue | undefined, context: MappingContext): JsonObject[] {
  return items(ports).flatMap((port) => {
    if (!isJsonObject(port)) return [];
    const given = port['network'];
    const network = given === undefined ? undefined : uuidOrFilter.down(given, context);
    const subnets = items(port['fixedIPs'])
      .map((address) =>
        isJsonObject(address) && address['subnet'] ? uuidOrFilter.down(address['subnet'], context) : undefined,
      )
      .filter((subnet) => subnet !== undefined);
    return [{ ...(isJsonObject(network) ? network : {}), ...(subnets.length > 0 ? { subnets } : {}) }];
  });
}

/** Before v1alpha7 a free-form map with two known keys. */
const profileMap: Mapping = {
  up(value) {
    if (!isJsonObject(value)) return undefined;
    const offload = String(value['capabilities'] ?? '').includes('switchdev');
    const trusted = value['trusted'] === 'true';
    if (!offload && !trusted) return undefined;
    return { ...(offload ? { ovsHWOffload: true } : {}), ...(trusted ? { trustedVF: true } : {}) };
  },
  down(value) {
    if (!isJsonObject(value)) return undefined;
    return {
      ...(value['ovsHWOffload'] === true ? { capabilities: '["switchdev"]' } : {}),
      ...(value['trustedVF'] === true ? { trusted: 'true' } : {}),
    };
  },
};

const idOnly: Mapping = {
  up: (value) => (isText(value) ? { id: value } : undefined),
  down: (value) => (isJsonObject(value) ? value['id'] : undefined),
};

/** Until v1alpha6, groups by filter and groups by id are two lists; groups by filter come first. */
function portSecurityGroups(alpha: Alpha): Mapping {
  const group = alpha === 7 ? flatFilter : securityGroupParam;
  return {
    up(value, context) {
      if (!isJsonObject(value)) return undefined;
      const { securityGroups, securityGroupFilters, ...rest } = value;
      const groups = [
        ...items(securityGroupFilters).map((filter) => group.up(filter, context)),
        ...items(securityGroups).map((id) => idOnly.up(id, context)),
      ].filter((entry) => entry !== undefined);
      return groups.length > 0 ? { ...rest, securityGroups: groups } : rest;
    },
    down(value, context) {
      if (!isJsonObject(value)) return undefined;
      const { securityGroups, ...rest } = value;
      const byId = (entry: JsonValue): boolean => alpha < 7 && isJsonObject(entry) && entry['id'] !== undefined;
      const groups = items(securityGroups);
      const ids = groups.filter(byId).map((entry) => idOnly.down(entry, context) ?? null);
      const filters = groups.filter((entry) => !byId(entry)).map((entry) => group.down(entry, context) ?? {});
      return {
        ...rest,
        ...(ids.length > 0 ? { securityGroups: ids } : {}),
        ...(filters.length > 0 ? { securityGroupFilters: filters } : {}),
      };
    },
  };
}

function portMapping(alpha: Alpha): Mapping {
  return chain(
    portSecurityGroups(alpha),
    fields(
      alpha === 4 ? field('networkId', 'network', idOnly) : field('network', 'network', flatFilter),
      field(
        'fixedIPs',
        'fixedIPs',
        each(
          fields(
            alpha === 4 ? field('subnetId', 'subnet', idOnly) : field('subnet', 'subnet', flatFilter),
            field('ipAddress', 'ipAddress', textOrAbsent),
          ),
        ),
      ),
      ...(alpha < 7 ? [field('profile', 'profile', profileMap)] : []),
      field('hostId', 'hostID', textOrAbsent),
      field('nameSuffix', 'nameSuffix', textOrAbsent),
      field('description', 'description', textOrAbsent),
      field('macAddress', 'macAddress', textOrAbsent),
      field('vnicType', 'vnicType', textOrAbsent),
    ),
  );
}

/** networks and ports of one server <-> its ports */
function portsMapping(alpha: Alpha): Mapping {
  const ports = each(portMapping(alpha));
  return {
    up(value, context) {
      if (!isJsonObject(value)) return undefined;
      const { networks, ports: written, ...rest } = value;
      const all = [
        ...portsOfNetworks(networks, context),
        ...items(written === undefined ? undefined : ports.up(written, context)),
      ];
      return all.length > 0 ? { ...rest, ports: all } : rest;
    },
    down(value, context) {
      if (!isJsonObject(value)) return undefined;
      const { ports: all, ...rest } = value;
      if (all === undefined) return rest;
      return alpha === 3
        ? { ...rest, networks: networksOfPorts(all, context) }
        : { ...rest, ports: ports.down(all, context) };
    },
  };
}

/** image by name, by id or through the root volume <-> one object; the root volume has other field names */
const imageAndVolume: Mapping = {
  up(value) {
    if (!isJsonObject(value)) return undefined;
    const { image, imageUUID, rootVolume, ...rest } = value;
    const result: JsonObject = rest;
    const volume = isJsonObject(rootVolume) && Number(rootVolume['diskSize'] ?? 0) > 0 ? rootVolume : undefined;
    const source = volume?.['sourceUUID'];
    if (isText(source)) result['image'] = isUuid(source) ? { id: source } : { filter: { name: source } };
    else if (isText(imageUUID)) result['image'] = { id: imageUUID };
    else if (isText(image)) result['image'] = { filter: { name: image } };
    if (volume !== undefined) {
      result['rootVolume'] = present({
        sizeGiB: volume['diskSize'],
        type: isText(volume['volumeType']) ? volume['volumeType'] : undefined,
        availabilityZone: volumeZone.up(volume['availabilityZone']),
      });
    }
    return result;
  },
  down(value) {
    if (!isJsonObject(value)) return undefined;
    const { image, rootVolume, ...rest } = value;
    const result: JsonObject = rest;
    if (isJsonObject(image)) {
      const name = isJsonObject(image['filter']) ? image['filter']['name'] : undefined;
      if (image['id'] !== undefined) result['imageUUID'] = image['id'];
      else if (name !== undefined) result['image'] = name;
    }
    if (isJsonObject(rootVolume)) {
      result['rootVolume'] = present({
        diskSize: rootVolume['sizeGiB'],
        volumeType: rootVolume['type'],
        availabilityZone: volumeZone.down(rootVolume['availabilityZone']),
      });
    }
    return result;
  },
};

const blockDeviceZones: Mapping = each(
  fields(
    field(
      'storage',
      'storage',
      fields(
        field('volume', 'volume', {
          up: (value) =>
            isJsonObject(value) ? { ...value, availabilityZone: volumeZone.up(value['availabilityZone']) } : undefined,
          down: (value) =>
            isJsonObject(value)
              ? present({ ...value, availabilityZone: volumeZone.down(value['availabilityZone']) })
              : undefined,
        }),
      ),
    ),
  ),
);

/** Mapping of the spec of a machine, of machines of a template and of a bastion. */
export function alphaMachine(alpha: Alpha): Mapping {
  return chain(
    imageAndVolume,
    portsMapping(alpha),
    fields(
      ...identityMappings(alpha),
      field('securityGroups', 'securityGroups', each(alpha === 7 ? flatFilter : securityGroupParam)),
      field('serverMetadata', 'serverMetadata', metadataList),
      field('serverGroupID', 'serverGroup', idOnly),
      field('sshKeyName', 'sshKeyName', textOrAbsent),
      ...(alpha === 7 ? [field('additionalBlockDevices', 'additionalBlockDevices', blockDeviceZones)] : []),
    ),
    machineSpecV1beta1,
  );
}
