import type { OpenStackServerSpec, ResolvedMachine, ResolvedPort } from '../../../api/index.ts';
import type { BlockDevice, PortSpec, ServerSpec, VolumeSpec } from '../../../openstack/index.ts';
import { rootVolumeDescription, volumeDescription, volumeName } from '../common/names.ts';

/** Builds the port request. `hasTrustedVif`: Neutron has an attribute for trusted virtual functions. */
export function portSpec(port: ResolvedPort, hasTrustedVif: boolean): PortSpec {
  const isOpen = port.enablePortSecurity === false;
  const profile: Record<string, unknown> = {
    ...(port.profile?.ovsHWOffload === true && { capabilities: ['switchdev'] }),
    ...(port.profile?.trustedVF === true && !hasTrustedVif && { trusted: true }),
  };
  const extra: Record<string, unknown> = {
    ...(port.profile?.trustedVF === true && hasTrustedVif && { trusted: true }),
    ...Object.fromEntries((port.valueSpecs ?? []).map(({ key, value }) => [key, value])),
  };
  return {
    networkId: port.networkID,
    name: port.name,
    description: port.description,
    adminStateUp: port.adminStateUp,
    macAddress: port.macAddress,
    fixedIps: port.fixedIPs?.map(({ subnet, ipAddress }) => ({ subnetId: subnet, address: ipAddress })),
    // Neutron refuses groups and pairs on a port without port security; an empty list prevents the default group
    securityGroupIds: isOpen ? [] : port.securityGroups,
    allowedAddressPairs: isOpen ? undefined : addressPairs(port),
    portSecurityEnabled: port.enablePortSecurity,
    vnicType: port.vnicType,
    hostId: port.hostID,
    propagateUplinkStatus: port.propagateUplinkStatus,
    ...(Object.keys(profile).length > 0 && { profile }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

export function addressPairs(port: Pick<ResolvedPort, 'allowedAddressPairs'>): PortSpec['allowedAddressPairs'] {
  return port.allowedAddressPairs?.map(({ ipAddress, macAddress }) => ({ address: ipAddress, macAddress }));
}

/** A volume attached from the first boot on. */
export interface DesiredVolume {
  /** device name; `root` for the root volume */
  readonly device: string;
  readonly name: string;
  readonly desired: VolumeSpec & { readonly size: number };
}

/** Lists the volumes that must exist before the server, root volume first. */
export function desiredVolumes(
  serverName: string,
  spec: OpenStackServerSpec,
  imageId: string,
  mark: Readonly<Record<string, string>>,
): DesiredVolume[] {
  const zone = (where: { from?: 'Name' | 'Machine'; name?: string } | undefined): string | undefined =>
    where?.from === 'Machine' ? spec.availabilityZone : where?.name;
  const wanted = (
    device: string,
    description: string,
    more: Omit<VolumeSpec, 'name' | 'size'> & { size: number },
  ): DesiredVolume => {
    const name = volumeName(serverName, device);
    return { device, name, desired: { name, description, metadata: mark, ...more } };
  };
  const { rootVolume, additionalBlockDevices = [] } = spec;
  const volumes: DesiredVolume[] = [];
  if (rootVolume) {
    volumes.push(
      wanted('root', rootVolumeDescription(serverName), {
        size: rootVolume.sizeGiB,
        volumeType: rootVolume.type,
        availabilityZone: zone(rootVolume.availabilityZone),
        imageId,
      }),
    );
  }
  for (const { name, sizeGiB, storage } of additionalBlockDevices) {
    if (storage.type !== 'Volume') continue;
    volumes.push(
      wanted(name, volumeDescription(serverName), {
        size: sizeGiB,
        volumeType: storage.volume?.type,
        availabilityZone: zone(storage.volume?.availabilityZone),
      }),
    );
  }
  return volumes;
}

export interface ServerParts {
  readonly name: string;
  readonly spec: OpenStackServerSpec;
  readonly resolved: ResolvedMachine;
  readonly portIds: readonly string[];
  /** volume ids by device name */
  readonly volumes: ReadonlyMap<string, string>;
  readonly userData: Uint8Array | undefined;
  /** ownership metadata */
  readonly mark: Readonly<Record<string, string>>;
}

export function serverSpec(parts: ServerParts): ServerSpec {
  const { spec, resolved } = parts;
  const blockDevices = blockDevicesOf(parts);
  const hints = Object.fromEntries(
    (spec.schedulerHintAdditionalProperties ?? []).map(({ name, value }) => [name, hintValue(value)]),
  );
  const metadata = Object.fromEntries((spec.serverMetadata ?? []).map(({ key, value }) => [key, value]));
  return {
    name: parts.name,
    flavorId: resolved.flavorID ?? '',
    ...(spec.rootVolume ? {} : { imageId: resolved.imageID }),
    networks: parts.portIds.map((portId) => ({ portId })),
    availabilityZone: spec.availabilityZone,
    userData: parts.userData,
    keyName: spec.sshKeyName === '' ? undefined : spec.sshKeyName,
    tags: spec.tags && spec.tags.length > 0 ? spec.tags : undefined,
    metadata: { ...metadata, ...parts.mark },
    configDrive: spec.configDrive ?? false,
    serverGroupId: resolved.serverGroupID,
    ...(blockDevices.length > 0 && { blockDevices }),
    ...(Object.keys(hints).length > 0 && { schedulerHints: hints }),
  };
}

/** Builds the block devices. All are deleted with the server, because they exist only for it. */
function blockDevicesOf({ spec, resolved, volumes }: ServerParts): BlockDevice[] {
  const { rootVolume, additionalBlockDevices = [] } = spec;
  // a server with only its image needs no block devices
  if (!rootVolume && additionalBlockDevices.length === 0) return [];
  const root: BlockDevice = rootVolume
    ? { source: 'volume', destination: 'volume', id: volumes.get('root'), bootIndex: 0, deleteOnTermination: true }
    : { source: 'image', destination: 'local', id: resolved.imageID, bootIndex: 0, deleteOnTermination: true };
  const further = additionalBlockDevices.map(
    ({ name, sizeGiB, storage }): BlockDevice => ({
      ...(storage.type === 'Volume'
        ? { source: 'volume', destination: 'volume', id: volumes.get(name) }
        : { source: 'blank', destination: 'local', size: sizeGiB }),
      bootIndex: -1,
      tag: name,
      deleteOnTermination: true,
    }),
  );
  return [root, ...further];
}

type HintValue = NonNullable<OpenStackServerSpec['schedulerHintAdditionalProperties']>[number]['value'];

function hintValue(value: HintValue): unknown {
  switch (value.type) {
    case 'Bool':
      return value.bool;
    case 'Number':
      return value.number;
    default:
      return value.string;
  }
}
