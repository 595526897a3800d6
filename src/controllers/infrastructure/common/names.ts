// Names, descriptions and tags of what is made in a cloud. Names are upstream's, so that scripts and eyes find what they know;
// who owns a thing is said by a mark in its description, because names are anybody's to give.

export const openStackClusterFinalizer = 'openstackcluster.infrastructure.cluster.x-k8s.io';
export const openStackMachineFinalizer = 'openstackmachine.infrastructure.cluster.x-k8s.io';
export const openStackServerFinalizer = 'openstackserver.infrastructure.cluster.x-k8s.io';
export const ipClaimFinalizer = 'openstackmachine.infrastructure.cluster.x-k8s.io/ip-claim';
export const floatingIpPoolFinalizer = 'openstackfloatingippool.infrastructure.cluster.x-k8s.io';
export const deleteFloatingIpFinalizer = 'openstackfloatingippool.infrastructure.cluster.x-k8s.io/delete-floating-ip';

/** The same as that of the OpenStack Resource Controller, which may have begun with the object. */
export const imageFinalizer = 'openstack.k-orc.cloud/image';

export { ownerMarkAnnotation } from '../../../api/index.ts';

/**
 * On an OpenStackCluster: which leftovers of the workload's cloud controllers go with the cluster, a comma-separated list of
 * `loadbalancers` and `volumes`, or `all`.
 */
export const deleteLeftoversAnnotation = 'infrastructure.cluster.x-k8s.io/delete-leftovers';

/** On a deleted object whose cloud cannot be reached any more: `true` gives up what it has there. */
export const abandonAnnotation = 'infrastructure.cluster.x-k8s.io/abandon-cloud-resources';

/** Why the deletion of an object stands still that has resources in a cloud it cannot reach, and both ways on. */
export function heldBack(why: string): string {
  return `${why}; what was made in the cloud is deleted as soon as the credentials work, or left there with the annotation ${abandonAnnotation}: "true"`;
}

/** Keys of the metadata of servers and volumes that say who owns them. */
export const ownerMetadataKey = 'capstan-owner';

/** Roles of managed security groups. */
export type GroupRole = 'controlplane' | 'worker' | 'bastion';

export const groupRoles: readonly GroupRole[] = ['controlplane', 'worker', 'bastion'];

export { type FloatingIpRole, floatingIpAnnotation } from '../../shared/index.ts';

/** How the cluster a cloud resource belongs to is written: namespace and name of the Cluster. */
export function clusterBase(namespace: string, clusterName: string): string {
  return `${namespace}-${clusterName}`;
}

/** Name of network, subnet and router alike. */
export function networkName(base: string): string {
  return `k8s-clusterapi-cluster-${base}`;
}

/** The first subnet is named as its network; further ones are numbered. */
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

/** Name of the bastion's OpenStackServer, and so of its server. */
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

/** Of an IPAddressClaim, and of the IPAddress that answers it. */
export function addressClaimName(serverName: string): string {
  return `${serverName}-floating-ip-address`;
}

/** How upstream's provider calls itself, in descriptions and where an object says who had begun with it. */
export const upstreamProvider = 'cluster-api-provider-openstack';

/** On an object that upstream's provider had begun with: what that made in the cloud carries no mark of ours. */
export const begunByAnnotation = 'infrastructure.cluster.x-k8s.io/begun-by';
export { begunUntilAnnotation } from '../../../api/index.ts';

const createdBy = `Created by ${upstreamProvider}`;

/** What upstream's provider writes on what it makes for a cluster. */
export function upstreamClusterDescription(base: string): string {
  return `${createdBy} cluster ${base}`;
}

/** Of what belongs to a cluster; `base` as of `clusterBase`, for ports the name of the cluster alone. */
export function clusterDescription(base: string, mark: string): string {
  return `${upstreamClusterDescription(base)} ${mark}`;
}

/** What upstream's provider writes on all security groups: their names tell them apart. */
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
