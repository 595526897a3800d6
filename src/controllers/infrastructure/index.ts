// The door of the infrastructure controllers: OpenStackCluster, OpenStackMachine, OpenStackServer, OpenStackFloatingIPPool.
export * from './setup.ts';
