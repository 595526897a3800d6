// Our own kinds: those of Cluster API, of its kubeadm providers and of its OpenStack provider.
import type { Resource, ResourceDefinition } from '../machinery/index.ts';
import { kubeadmConfigKind, kubeadmConfigTemplateKind } from './bootstrap/kinds.ts';
import type { KubeadmConfig, KubeadmConfigTemplate } from './bootstrap/types.ts';
import { clusterKind, machineDeploymentKind, machineKind, machineSetKind } from './cluster/kinds.ts';
import { machineDrainRuleKind } from './cluster/machine-drain-rule.ts';
import { machineHealthCheckKind } from './cluster/machine-health-check.ts';
import type {
  Cluster,
  Machine,
  MachineDeployment,
  MachineDrainRule,
  MachineHealthCheck,
  MachineSet,
} from './cluster/types.ts';
import { providerKind } from './clusterctl/kinds.ts';
import type { Provider } from './clusterctl/types.ts';
import { kubeadmControlPlaneKind, kubeadmControlPlaneTemplateKind } from './controlplane/kinds.ts';
import type { KubeadmControlPlane, KubeadmControlPlaneTemplate } from './controlplane/types.ts';
import { openStackClusterIdentityKind } from './infrastructure/cluster-identity.ts';
import { openStackClusterTemplateKind } from './infrastructure/cluster-template.ts';
import { openStackFloatingIPPoolKind } from './infrastructure/floating-ip-pool.ts';
import { openStackClusterKind, openStackMachineKind, openStackMachineTemplateKind } from './infrastructure/kinds.ts';
import { openStackServerKind } from './infrastructure/server.ts';
import type {
  OpenStackCluster,
  OpenStackClusterIdentity,
  OpenStackClusterTemplate,
  OpenStackFloatingIPPool,
  OpenStackMachine,
  OpenStackMachineTemplate,
  OpenStackServer,
} from './infrastructure/types.ts';
import { ipAddressClaimKind, ipAddressKind } from './ipam/kinds.ts';
import type { IPAddress, IPAddressClaim } from './ipam/types.ts';
import { imageKind } from './orc/kinds.ts';
import type { Image } from './orc/types.ts';

export { withFormerDefaults } from './bootstrap/former-defaults.ts';
export { bootstrapGroup } from './bootstrap/kinds.ts';
export type * from './bootstrap/types.ts';
export * from './cluster/labels.ts';
export { contractApiVersion } from './cluster/references.ts';
export type * from './cluster/types.ts';
export * from './cluster/version.ts';
export type * from './clusterctl/types.ts';
export { skipCoreDnsAnnotation, skipKubeProxyAnnotation } from './controlplane/image-tags.ts';
export { controlPlaneGroup } from './controlplane/kinds.ts';
export type * from './controlplane/types.ts';
export * from './infrastructure/group.ts';
export type * from './infrastructure/types.ts';
export { ipamGroup } from './ipam/kinds.ts';
export type * from './ipam/types.ts';
export { conversionDataAnnotation } from './kind/conversion.ts';
export type * from './orc/types.ts';

/** every kind of ours, as the API server takes them */
export const ownDefinitions: readonly ResourceDefinition[] = [
  clusterKind.definition,
  machineKind.definition,
  machineSetKind.definition,
  machineDeploymentKind.definition,
  machineHealthCheckKind.definition,
  machineDrainRuleKind.definition,
  kubeadmConfigKind.definition,
  kubeadmConfigTemplateKind.definition,
  kubeadmControlPlaneKind.definition,
  kubeadmControlPlaneTemplateKind.definition,
  openStackClusterKind.definition,
  openStackClusterTemplateKind.definition,
  openStackMachineKind.definition,
  openStackMachineTemplateKind.definition,
  openStackServerKind.definition,
  openStackFloatingIPPoolKind.definition,
  openStackClusterIdentityKind.definition,
  ipAddressClaimKind.definition,
  ipAddressKind.definition,
  imageKind.definition,
  providerKind.definition,
];

// Handles for typed clients, in the hub version.
export const clusters: Resource<Cluster> = clusterKind.resource;
export const machines: Resource<Machine> = machineKind.resource;
export const machineSets: Resource<MachineSet> = machineSetKind.resource;
export const machineDeployments: Resource<MachineDeployment> = machineDeploymentKind.resource;
export const machineHealthChecks: Resource<MachineHealthCheck> = machineHealthCheckKind.resource;
export const machineDrainRules: Resource<MachineDrainRule> = machineDrainRuleKind.resource;
export const kubeadmConfigs: Resource<KubeadmConfig> = kubeadmConfigKind.resource;
export const kubeadmConfigTemplates: Resource<KubeadmConfigTemplate> = kubeadmConfigTemplateKind.resource;
export const kubeadmControlPlanes: Resource<KubeadmControlPlane> = kubeadmControlPlaneKind.resource;
export const kubeadmControlPlaneTemplates: Resource<KubeadmControlPlaneTemplate> =
  kubeadmControlPlaneTemplateKind.resource;
export const openStackClusters: Resource<OpenStackCluster> = openStackClusterKind.resource;
export const openStackClusterTemplates: Resource<OpenStackClusterTemplate> = openStackClusterTemplateKind.resource;
export const openStackMachines: Resource<OpenStackMachine> = openStackMachineKind.resource;
export const openStackMachineTemplates: Resource<OpenStackMachineTemplate> = openStackMachineTemplateKind.resource;
export const openStackServers: Resource<OpenStackServer> = openStackServerKind.resource;
export const openStackFloatingIPPools: Resource<OpenStackFloatingIPPool> = openStackFloatingIPPoolKind.resource;
export const openStackClusterIdentities: Resource<OpenStackClusterIdentity> = openStackClusterIdentityKind.resource;
export const ipAddressClaims: Resource<IPAddressClaim> = ipAddressClaimKind.resource;
export const ipAddresses: Resource<IPAddress> = ipAddressKind.resource;
export const images: Resource<Image> = imageKind.resource;
export const providers: Resource<Provider> = providerKind.resource;
