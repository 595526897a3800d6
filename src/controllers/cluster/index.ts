// The door of the cluster controllers: Cluster, Machine, MachineSet, MachineDeployment, MachineHealthCheck.
export { findRevisions } from './machine-deployment/revisions.ts';
export { rehearseWorkers, type WorkersRehearsal } from './rehearsal.ts';
export * from './setup.ts';
