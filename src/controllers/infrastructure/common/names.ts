// Names, descriptions and tags of cloud resources. Names are upstream's, so that users and scripts recognize them.
// Ownership is a mark in the description, because anyone can create a resource with the same name.

export const openStackClusterFinalizer = 'openstackcluster.infrastructure.cluster.x-k8s.io';
export const openStackServerFinalizer = 'openstackserver.infrastructure.cluster.x-k8s.io';
export const ipClaimFinalizer = 'openstackmachine.infrastructure.cluster.x-k8s.io/ip-claim';
export const floatingIpPoolFinalizer = 'openstackfloatingippool.infrastructure.cluster.x-k8s.io';
export const deleteFloatingIpFinalizer = 'openstackfloatingippool.infrastructure.cluster.x-k8s.io/delete-floating-ip';

/** The finalizer of the OpenStack Resource Controller, which may have created the object. */
export const imageFinalizer = 'openstack.k-orc.cloud/image';

export { ownerMarkAnnotation } from '../../../api/index.ts';

/**
 * Annotation of an OpenStackCluster: leftovers of the workload's cloud controllers to delete with the cluster.
 * Comma-separated `loadbalancers` and `volumes`, or `all`.
 */
export const deleteLeftoversAnnotation = 'infrastructure.cluster.x-k8s.io/delete-leftovers';

/** Annotation of a deleted object whose cloud is unreachable: `true` abandons its cloud resources. */
export const abandonAnnotation = 'infrastructure.cluster.x-k8s.io/abandon-cloud-resources';

/** Explains why a deletion is blocked by an unreachable cloud, with both remedies. */
export function heldBack(why: string): string {
  return `${why}; what was made in the cloud is deleted as soon as the credentials work, or left there with the annotation ${abandonAnnotation}: "true"`;
}

/** Metadata key of servers and volumes with their owner. */
export const ownerMetadataKey = 'capstan-owner';

/** Roles of managed security groups. */
export type GroupRole = 'controlplane' | 'worker' | 'bastion';

export const groupRoles: readonly GroupRole[] = ['controlplane', 'worker', 'bastion'];

export { type FloatingIpRole, floatingIpAnnotation } from '../../shared/index.ts';

/** Identifies a cluster in cloud resources by namespace and name of the Cluster. */
export function clusterBase(namespace: string, clusterName: string): string {
  return `${namespace}-${clusterName}`;
}

/** Name of network, subnet and router. */
export function networkName(base: string): string {
  return `k8s-clusterapi-cluster-${base}`;
}

/** The first subnet has the name of the network; others are numbered. */
export function subnetName(base: string, index: number): string {
  return index === 0 ? networkName(base) : `${networkName(base)}-${index}`;
}

export function securityGroupName(base: string, role: GroupRole): string {
  return `k8s-cluster-${base}-secgroup-${role}`;
}

export function loadBalancerName(base: string): string {
  return `${networkName(base)}-kubeapi`;
}

/** Name of listener, pool and health monitor of one port. */
export function loadBalancerPartName(base: string, port: number): string {
  return `${loadBalancerName(base)}-${port}`;
}

export function memberName(base: string, port: number, machineName: string): string {
  return `${loadBalancerPartName(base, port)}-${machineName}`;
}

/** Name of the bastion's OpenStackServer and server. */
export function bastionName(clusterName: string): string {
  return `${clusterName}-bastion`;
}

export function portName(serverName: string, index: number, suffix: string | undefined): string {
  return `${serverName}-${suffix ?? index}`;
}

export function volumeName(serverName: string, device: string): string {
  return `${serverName}-${device}`;
}

export function rootVolumeDescription(serverName: string): string {
  return `Root volume for ${serverName}`;
}

export function volumeDescription(serverName: string): string {
  return `Additional block device for ${serverName}`;
}

/** Name of an IPAddressClaim and of its IPAddress. */
export function addressClaimName(serverName: string): string {
  return `${serverName}-floating-ip-address`;
}

/** Name of upstream's provider, in descriptions and in the begun-by annotation. */
export const upstreamProvider = 'cluster-api-provider-openstack';

/** Annotation of an object taken over from upstream's provider, whose cloud resources have no mark. */
export const begunByAnnotation = 'infrastructure.cluster.x-k8s.io/begun-by';
export { begunUntilAnnotation } from '../../../api/index.ts';

const createdBy = `Created by ${upstreamProvider}`;

/** Description that upstream's provider sets on resources of a cluster. */
export function upstreamClusterDescription(base: string): string {
  return `${createdBy} cluster ${base}`;
}

/** Description of a cluster's resource. `base` is that of `clusterBase`; for ports, only the cluster name. */
export function clusterDescription(base: string, mark: string): string {
  return `${upstreamClusterDescription(base)} ${mark}`;
}

/** Description that upstream's provider sets on all security groups; only their names differ. */
export const upstreamGroupDescription = 'Cluster API managed group';

export function securityGroupDescription(mark: string): string {
  return `${upstreamGroupDescription} ${mark}`;
}

export function upstreamPoolDescription(poolName: string): string {
  return `${createdBy} OpenStackFloatingIPPool ${poolName}`;
}

export function poolDescription(poolName: string, mark: string): string {
  return `${upstreamPoolDescription(poolName)} ${mark}`;
}

/** Tag of floating IPs of a pool. */
export function poolTag(poolName: string): string {
  return `cluster-api-provider-openstack-fip-pool-${poolName}`;
}
