/** Roles of floating IPs a cluster reserves. */
export type FloatingIpRole = 'api' | 'bastion';

/** On an OpenStackCluster: id of the floating IP that was reserved for a role. Whose it is, its own mark says. */
export function floatingIpAnnotation(role: FloatingIpRole): string {
  return `infrastructure.cluster.x-k8s.io/${role}-floating-ip-id`;
}
