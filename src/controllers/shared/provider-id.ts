const openstack = /^openstack:\/\/[^/]*\/(.+)$/;

/**
 * Normalizes a provider ID for comparison: a regional cloud controller manager includes the region
 * (`openstack://RegionOne/…`), which the machine's own id lacks.
 */
export function comparableProviderId(id: string): string {
  const server = openstack.exec(id)?.[1];
  return server === undefined ? id : `openstack:///${server}`;
}
