import type { KubeObject } from '../../machinery/index.ts';
import type { ApiEndpoint, FailureDomain, LabelSelector, StatusCondition, TemplateMetadata } from '../cluster/types.ts';

export interface IdentityReference {
  type?: 'Secret' | 'ClusterIdentity';
  name: string;
  cloudName: string;
  region?: string;
}

/** Tags that an OpenStack resource must, may, or must not have. */
export interface NeutronTags {
  tags?: string[];
  tagsAny?: string[];
  notTags?: string[];
  notTagsAny?: string[];
}

export interface NetworkFilter extends NeutronTags {
  name?: string;
  description?: string;
  projectID?: string;
}

export interface SubnetFilter extends NeutronTags {
  name?: string;
  description?: string;
  projectID?: string;
  ipVersion?: number;
  gatewayIP?: string;
  cidr?: string;
  ipv6AddressMode?: string;
  ipv6RAMode?: string;
}

export interface NetworkParam {
  id?: string;
  filter?: NetworkFilter;
}

export interface SubnetParam {
  id?: string;
  filter?: SubnetFilter;
}

export type RouterParam = NetworkParam;
export type SecurityGroupParam = NetworkParam;

export interface FlavorParam {
  id?: string;
  filter?: { name?: string };
}

export interface ImageParam {
  id?: string;
  filter?: { name?: string; tags?: string[] };
  imageRef?: { name: string };
}

export interface ServerGroupParam {
  id?: string;
  filter?: { name?: string };
}

export interface AddressPair {
  ipAddress: string;
  macAddress?: string;
}

export interface ValueSpec {
  name: string;
  key: string;
  value: string;
}

interface PortCommon {
  description?: string;
  tags?: string[];
  trunk?: boolean;
  adminStateUp?: boolean;
  macAddress?: string;
  allowedAddressPairs?: AddressPair[];
  hostID?: string;
  vnicType?: string;
  profile?: { ovsHWOffload?: boolean; trustedVF?: boolean };
  enablePortSecurity?: boolean;
  propagateUplinkStatus?: boolean;
  valueSpecs?: ValueSpec[];
}

export interface PortOptions extends PortCommon {
  network?: NetworkParam;
  nameSuffix?: string;
  fixedIPs?: { subnet?: SubnetParam; ipAddress?: string }[];
  securityGroups?: SecurityGroupParam[];
}

export interface ResolvedPort extends PortCommon {
  name: string;
  networkID: string;
  fixedIPs?: { subnet?: string; ipAddress?: string }[];
  securityGroups?: string[];
}

export interface VolumeAvailabilityZone {
  from?: 'Name' | 'Machine';
  name?: string;
}

export interface BlockDeviceVolume {
  type?: string;
  availabilityZone?: VolumeAvailabilityZone;
}

export interface RootVolume extends BlockDeviceVolume {
  sizeGiB: number;
}

export interface AdditionalBlockDevice {
  name: string;
  sizeGiB: number;
  storage: { type: 'Local' | 'Volume'; volume?: BlockDeviceVolume };
}

export interface SchedulerHint {
  name: string;
  value: { type: 'Bool' | 'String' | 'Number'; bool?: boolean; string?: string; number?: number };
}

export interface OpenStackMachineSpec {
  providerID?: string;
  flavor: FlavorParam;
  image: ImageParam;
  sshKeyName?: string;
  ports?: PortOptions[];
  securityGroups?: SecurityGroupParam[];
  trunk?: boolean;
  tags?: string[];
  serverMetadata?: { key: string; value: string }[];
  configDrive?: boolean;
  rootVolume?: RootVolume;
  additionalBlockDevices?: AdditionalBlockDevice[];
  serverGroup?: ServerGroupParam;
  identityRef?: IdentityReference;
  floatingIPPoolRef?: { apiGroup?: string; kind: string; name: string };
  schedulerHintAdditionalProperties?: SchedulerHint[];
}

export interface ResolvedMachine {
  serverGroupID?: string;
  imageID?: string;
  flavorID?: string;
  ports?: ResolvedPort[];
}

export interface MachineResources {
  ports?: { id: string }[];
}

export interface OpenStackMachineStatus {
  conditions?: StatusCondition[];
  initialization?: { provisioned?: boolean };
  instanceID?: string;
  instanceState?: string;
  addresses?: { type: string; address: string }[];
  resolved?: ResolvedMachine;
  resources?: MachineResources;
}

export interface OpenStackMachine extends KubeObject {
  spec: OpenStackMachineSpec;
  status?: OpenStackMachineStatus;
}

export interface OpenStackMachineTemplateSpec {
  template: { spec: OpenStackMachineSpec };
}

export interface OpenStackMachineTemplateStatus {
  capacity?: Record<string, number | string>;
  nodeInfo?: { operatingSystem?: string };
  conditions?: StatusCondition[];
}

export interface OpenStackMachineTemplate extends KubeObject {
  spec: OpenStackMachineTemplateSpec;
  status?: OpenStackMachineTemplateStatus;
}

export interface LoadBalancerMonitor {
  delay?: number;
  timeout?: number;
  maxRetries?: number;
  maxRetriesDown?: number;
}

export interface ManagedLoadBalancer {
  enabled?: boolean;
  additionalPorts?: number[];
  allowedCIDRs?: string[];
  provider?: string;
  network?: NetworkParam;
  subnets?: SubnetParam[];
  availabilityZone?: string;
  flavor?: string;
  monitor?: LoadBalancerMonitor;
}

export interface SecurityGroupRule {
  name: string;
  description?: string;
  direction: 'ingress' | 'egress';
  etherType?: 'IPv4' | 'IPv6';
  portRangeMin?: number;
  portRangeMax?: number;
  protocol?: string;
  remoteGroupID?: string;
  remoteIPPrefix?: string;
  remoteManagedGroups?: ('bastion' | 'controlplane' | 'worker')[];
}

export interface ManagedSecurityGroups {
  clusterNodesSecurityGroupRules?: SecurityGroupRule[];
  controlPlaneNodesSecurityGroupRules?: SecurityGroupRule[];
  workerNodesSecurityGroupRules?: SecurityGroupRule[];
  allowAllInClusterTraffic?: boolean;
}

export interface ManagedSubnet {
  cidr: string;
  dnsNameservers?: string[];
  allocationPools?: { start: string; end: string }[];
}

export interface Bastion {
  enabled?: boolean;
  spec?: OpenStackMachineSpec;
  availabilityZone?: string;
  floatingIP?: string;
}

export interface OpenStackClusterSpec {
  identityRef: IdentityReference;
  managedSubnets?: ManagedSubnet[];
  managedNetwork?: { mtu?: number; enablePortSecurity?: boolean };
  managedRouter?: { externalIPs?: { fixedIP?: string; subnet: SubnetParam }[] };
  network?: NetworkParam;
  subnets?: SubnetParam[];
  primarySubnet?: SubnetParam;
  router?: RouterParam;
  externalNetwork?: NetworkParam;
  enableExternalNetwork?: boolean;
  apiServer?: {
    port?: number;
    fixedIP?: string;
    floatingIP?: string;
    enableFloatingIP?: boolean;
    managedLoadBalancer?: ManagedLoadBalancer;
  };
  managedSecurityGroups?: ManagedSecurityGroups;
  tags?: string[];
  controlPlaneEndpoint?: ApiEndpoint;
  controlPlaneAvailabilityZones?: string[];
  controlPlaneOmitAvailabilityZone?: boolean;
  bastion?: Bastion;
}

export interface NamedResource {
  name: string;
  id: string;
}

export interface TaggedResource extends NamedResource {
  tags?: string[];
}

export interface NetworkStatus extends TaggedResource {
  subnets?: (TaggedResource & { cidr: string })[];
}

export interface LoadBalancerStatus extends TaggedResource {
  ip?: string;
  internalIP?: string;
  allowedCIDRs?: string[];
  loadBalancerNetwork?: NetworkStatus;
}

export interface BastionStatus {
  id?: string;
  name?: string;
  sshKeyName?: string;
  state?: string;
  ip?: string;
  floatingIP?: string;
  resolved?: ResolvedMachine;
  resources?: MachineResources;
}

export interface OpenStackClusterStatus {
  conditions?: StatusCondition[];
  initialization?: { provisioned?: boolean };
  network?: NetworkStatus;
  externalNetwork?: TaggedResource;
  router?: TaggedResource & { ips?: string[] };
  apiServerManagedLoadBalancer?: LoadBalancerStatus;
  failureDomains?: FailureDomain[];
  controlPlaneSecurityGroup?: NamedResource;
  workerSecurityGroup?: NamedResource;
  bastionSecurityGroup?: NamedResource;
  bastion?: BastionStatus;
}

export interface OpenStackCluster extends KubeObject {
  spec: OpenStackClusterSpec;
  status?: OpenStackClusterStatus;
}

export interface OpenStackClusterTemplateSpec {
  template: { metadata?: TemplateMetadata; spec: OpenStackClusterSpec };
}

export interface OpenStackClusterTemplate extends KubeObject {
  spec: OpenStackClusterTemplateSpec;
}

/** A server with its ports and volumes. The flavor is given by name or id; the id wins. */
export interface OpenStackServerSpec {
  identityRef: IdentityReference;
  flavor?: string;
  flavorID?: string;
  image: ImageParam;
  ports: PortOptions[];
  sshKeyName: string;
  availabilityZone?: string;
  securityGroups?: SecurityGroupParam[];
  trunk?: boolean;
  tags?: string[];
  serverMetadata?: { key: string; value: string }[];
  configDrive?: boolean;
  rootVolume?: RootVolume;
  additionalBlockDevices?: AdditionalBlockDevice[];
  serverGroup?: ServerGroupParam;
  floatingIPPoolRef?: { apiGroup?: string; kind: string; name: string };
  schedulerHintAdditionalProperties?: SchedulerHint[];
  /** Secret with the user data under the key `value` */
  userDataRef?: { name?: string };
}

export interface OpenStackServerStatus {
  conditions?: StatusCondition[];
  ready: boolean;
  instanceID?: string;
  instanceState?: string;
  addresses?: { type: string; address: string }[];
  resolved?: ResolvedMachine;
  resources?: MachineResources;
}

export interface OpenStackServer extends KubeObject {
  spec: OpenStackServerSpec;
  status?: OpenStackServerStatus;
}

export interface OpenStackFloatingIPPoolSpec {
  identityRef: IdentityReference;
  reclaimPolicy: 'Retain' | 'Delete';
  preAllocatedFloatingIPs?: string[];
  maxIPs?: number;
  floatingIPNetwork?: NetworkParam;
}

export interface OpenStackFloatingIPPoolStatus {
  conditions?: StatusCondition[];
  claimedIPs?: string[];
  availableIPs?: string[];
  failedIPs?: string[];
  floatingIPNetwork?: TaggedResource;
}

export interface OpenStackFloatingIPPool extends KubeObject {
  spec: OpenStackFloatingIPPoolSpec;
  status?: OpenStackFloatingIPPoolStatus;
}

export interface OpenStackClusterIdentitySpec {
  secretRef: { name: string; namespace: string };
  /** absent: every namespace may use the credentials */
  namespaceSelector?: LabelSelector;
}

export interface OpenStackClusterIdentity extends KubeObject {
  spec: OpenStackClusterIdentitySpec;
}
