// The door of the cluster controllers: Cluster, Machine, MachineSet, MachineDeployment, MachineHealthCheck.
export { findRevisions } from './machine-deployment/revisions.ts';
export * from './setup.ts';
