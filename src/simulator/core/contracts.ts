import type { Caller } from './caller.ts';

// Internal interfaces between the services. All calls are synchronous and run in the transaction of the calling request
// or job. Refusals are thrown as `Refusal` with the status and type the service would return over HTTP.

/** Keystone's interface for other services. */
export interface IdentityService {
  /** owner of a token; undefined if it is unknown, expired or revoked */
  caller(token: string): Caller | undefined;
  projectExists(id: string): boolean;
  projectName(id: string): string | undefined;
  userName(id: string): string | undefined;
  /** Creates the first domain, the roles and the administrator of an empty cloud. */
  bootstrap(adminPassword: string): { adminUserId: string; adminProjectId: string };
  /** Issues a token of the administrator, for operator actions through the cloud's own API. */
  issueAdminToken(): string;
  /** Expires all tokens, or those of one project. */
  expireTokens(projectId: string | undefined): void;
}

export interface FixedIp {
  readonly subnetId: string;
  readonly address: string;
}

/** A port for nova and octavia. */
export interface PortView {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly networkId: string;
  readonly networkName: string;
  readonly macAddress: string;
  readonly fixedIps: readonly FixedIp[];
  readonly status: string;
  readonly deviceId: string;
  readonly deviceOwner: string;
  readonly securityGroupIds: readonly string[];
  /** names of the security groups, in the same order; empty if port security is off */
  readonly securityGroupNames: readonly string[];
  /** floating IPs of the port, each with its fixed address */
  readonly floatingIps: readonly { readonly address: string; readonly fixedAddress: string }[];
  readonly bindingHost: string;
}

export interface NetworkView {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly isShared: boolean;
  readonly isExternal: boolean;
  readonly portSecurityEnabled: boolean;
  readonly subnetIds: readonly string[];
}

export interface SubnetView {
  readonly id: string;
  readonly name: string;
  readonly networkId: string;
  readonly ipVersion: 4 | 6;
  readonly cidr: string;
}

export interface NewPort {
  readonly projectId: string;
  readonly networkId: string;
  readonly name?: string;
  readonly deviceId?: string;
  readonly deviceOwner?: string;
  readonly bindingHost?: string;
  readonly dnsName?: string;
  readonly adminStateUp?: boolean;
  /** desired addresses; absent: one address per IP version of the network */
  readonly fixedIps?: readonly { readonly subnetId?: string; readonly address?: string }[];
  /** default: the project's default group */
  readonly securityGroupIds?: readonly string[];
  readonly portSecurityEnabled?: boolean;
  readonly allowedAddressPairs?: readonly string[];
}

/** Source of a connection, for security groups. */
export interface Origin {
  /** source address on arrival; behind a router with SNAT, the address of the router */
  readonly address: string;
  /** source port if no address was translated; only then do rules with remote groups match */
  readonly portId?: string;
}

/** Destination of a connection. */
export interface Landing {
  readonly portId: string;
  /** fixed address of arrival, whatever address was dialled */
  readonly address: string;
  /** ports whose machines may have taken over the address, if its own port has no server */
  readonly holders?: readonly string[];
}

/** Network paths of the cloud: where addresses lead, and which connections security groups allow. */
export interface Reachability {
  /** destination of an address from outside: a floating IP, or a fixed address on an external network */
  fromOutside(address: string): Landing | undefined;
  /**
   * destination of an address from a port: in its network, in networks behind the same router, or outside through the
   * router's gateway
   */
  fromPort(portId: string, address: string): { readonly landing: Landing; readonly origin: Origin } | undefined;
  /** whether a port reaches addresses outside the cloud: through a router with a gateway, or an external network */
  leadsOut(portId: string): boolean;
  /** destination of an address within a subnet */
  inSubnet(subnetId: string, address: string): Landing | undefined;
  /** server of a port, also through a trunk; undefined if the port is down or has no server */
  serverOf(portId: string): string | undefined;
  /** whether the security groups of a port allow an incoming TCP connection */
  admits(portId: string, tcpPort: number, origin: Origin): boolean;
  /** whether the security groups of a port allow an outgoing TCP connection */
  letsOut(portId: string, tcpPort: number, to: Origin): boolean;
  /** outside addresses that lead to a port, directly or indirectly */
  outsideAddresses(portId: string): readonly string[];
  /** ports that a security group applies to */
  portsOfGroup(groupId: string): readonly string[];
  /** ports that the floating IPs of a router lead to */
  portsBehindRouter(routerId: string): readonly string[];
}

export interface SecurityRuleView {
  readonly id: string;
  readonly isIngress: boolean;
  readonly isIpv6: boolean;
  readonly protocol: string | null;
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly cidr: string | undefined;
  readonly remoteGroupName: string | undefined;
}

export interface SecurityGroupView {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly projectId: string;
  readonly rules: readonly SecurityRuleView[];
}

export interface NewIngressRule {
  readonly protocol: string | null;
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly cidr: string | undefined;
  readonly remoteGroupId: string | undefined;
}

export interface NetworkService {
  readonly reach: Reachability;
  network(id: string): NetworkView | undefined;
  /** networks a project can use for a server without a network in the request: its own, else the shared ones */
  networksFor(projectId: string): readonly NetworkView[];
  /**
   * whether the caller may use the network: it belongs to the project or is shared, or the caller is an administrator
   */
  canUse(network: NetworkView, caller: Caller): boolean;
  subnet(id: string): SubnetView | undefined;
  /** subnets that floating IPs are allocated from */
  externalSubnets(): readonly SubnetView[];
  port(id: string): PortView | undefined;
  portsOf(deviceId: string): readonly PortView[];
  /** Creates a port. Refuses on quota, and if addresses are exhausted or taken. */
  createPort(desired: NewPort): PortView;
  /** Binds a port to a device. `active` also sets it ACTIVE. */
  bindPort(id: string, binding: { deviceId: string; deviceOwner: string; host: string; dnsName?: string }): void;
  activatePort(id: string): void;
  /** Unbinds a port: no device, no host, DOWN. It keeps its addresses. */
  unbindPort(id: string): void;
  /** Deletes a port even if it is in use, and disassociates its floating IPs. Does nothing if it does not exist. */
  deletePort(id: string): void;
  /** finds a group by id or name in the project; undefined: none, 'ambiguous': several with that name */
  securityGroup(projectId: string, nameOrId: string): { id: string; name: string } | 'ambiguous' | undefined;
  createSecurityGroup(desired: { projectId: string; name: string; description: string }): { id: string };
  /** Replaces the rules of a group that octavia created for a load balancer. */
  setIngressRules(
    groupId: string,
    rules: readonly { protocol: string; port: number; prefix?: string; ethertype: 'IPv4' | 'IPv6' }[],
  ): void;
  setPortSecurityGroups(portId: string, groupIds: readonly string[]): void;
  canUseQosPolicy(id: string, caller: Caller): boolean;
  setPortQosPolicy(portId: string, policyId: string | null): void;
  /** groups of a project with their rules, including the default group */
  securityGroups(projectId: string): readonly SecurityGroupView[];
  changeSecurityGroup(id: string, changes: { name?: string; description?: string }): void;
  /** whether ports use the group, or it is the project's default */
  isSecurityGroupUsed(id: string): boolean;
  /** undefined if the group already has the same rule */
  addIngressRule(groupId: string, rule: NewIngressRule): SecurityRuleView | undefined;
  deleteSecurityGroupRule(id: string): void;
  deleteSecurityGroup(id: string): void;
  /** number of ports the project may still create; undefined: no limit */
  portsLeft(projectId: string): number | undefined;
}

export interface ImageView {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly status: string;
  readonly visibility: string;
  readonly diskFormat: string | null;
  readonly containerFormat: string | null;
  readonly size: number | null;
  readonly checksum: string | null;
  readonly minDisk: number;
  readonly minRam: number;
  readonly properties: Readonly<Record<string, string>>;
}

export interface ImageRecord extends ImageView {
  readonly isProtected: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** An image created by another service, for example from a volume or a shelved server. */
export interface NewImage {
  readonly name: string;
  readonly projectId: string;
  readonly diskFormat: string;
  readonly containerFormat: string;
  readonly visibility?: 'public' | 'private' | 'shared' | 'community';
  readonly isProtected?: boolean;
  /** minimum disk of a server in GiB */
  readonly size: number;
  readonly properties: Readonly<Record<string, string>>;
}

/** Glance's interface for other services. */
export interface ImageService {
  image(id: string): ImageView | undefined;
  /** an image with the fields nova shows */
  record(id: string): ImageRecord | undefined;
  /** images in the list of a project, newest first */
  visible(projectId: string, isAdmin: boolean): ImageRecord[];
  setProperties(id: string, properties: Readonly<Record<string, string>>): void;
  canUse(image: ImageView, projectId: string, isAdmin: boolean): boolean;
  /** Creates an image of a server, which becomes active later. Returns its id. */
  createSnapshot(desired: {
    name: string;
    projectId: string;
    userId: string;
    serverId: string;
    /** empty if the server runs from a volume */
    baseImageId: string;
    properties: Readonly<Record<string, string>>;
  }): string;
  /** Creates an image that becomes active later. Returns its id. */
  createImage(image: NewImage): string;
  /** Deletes an image that another service created. */
  deleteImage(id: string): void;
}

export interface VolumeView {
  readonly id: string;
  readonly name: string | null;
  readonly projectId: string;
  readonly status: string;
  readonly size: number;
  readonly availabilityZone: string;
  readonly bootable: boolean;
  readonly multiattach: boolean;
  readonly image: ImageView | undefined;
  readonly attachedTo: readonly string[];
}

export interface NewVolume {
  readonly projectId: string;
  readonly userId: string;
  readonly name: string;
  readonly size: number;
  readonly imageId?: string;
  readonly snapshotId?: string;
  readonly volumeType?: string;
  readonly availabilityZone?: string;
}

/** Cinder's interface for nova. */
export interface VolumeService {
  volume(id: string): VolumeView | undefined;
  snapshotExists(id: string, projectId: string): boolean;
  volumeTypeExists(nameOrId: string): boolean;
  /** Creates a volume. It is `creating` first and becomes `available` later. Refuses on quota. */
  createVolume(desired: NewVolume): VolumeView;
  /** available -> reserved */
  reserve(id: string): void;
  /** reserved -> in-use; returns the id of the attachment */
  attach(id: string, attachment: { serverId: string; device: string; host: string }): string;
  beginDetach(id: string): void;
  detach(id: string, serverId: string): void;
  /** Sets the state of a volume, like an operator's reset. */
  setStatus(id: string, status: string): boolean;
  /** Deletes a volume asynchronously, in any state. */
  deleteVolume(id: string): void;
}

export interface HostView {
  readonly id: string;
  readonly vcpus: number;
  readonly ram: number;
  readonly disk: number;
  readonly vcpusUsed: number;
  readonly ramUsed: number;
}

/** Contents of machine disks, persisted with the cloud. */
export interface DiskStore {
  file(serverId: string, path: string): { readonly content: string; readonly mode: number } | undefined;
  put(serverId: string, path: string, content: string, mode: number): void;
  remove(serverId: string, path: string): void;
  /** all paths in order of creation */
  paths(serverId: string): readonly string[];
  wipe(serverId: string): void;
}

/** Nova's interface for other services. */
export interface ComputeService {
  readonly disks: DiskStore;
  serverExists(id: string): boolean;
  serverName(id: string): string | undefined;
  /** zones that have hosts */
  availabilityZones(): readonly string[];
  /** hypervisors with their usage */
  hosts(): readonly HostView[];
  usage(projectId: string): { readonly vcpus: number; readonly ram: number; readonly disk: number };
  /** Adds a hypervisor with its capacity in cores, MiB and GiB. */
  addHost(host: { id: string; zone: string; vcpus: number; ram: number; disk: number }): void;
  setHost(id: string, change: { enabled?: boolean; up?: boolean }): boolean;
  // Changes of a server without a request of its owner. Each returns whether the server exists.
  stopServer(id: string): boolean;
  startServer(id: string): boolean;
  breakServer(id: string, message: string): boolean;
  deleteServer(id: string): boolean;
  writeConsole(id: string, text: string): boolean;
}

/** Start parameters of a simulated machine. */
export interface Machine {
  /** id of the server */
  readonly id: string;
  readonly name: string;
  /** default: derived from the name */
  readonly hostname?: string;
  readonly projectId: string;
  readonly userId: string;
  readonly availabilityZone: string;
  readonly host: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
  /** decoded user data; undefined if the request had none */
  readonly userData: Uint8Array | undefined;
  readonly configDrive: boolean;
  readonly keyPair: { readonly name: string; readonly publicKey: string } | undefined;
  readonly flavor: { readonly name: string; readonly vcpus: number; readonly ramMiB: number; readonly diskGiB: number };
  /** undefined for a volume that was not created from an image */
  readonly image: ImageView | undefined;
  readonly interfaces: readonly PortView[];
}

/** Console of a machine, shown by `openstack console log show`. */
export interface Console {
  write(text: string): void;
}

/**
 * Runs the machines behind the servers. Calls come in order, after the change is committed. They must neither throw nor
 * block.
 */
export interface MachineHost {
  /** The server became ACTIVE: by creation, start or reboot (after `powerOff`), or because the cloud was restarted. */
  powerOn(machine: Machine, console: Console): void;
  powerOff(serverId: string, reason: 'stop' | 'reboot' | 'delete' | 'error' | 'suspend'): void;
  /** The server is deleted. If it was running, `powerOff` came before. */
  removed(serverId: string): void;
  /** Ports of a running machine were added or removed. */
  interfacesChanged?(machine: Machine): void;
  /** The server is rebuilt and gets an empty disk at its next start. */
  diskReplaced?(serverId: string): void;
  /** Whether a TCP port answers a load balancer's health check; without this method every port does. */
  answers?(landing: Landing, tcpPort: number, origin: Origin): boolean;
}

/** A member that a load balancer may forward a connection to. */
export interface ForwardTarget {
  readonly landing: Landing;
  readonly tcpPort: number;
  /** the load balancer as source, for the member's security groups */
  readonly origin: Origin;
}

/** Decision of a load balancer about a connection. */
export type Forwarding =
  /** no listener on this port */
  | { readonly kind: 'closed' }
  /** the listener does not allow this source */
  | { readonly kind: 'filtered' }
  /** members in order of preference; try the next one if a member does not answer */
  | { readonly kind: 'members'; readonly targets: readonly ForwardTarget[] };

/** Octavia's interface for other services. */
export interface LoadBalancerService {
  /** decision of the load balancer at a port about a connection; undefined if there is no load balancer */
  forward(vipPortId: string, tcpPort: number, source: string): Forwarding | undefined;
  /** TCP ports of the listeners of a load balancer, by its VIP port; empty if there is no load balancer */
  listeningPorts(vipPortId: string): readonly number[];
  /** VIP ports of the load balancers with a member at an address of the port */
  balancersOf(portId: string): readonly string[];
  /** VIP port of the load balancer of a pool */
  balancerOfPool(poolId: string): string | undefined;
  /** Schedules new health checks of the members at a port. */
  requeueAfter(portId: string): void;
  /** Schedules new health checks of the members at an address whose port is deleted. */
  requeueAt(address: string): void;
  /** Puts a load balancer and its children into ERROR, like a broken amphora. */
  breakLoadBalancer(id: string): boolean;
}

export interface Services {
  identity: IdentityService;
  network: NetworkService;
  image: ImageService;
  volume: VolumeService;
  compute: ComputeService;
  loadBalancer: LoadBalancerService;
}
