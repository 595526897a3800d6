// The door of the cluster controllers: Cluster, Machine, MachineSet, MachineDeployment, MachineHealthCheck.
export * from './setup.ts';
