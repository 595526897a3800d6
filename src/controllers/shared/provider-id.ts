const openstack = /^openstack:\/\/[^/]*\/(.+)$/;

/**
 * What tells servers apart, whoever wrote the id of one: a cloud controller manager that works by region puts the name of
 * the region into it (`openstack://RegionOne/…`), which the machine's own id does not have.
 */
export function comparableProviderId(id: string): string {
  const server = openstack.exec(id)?.[1];
  return server === undefined ? id : `openstack:///${server}`;
}
