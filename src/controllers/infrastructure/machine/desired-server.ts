import type {
  IdentityReference,
  Machine,
  OpenStackCluster,
  OpenStackMachineSpec,
  OpenStackServerSpec,
  PortOptions,
  SecurityGroupParam,
} from '../../../api/index.ts';

/** What a server is made from besides the machine's own spec. */
export interface ServerContext {
  readonly cluster: OpenStackCluster;
  /** group the cluster manages for machines of this role, if it manages groups */
  readonly managedGroupId?: string | undefined;
  readonly availabilityZone?: string | undefined;
  /** Secret with the user data */
  readonly userDataSecret?: string | undefined;
  /** server group made for the machine's set */
  readonly managedServerGroupId?: string | undefined;
}

/** Why no server can be made from a spec, for the one who wrote it. */
export class InvalidMachineSpec extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvalidMachineSpec';
  }
}

/** The spec of the OpenStackServer of a machine (or of a bastion). */
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

/** Credentials of the machine, or else those of its cluster. */
export function identityOf(spec: OpenStackMachineSpec, cluster: OpenStackCluster): IdentityReference {
  return spec.identityRef ?? cluster.spec.identityRef;
}

/** The group the cluster manages for machines of one role. */
export function managedGroupOf(cluster: OpenStackCluster, isControlPlane: boolean): string | undefined {
  if (!cluster.spec.managedSecurityGroups) return undefined;
  const { controlPlaneSecurityGroup, workerSecurityGroup } = cluster.status ?? {};
  return (isControlPlane ? controlPlaneSecurityGroup : workerSecurityGroup)?.id;
}

/** Where a machine shall be: Machines name their failure domain, which here is an availability zone of nova. */
export function zoneOf(machine: Machine): string | undefined {
  const zone = machine.spec.failureDomain;
  return zone === '' ? undefined : zone;
}

function flavorOf({ flavor }: OpenStackMachineSpec): Pick<OpenStackServerSpec, 'flavor' | 'flavorID'> {
  if (flavor.id !== undefined) return { flavorID: flavor.id };
  return flavor.filter?.name === undefined ? {} : { flavor: flavor.filter.name };
}

/** Machine tags first, then those of the cluster, each once. */
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

/** Subnets nodes get an address in; none leaves the choice to neutron. */
function nodeSubnets({ spec }: OpenStackCluster): NonNullable<OpenStackCluster['spec']['subnets']> {
  if (spec.primarySubnet) return [spec.primarySubnet];
  return spec.managedSubnets && spec.managedSubnets.length > 0 ? [] : (spec.subnets ?? []);
}

function withSecurityGroups(
  port: PortOptions,
  everywhere: readonly SecurityGroupParam[],
  { managedGroupId }: ServerContext,
): PortOptions {
  // neutron takes no groups on a port without port security
  if (port.enablePortSecurity === false) return port;
  const own = port.securityGroups ?? (managedGroupId === undefined ? [] : [{ id: managedGroupId }]);
  const groups = [...own, ...everywhere];
  return groups.length === 0 ? port : { ...port, securityGroups: groups };
}
