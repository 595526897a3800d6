// Entry point of the infrastructure controllers: OpenStackCluster, OpenStackMachine, OpenStackServer,
// OpenStackFloatingIPPool.
export type { UsedCredentials } from './common/credentials.ts';
export { createRehearsedClouds, type RehearsedClouds } from './rehearsal/clouds.ts';
export { type InfrastructureRehearsal, rehearseInfrastructure } from './rehearsal/rehearsal.ts';
export { createLookupCache } from './server/lookup-cache.ts';
export * from './setup.ts';
