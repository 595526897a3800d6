// Entry point of the controllers of Cluster, Machine, MachineSet, MachineDeployment and MachineHealthCheck.
export { findRevisions } from './machine-deployment/revisions.ts';
export { rehearseWorkers, type WorkersRehearsal } from './rehearsal.ts';
export * from './setup.ts';
