import type {
  IdentityReference,
  Machine,
  OpenStackCluster,
  OpenStackMachineSpec,
  OpenStackServerSpec,
  PortOptions,
  SecurityGroupParam,
} from '../../../api/index.ts';

/** Inputs of a server besides the machine's own spec. */
export interface ServerContext {
  readonly cluster: OpenStackCluster;
  /** managed security group for machines of this role, if any */
  readonly managedGroupId?: string | undefined;
  readonly availabilityZone?: string | undefined;
  readonly userDataSecret?: string | undefined;
  /** managed server group of the machine's set */
  readonly managedServerGroupId?: string | undefined;
}

/** A spec from which no server can be created; the message is for its author. */
export class InvalidMachineSpec extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvalidMachineSpec';
  }
}

/** Builds the OpenStackServer spec of a machine or bastion. */
export function desiredServerSpec(spec: OpenStackMachineSpec, around: ServerContext): OpenStackServerSpec {
  const { cluster } = around;
  const tags = joinTags(spec.tags, cluster.spec.tags);
  const serverGroup =
    spec.serverGroup ?? (around.managedServerGroupId === undefined ? undefined : { id: around.managedServerGroupId });
  return {
    identityRef: identityOf(spec, cluster),
    ...flavorOf(spec),
    image: spec.image,
    sshKeyName: spec.sshKeyName ?? '',
    ports: desiredPorts(spec, around),
    configDrive: spec.configDrive ?? false,
    ...(spec.trunk !== undefined && { trunk: spec.trunk }),
    ...(around.availabilityZone !== undefined && { availabilityZone: around.availabilityZone }),
    ...(around.userDataSecret !== undefined && { userDataRef: { name: around.userDataSecret } }),
    ...(tags.length > 0 && { tags }),
    ...(spec.serverMetadata && { serverMetadata: spec.serverMetadata }),
    ...(spec.rootVolume && { rootVolume: spec.rootVolume }),
    ...(spec.additionalBlockDevices && { additionalBlockDevices: spec.additionalBlockDevices }),
    ...(serverGroup && { serverGroup }),
    ...(spec.floatingIPPoolRef && { floatingIPPoolRef: spec.floatingIPPoolRef }),
    ...(spec.schedulerHintAdditionalProperties && {
      schedulerHintAdditionalProperties: spec.schedulerHintAdditionalProperties,
    }),
  };
}

/** Returns the identityRef of the machine, otherwise that of its cluster. */
export function identityOf(spec: OpenStackMachineSpec, cluster: OpenStackCluster): IdentityReference {
  return spec.identityRef ?? cluster.spec.identityRef;
}

/** Returns the managed security group for a role. */
export function managedGroupOf(cluster: OpenStackCluster, isControlPlane: boolean): string | undefined {
  if (!cluster.spec.managedSecurityGroups) return undefined;
  const { controlPlaneSecurityGroup, workerSecurityGroup } = cluster.status ?? {};
  return (isControlPlane ? controlPlaneSecurityGroup : workerSecurityGroup)?.id;
}

/** Returns the Nova availability zone, from the Machine's failure domain. */
export function zoneOf(machine: Machine): string | undefined {
  const zone = machine.spec.failureDomain;
  return zone === '' ? undefined : zone;
}

function flavorOf({ flavor }: OpenStackMachineSpec): Pick<OpenStackServerSpec, 'flavor' | 'flavorID'> {
  if (flavor.id !== undefined) return { flavorID: flavor.id };
  return flavor.filter?.name === undefined ? {} : { flavor: flavor.filter.name };
}

/** Joins tags of machine and cluster, in this order, without duplicates. */
function joinTags(...lists: readonly (readonly string[] | undefined)[]): string[] {
  return [...new Set(lists.flatMap((list) => list ?? []))];
}

function desiredPorts(spec: OpenStackMachineSpec, around: ServerContext): PortOptions[] {
  const given = spec.ports && spec.ports.length > 0 ? spec.ports : [{}];
  return given.map((port) => withSecurityGroups(withNetwork(port, around), spec.securityGroups ?? [], around));
}

function withNetwork(port: PortOptions, { cluster }: ServerContext): PortOptions {
  if (port.network) return port;
  const networkId = cluster.status?.network?.id;
  if (networkId === undefined) {
    throw new InvalidMachineSpec(
      `A port names no network and OpenStackCluster ${cluster.metadata.name} has none: name a network in spec.ports, or give the cluster one`,
    );
  }
  const subnets = nodeSubnets(cluster);
  return {
    ...port,
    network: { id: networkId },
    ...(port.fixedIPs === undefined && subnets.length > 0 && { fixedIPs: subnets.map((subnet) => ({ subnet })) }),
  };
}

/** Returns the subnets for node addresses; with none, Neutron chooses. */
function nodeSubnets({ spec }: OpenStackCluster): NonNullable<OpenStackCluster['spec']['subnets']> {
  if (spec.primarySubnet) return [spec.primarySubnet];
  return spec.managedSubnets && spec.managedSubnets.length > 0 ? [] : (spec.subnets ?? []);
}

function withSecurityGroups(
  port: PortOptions,
  everywhere: readonly SecurityGroupParam[],
  { managedGroupId }: ServerContext,
): PortOptions {
  // Neutron refuses security groups on a port without port security
  if (port.enablePortSecurity === false) return port;
  const own = port.securityGroups ?? (managedGroupId === undefined ? [] : [{ id: managedGroupId }]);
  const groups = [...own, ...everywhere];
  return groups.length === 0 ? port : { ...port, securityGroups: groups };
}
