// Our own kinds: those of Cluster API and of its OpenStack provider.
import type { Resource, ResourceDefinition } from '../machinery/index.ts';
import { clusterKind, machineDeploymentKind, machineKind, machineSetKind } from './cluster/kinds.ts';
import type { Cluster, Machine, MachineDeployment, MachineSet } from './cluster/types.ts';
import { openStackClusterKind, openStackMachineKind, openStackMachineTemplateKind } from './infrastructure/kinds.ts';
import type { OpenStackCluster, OpenStackMachine, OpenStackMachineTemplate } from './infrastructure/types.ts';

export * from './cluster/labels.ts';
export { contractApiVersion } from './cluster/references.ts';
export type * from './cluster/types.ts';
export * from './cluster/version.ts';
export type * from './infrastructure/types.ts';
export { conversionDataAnnotation } from './kind/conversion.ts';

/** every kind of ours, as the API server takes them */
export const ownDefinitions: readonly ResourceDefinition[] = [
  clusterKind.definition,
  machineKind.definition,
  machineSetKind.definition,
  machineDeploymentKind.definition,
  openStackClusterKind.definition,
  openStackMachineKind.definition,
  openStackMachineTemplateKind.definition,
];

// Handles for typed clients, in the hub version.
export const clusters: Resource<Cluster> = clusterKind.resource;
export const machines: Resource<Machine> = machineKind.resource;
export const machineSets: Resource<MachineSet> = machineSetKind.resource;
export const machineDeployments: Resource<MachineDeployment> = machineDeploymentKind.resource;
export const openStackClusters: Resource<OpenStackCluster> = openStackClusterKind.resource;
export const openStackMachines: Resource<OpenStackMachine> = openStackMachineKind.resource;
export const openStackMachineTemplates: Resource<OpenStackMachineTemplate> = openStackMachineTemplateKind.resource;
