import type { Caller } from './caller.ts';

// What the services ask of each other, in process. All of it is synchronous and runs in the transaction of the request or
// job that asks; refusals are thrown as `Refusal` with the status and type the service would answer over HTTP.

/** Keystone, as the others need it. */
export interface IdentityService {
  /** who a token stands for; undefined when it is unknown, expired or revoked */
  caller(token: string): Caller | undefined;
  projectExists(id: string): boolean;
  projectName(id: string): string | undefined;
  userName(id: string): string | undefined;
  /** Makes the first domain, the roles and the administrator of an empty cloud. */
  bootstrap(adminPassword: string): { adminUserId: string; adminProjectId: string };
  /** A token of the administrator, for what operators do through the cloud's own API. */
  issueAdminToken(): string;
  /** Ends all tokens, or a project's: clients must authenticate again. */
  expireTokens(projectId: string | undefined): void;
}

export interface FixedIp {
  readonly subnetId: string;
  readonly address: string;
}

/** A port as nova and octavia see it. */
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
  /** names of its security groups, in the same order; none when port security is off */
  readonly securityGroupNames: readonly string[];
  /** floating addresses that lead to it, with the fixed address each is for */
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
  /** absent: the project's default group */
  readonly securityGroupIds?: readonly string[];
  readonly portSecurityEnabled?: boolean;
  readonly allowedAddressPairs?: readonly string[];
}

/** The far end of a connection, as security groups see it. */
export interface Origin {
  /** the source address that arrives: behind a router with address translation the router's */
  readonly address: string;
  /** the port it comes from when no address was translated on the way: rules that name groups count then */
  readonly portId?: string;
}

/** Where a connection arrives. */
export interface Landing {
  readonly portId: string;
  /** the fixed address it arrives at, whatever the caller dialled */
  readonly address: string;
  /** ports whose machines may have taken over the address, when its own port is nobody's */
  readonly holders?: readonly string[];
}

/** The wires of the cloud: which address leads where, and who lets whom in. */
export interface Reachability {
  /** where an address leads from outside: a floating address, or a fixed one on an external network */
  fromOutside(address: string): Landing | undefined;
  /** where it leads from a port: its network, networks behind the same router, and outside through the router's gateway */
  fromPort(portId: string, address: string): { readonly landing: Landing; readonly origin: Origin } | undefined;
  /** whether a port has a way to what is beyond the cloud: a router with a gateway, or an external network of its own */
  leadsOut(portId: string): boolean;
  /** where it leads in a subnet */
  inSubnet(subnetId: string, address: string): Landing | undefined;
  /** the server a port belongs to, also through a trunk; undefined when it is down or nobody's */
  serverOf(portId: string): string | undefined;
  /** whether the security groups of a port let a TCP connection in */
  admits(portId: string, tcpPort: number, origin: Origin): boolean;
  /** whether the security groups of a port let its machine open a TCP connection */
  letsOut(portId: string, tcpPort: number, to: Origin): boolean;
  /** addresses outside that lead to a port, through whatever is in between */
  outsideAddresses(portId: string): readonly string[];
  /** the ports whose rules a security group holds */
  portsOfGroup(groupId: string): readonly string[];
  /** ports that floating addresses of a router lead to */
  portsBehindRouter(routerId: string): readonly string[];
}

/** Neutron, as the others need it. */
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
  /** networks a project can put a server on when the user names none: its own, else the shared ones */
  networksFor(projectId: string): readonly NetworkView[];
  /** whether the project may use the network: its own, shared, or the caller is an administrator */
  canUse(network: NetworkView, caller: Caller): boolean;
  subnet(id: string): SubnetView | undefined;
  /** where floating addresses come from */
  externalSubnets(): readonly SubnetView[];
  port(id: string): PortView | undefined;
  portsOf(deviceId: string): readonly PortView[];
  /** Makes a port. Refusals: quota, addresses exhausted or taken. */
  createPort(desired: NewPort): PortView;
  /** Gives a port to a device. `active` also brings it up. */
  bindPort(id: string, binding: { deviceId: string; deviceOwner: string; host: string; dnsName?: string }): void;
  activatePort(id: string): void;
  /** Takes a port from its device: no device, no host, DOWN; it keeps its addresses. */
  unbindPort(id: string): void;
  /** Removes a port whatever it is used for, floating addresses let go. Nothing happens when it is gone. */
  deletePort(id: string): void;
  /** by id or name in the project; undefined: none, 'ambiguous': several of that name */
  securityGroup(projectId: string, nameOrId: string): { id: string; name: string } | 'ambiguous' | undefined;
  createSecurityGroup(desired: { projectId: string; name: string; description: string }): { id: string };
  /** Replaces the rules of a group octavia made for a load balancer. */
  setIngressRules(
    groupId: string,
    rules: readonly { protocol: string; port: number; prefix?: string; ethertype: 'IPv4' | 'IPv6' }[],
  ): void;
  setPortSecurityGroups(portId: string, groupIds: readonly string[]): void;
  canUseQosPolicy(id: string, caller: Caller): boolean;
  setPortQosPolicy(portId: string, policyId: string | null): void;
  /** a project's groups with their rules, the default one among them */
  securityGroups(projectId: string): readonly SecurityGroupView[];
  changeSecurityGroup(id: string, changes: { name?: string; description?: string }): void;
  /** whether ports have it, or it is the project's default */
  isSecurityGroupUsed(id: string): boolean;
  /** undefined when the group has the same rule already */
  addIngressRule(groupId: string, rule: NewIngressRule): SecurityRuleView | undefined;
  deleteSecurityGroupRule(id: string): void;
  deleteSecurityGroup(id: string): void;
  /** ports a project may still make; undefined: no limit */
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

/** An image somebody else makes: of a volume, of a server that is put away. */
export interface NewImage {
  readonly name: string;
  readonly projectId: string;
  readonly diskFormat: string;
  readonly containerFormat: string;
  readonly visibility?: 'public' | 'private' | 'shared' | 'community';
  readonly isProtected?: boolean;
  /** GiB a server needs at least */
  readonly size: number;
  readonly properties: Readonly<Record<string, string>>;
}

/** Glance, as the others need it. */
export interface ImageService {
  image(id: string): ImageView | undefined;
  /** an image with what nova shows of it */
  record(id: string): ImageRecord | undefined;
  /** the images a project is shown in a list, newest first */
  visible(projectId: string, isAdmin: boolean): ImageRecord[];
  setProperties(id: string, properties: Readonly<Record<string, string>>): void;
  canUse(image: ImageView, projectId: string, isAdmin: boolean): boolean;
  /** Makes an image of a server; it becomes active in its own time. Answers its id. */
  createSnapshot(desired: {
    name: string;
    projectId: string;
    userId: string;
    serverId: string;
    /** empty: the server runs from a volume */
    baseImageId: string;
    properties: Readonly<Record<string, string>>;
  }): string;
  /** Makes an image that becomes active in its own time. Answers its id. */
  createImage(image: NewImage): string;
  /** Removes an image nobody asked glance for. */
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

/** Cinder, as nova needs it. */
export interface VolumeService {
  volume(id: string): VolumeView | undefined;
  snapshotExists(id: string, projectId: string): boolean;
  volumeTypeExists(nameOrId: string): boolean;
  /** Makes a volume; it is `creating` and becomes `available` in its own time. Refusals: quota. */
  createVolume(desired: NewVolume): VolumeView;
  /** available -> reserved */
  reserve(id: string): void;
  /** reserved -> in-use; answers the attachment's id */
  attach(id: string, attachment: { serverId: string; device: string; host: string }): string;
  beginDetach(id: string): void;
  detach(id: string, serverId: string): void;
  /** Puts a volume into a state, as an operator's reset does. */
  setStatus(id: string, status: string): boolean;
  /** Removes a volume in its own time, whatever state it is in. */
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

/** What is on the disks of machines; kept with the cloud. */
export interface DiskStore {
  file(serverId: string, path: string): { readonly content: string; readonly mode: number } | undefined;
  put(serverId: string, path: string, content: string, mode: number): void;
  remove(serverId: string, path: string): void;
  /** every path, in the order they were made */
  paths(serverId: string): readonly string[];
  wipe(serverId: string): void;
}

/** Nova, as the others need it. */
export interface ComputeService {
  readonly disks: DiskStore;
  serverExists(id: string): boolean;
  serverName(id: string): string | undefined;
  /** the zones servers run in */
  availabilityZones(): readonly string[];
  /** the hypervisors, with what is used of them */
  hosts(): readonly HostView[];
  usage(projectId: string): { readonly vcpus: number; readonly ram: number; readonly disk: number };
  /** Adds a hypervisor: its capacity in cores, MiB and GiB. */
  addHost(host: { id: string; zone: string; vcpus: number; ram: number; disk: number }): void;
  setHost(id: string, change: { enabled?: boolean; up?: boolean }): boolean;
  // What happens to servers without their owner asking; each says whether there was such a server.
  stopServer(id: string): boolean;
  startServer(id: string): boolean;
  breakServer(id: string, message: string): boolean;
  deleteServer(id: string): boolean;
  writeConsole(id: string, text: string): boolean;
}

/** What a simulated machine is started with. */
export interface Machine {
  /** the server's id */
  readonly id: string;
  readonly name: string;
  /** absent: follows from the name */
  readonly hostname?: string;
  readonly projectId: string;
  readonly userId: string;
  readonly availabilityZone: string;
  readonly host: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
  /** as the user gave it, base64 taken off; undefined when there was none */
  readonly userData: Uint8Array | undefined;
  readonly configDrive: boolean;
  readonly keyPair: { readonly name: string; readonly publicKey: string } | undefined;
  readonly flavor: { readonly name: string; readonly vcpus: number; readonly ramMiB: number; readonly diskGiB: number };
  /** undefined when it boots from a volume that was not made from an image */
  readonly image: ImageView | undefined;
  readonly interfaces: readonly PortView[];
}

/** The console of a machine: what it writes is what `openstack console log show` prints. */
export interface Console {
  write(text: string): void;
}

/**
 * What makes servers more than rows: told when machines are switched on and off, so that they can boot, join and go silent.
 * Calls come after the change is committed, in order; they must not throw and must not wait.
 */
export interface MachineHost {
  /** The server became ACTIVE: by creation, start, reboot (an `powerOff` came before), or because the cloud was restarted. */
  powerOn(machine: Machine, console: Console): void;
  powerOff(serverId: string, reason: 'stop' | 'reboot' | 'delete' | 'error' | 'suspend'): void;
  /** The server is gone for good; `powerOff` came before when it was running. */
  removed(serverId: string): void;
  /** Ports were added to or taken from a running machine. */
  interfacesChanged?(machine: Machine): void;
  /** The server gets a new disk at the next start: it is rebuilt. */
  diskReplaced?(serverId: string): void;
  /** Whether something answers at a TCP port that a load balancer looks at; absent: everything does. */
  answers?(landing: Landing, tcpPort: number, origin: Origin): boolean;
}

/** A member that a load balancer may pass a connection on to. */
export interface ForwardTarget {
  readonly landing: Landing;
  readonly tcpPort: number;
  /** the load balancer, as the member's security groups see it */
  readonly origin: Origin;
}

/** What a load balancer does with a connection. */
export type Forwarding =
  /** nobody listens at this port */
  | { readonly kind: 'closed' }
  /** the listener does not let this source in */
  | { readonly kind: 'filtered' }
  /** to be tried in this order, the next one when one does not answer */
  | { readonly kind: 'members'; readonly targets: readonly ForwardTarget[] };

/** Octavia, as the others need it. */
export interface LoadBalancerService {
  /** what the load balancer at a port does with a connection from an address; undefined: there is none at that port */
  forward(vipPortId: string, tcpPort: number, source: string): Forwarding | undefined;
  /** the TCP ports a load balancer listens at, by its port; none when there is no load balancer */
  listeningPorts(vipPortId: string): readonly number[];
  /** ports of the load balancers that have a member at one of a port's addresses */
  balancersOf(portId: string): readonly string[];
  /** the port of the load balancer a pool belongs to */
  balancerOfPool(poolId: string): string | undefined;
  /** Has the monitors look at the members at a port again, in their own time. */
  requeueAfter(portId: string): void;
  /** The same at an address whose port is gone. */
  requeueAt(address: string): void;
  /** Puts a load balancer and its parts into ERROR, as a broken amphora would. */
  breakLoadBalancer(id: string): boolean;
}

/** The services of one cloud. */
export interface Services {
  identity: IdentityService;
  network: NetworkService;
  image: ImageService;
  volume: VolumeService;
  compute: ComputeService;
  loadBalancer: LoadBalancerService;
}
