/** Roles of floating IPs that a cluster reserves. */
export type FloatingIpRole = 'api' | 'bastion';

/**
 * Annotation of an OpenStackCluster: id of the floating IP reserved for a role. Ownership is determined by the mark,
 * not by this annotation.
 */
export function floatingIpAnnotation(role: FloatingIpRole): string {
  return `infrastructure.cluster.x-k8s.io/${role}-floating-ip-id`;
}
