// The door of the infrastructure controllers: OpenStackCluster, OpenStackMachine, OpenStackServer, OpenStackFloatingIPPool.
export { rehearsedAccess } from './rehearsal/access.ts';
export { type InfrastructureRehearsal, rehearseInfrastructure } from './rehearsal/rehearsal.ts';
export { createLookupCache } from './server/lookup-cache.ts';
export * from './setup.ts';
