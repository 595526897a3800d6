// Capstan's own kinds: those of Cluster API and of its supported providers.
import type { Resource, ResourceDefinition } from '../machinery/index.ts';
import { clusterResourceSetBindingKind, clusterResourceSetKind } from './addons/kinds.ts';
import type { ClusterResourceSet, ClusterResourceSetBinding } from './addons/types.ts';
import { k0sWorkerConfigKind, k0sWorkerConfigTemplateKind } from './bootstrap/k0s/kinds.ts';
import type { K0sWorkerConfig, K0sWorkerConfigTemplate } from './bootstrap/k0s/types.ts';
import { kubeadmConfigKind, kubeadmConfigTemplateKind } from './bootstrap/kinds.ts';
import { rke2ConfigKind, rke2ConfigTemplateKind } from './bootstrap/rke2/kinds.ts';
import type { RKE2Config, RKE2ConfigTemplate } from './bootstrap/rke2/types.ts';
import type { KubeadmConfig, KubeadmConfigTemplate } from './bootstrap/types.ts';
import { clusterClassKind } from './cluster/cluster-class.ts';
import type { ClusterClass } from './cluster/cluster-class-types.ts';
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
import { clusterAddonKind, clusterStackKind, clusterStackReleaseKind } from './clusterstack/kinds.ts';
import {
  openStackClusterStackReleaseKind,
  openStackClusterStackReleaseTemplateKind,
  openStackNodeImageReleaseKind,
} from './clusterstack/openstack-kinds.ts';
import type {
  ClusterAddon,
  ClusterStack,
  ClusterStackRelease,
  OpenStackClusterStackRelease,
  OpenStackClusterStackReleaseTemplate,
  OpenStackNodeImageRelease,
} from './clusterstack/types.ts';
import { hostedControlPlaneKind, hostedControlPlaneTemplateKind } from './controlplane/hosted/kinds.ts';
import type { HostedControlPlane, HostedControlPlaneTemplate } from './controlplane/hosted/types.ts';
import { k0smotronControlPlaneKind, k0smotronControlPlaneTemplateKind } from './controlplane/k0smotron/kinds.ts';
import type { K0smotronControlPlane, K0smotronControlPlaneTemplate } from './controlplane/k0smotron/types.ts';
import { kamajiControlPlaneKind, kamajiControlPlaneTemplateKind } from './controlplane/kamaji/kinds.ts';
import type { KamajiControlPlane, KamajiControlPlaneTemplate } from './controlplane/kamaji/types.ts';
import { kubeadmControlPlaneKind, kubeadmControlPlaneTemplateKind } from './controlplane/kinds.ts';
import { rke2ControlPlaneKind, rke2ControlPlaneTemplateKind } from './controlplane/rke2/kinds.ts';
import type { RKE2ControlPlane, RKE2ControlPlaneTemplate } from './controlplane/rke2/types.ts';
import type { KubeadmControlPlane, KubeadmControlPlaneTemplate } from './controlplane/types.ts';
import { gatewayClassKind, gatewayKind, referenceGrantKind, tlsRouteKind } from './gateway/kinds.ts';
import type { Gateway, GatewayClass, ReferenceGrant, TLSRoute } from './gateway/types.ts';
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
import { joinTokenRequestKind, k0smotronClusterKind } from './k0smotron/kinds.ts';
import type { JoinTokenRequest, K0smotronCluster } from './k0smotron/types.ts';
import { dataStoreKind, kubeconfigGeneratorKind, tenantControlPlaneKind } from './kamaji/kinds.ts';
import type { DataStore, KubeconfigGenerator, TenantControlPlane } from './kamaji/types.ts';
import { latticeClusterKind } from './lattice/kinds.ts';
import type { LatticeCluster } from './lattice/types.ts';
import { imageKind } from './orc/kinds.ts';
import type { Image } from './orc/types.ts';
import { extensionConfigKind } from './runtime/kinds.ts';
import type { ExtensionConfig } from './runtime/types.ts';

export { addonsGroup } from './addons/kinds.ts';
export type * from './addons/types.ts';
export { withFormerDefaults } from './bootstrap/former-defaults.ts';
export { bootstrapGroup } from './bootstrap/group.ts';
export type * from './bootstrap/k0s/types.ts';
export type * from './bootstrap/rke2/types.ts';
export type * from './bootstrap/types.ts';
export type * from './cluster/cluster-class-types.ts';
export * from './cluster/labels.ts';
export { definesHealthCheck, isAutoscaled, validateMachineGroup } from './cluster/machine-group.ts';
export { contractApiVersion } from './cluster/references.ts';
export type * from './cluster/types.ts';
export * from './cluster/version.ts';
export type * from './clusterctl/types.ts';
export * from './clusterstack/group.ts';
export * from './clusterstack/stack-id.ts';
export type * from './clusterstack/types.ts';
export * from './common/image-reference.ts';
export * from './common/k0s-version.ts';
export * from './conditions.ts';
export { controlPlaneGroup, restoreAnnotation } from './controlplane/group.ts';
export { defaultAuthorityDuration } from './controlplane/hosted/authority-duration.ts';
export type * from './controlplane/hosted/types.ts';
export { skipCoreDnsAnnotation, skipKubeProxyAnnotation } from './controlplane/image-tags.ts';
export type * from './controlplane/k0smotron/types.ts';
export type * from './controlplane/kamaji/types.ts';
export * from './controlplane/rke2/annotations.ts';
export type * from './controlplane/rke2/types.ts';
export type * from './controlplane/types.ts';
export { gatewayGroup } from './gateway/common-schema.ts';
export * from './gateway/reference-grant.ts';
export type * from './gateway/types.ts';
export { isUuid } from './infrastructure/alpha-values.ts';
export {
  begunUntilAnnotation,
  hasNoServer,
  isUnresolved,
  openPartsOf,
  ownerMarkAnnotation,
  wasMovedHere,
} from './infrastructure/corrections.ts';
export * from './infrastructure/group.ts';
export type * from './infrastructure/types.ts';
export { ipamGroup } from './ipam/kinds.ts';
export type * from './ipam/types.ts';
export * from './k0smotron/defragment-rule.ts';
export { k0smotronGroup } from './k0smotron/kinds.ts';
export type * from './k0smotron/types.ts';
export { firstMinorWithPolicies } from './kamaji/admission.ts';
export { defaultAdmissionPlugins } from './kamaji/component-schema.ts';
export { kamajiGroup } from './kamaji/kinds.ts';
export type * from './kamaji/types.ts';
export { conversionDataAnnotation } from './kind/conversion.ts';
export { coreTypeNameOf } from './kind/core-type.ts';
export * from './lattice/group.ts';
export { nodeLabelWay } from './lattice/node-labels.ts';
export * from './lattice/settings.ts';
export type * from './lattice/types.ts';
export * from './not-acted-on.ts';
export type * from './orc/types.ts';
export { injectCaAnnotation } from './runtime/admission.ts';
export * from './runtime/hooks.ts';
export { runtimeGroup } from './runtime/kinds.ts';
export type * from './runtime/types.ts';
export * from './well-known.ts';

/** Definitions of all own kinds, as the API server takes them. */
export const ownDefinitions: readonly ResourceDefinition[] = [
  clusterKind.definition,
  clusterClassKind.definition,
  machineKind.definition,
  machineSetKind.definition,
  machineDeploymentKind.definition,
  machineHealthCheckKind.definition,
  machineDrainRuleKind.definition,
  clusterResourceSetKind.definition,
  clusterResourceSetBindingKind.definition,
  kubeadmConfigKind.definition,
  kubeadmConfigTemplateKind.definition,
  kubeadmControlPlaneKind.definition,
  kubeadmControlPlaneTemplateKind.definition,
  rke2ConfigKind.definition,
  rke2ConfigTemplateKind.definition,
  rke2ControlPlaneKind.definition,
  rke2ControlPlaneTemplateKind.definition,
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
  extensionConfigKind.definition,
  k0smotronControlPlaneKind.definition,
  k0smotronControlPlaneTemplateKind.definition,
  k0sWorkerConfigKind.definition,
  k0sWorkerConfigTemplateKind.definition,
  k0smotronClusterKind.definition,
  joinTokenRequestKind.definition,
  kamajiControlPlaneKind.definition,
  kamajiControlPlaneTemplateKind.definition,
  tenantControlPlaneKind.definition,
  dataStoreKind.definition,
  kubeconfigGeneratorKind.definition,
  hostedControlPlaneKind.definition,
  hostedControlPlaneTemplateKind.definition,
  gatewayClassKind.definition,
  gatewayKind.definition,
  tlsRouteKind.definition,
  referenceGrantKind.definition,
  clusterStackKind.definition,
  clusterStackReleaseKind.definition,
  clusterAddonKind.definition,
  openStackClusterStackReleaseKind.definition,
  openStackClusterStackReleaseTemplateKind.definition,
  openStackNodeImageReleaseKind.definition,
  latticeClusterKind.definition,
];

// Resources for typed clients, in the hub version.
export const Clusters: Resource<Cluster> = clusterKind.resource;
export const ClusterClasses: Resource<ClusterClass> = clusterClassKind.resource;
export const Machines: Resource<Machine> = machineKind.resource;
export const MachineSets: Resource<MachineSet> = machineSetKind.resource;
export const MachineDeployments: Resource<MachineDeployment> = machineDeploymentKind.resource;
export const MachineHealthChecks: Resource<MachineHealthCheck> = machineHealthCheckKind.resource;
export const MachineDrainRules: Resource<MachineDrainRule> = machineDrainRuleKind.resource;
export const ClusterResourceSets: Resource<ClusterResourceSet> = clusterResourceSetKind.resource;
export const ClusterResourceSetBindings: Resource<ClusterResourceSetBinding> = clusterResourceSetBindingKind.resource;
export const KubeadmConfigs: Resource<KubeadmConfig> = kubeadmConfigKind.resource;
export const KubeadmConfigTemplates: Resource<KubeadmConfigTemplate> = kubeadmConfigTemplateKind.resource;
export const KubeadmControlPlanes: Resource<KubeadmControlPlane> = kubeadmControlPlaneKind.resource;
export const KubeadmControlPlaneTemplates: Resource<KubeadmControlPlaneTemplate> =
  kubeadmControlPlaneTemplateKind.resource;
export const RKE2Configs: Resource<RKE2Config> = rke2ConfigKind.resource;
export const RKE2ConfigTemplates: Resource<RKE2ConfigTemplate> = rke2ConfigTemplateKind.resource;
export const RKE2ControlPlanes: Resource<RKE2ControlPlane> = rke2ControlPlaneKind.resource;
export const RKE2ControlPlaneTemplates: Resource<RKE2ControlPlaneTemplate> = rke2ControlPlaneTemplateKind.resource;
export const OpenStackClusters: Resource<OpenStackCluster> = openStackClusterKind.resource;
export const OpenStackClusterTemplates: Resource<OpenStackClusterTemplate> = openStackClusterTemplateKind.resource;
export const OpenStackMachines: Resource<OpenStackMachine> = openStackMachineKind.resource;
export const OpenStackMachineTemplates: Resource<OpenStackMachineTemplate> = openStackMachineTemplateKind.resource;
export const OpenStackServers: Resource<OpenStackServer> = openStackServerKind.resource;
export const OpenStackFloatingIPPools: Resource<OpenStackFloatingIPPool> = openStackFloatingIPPoolKind.resource;
export const OpenStackClusterIdentities: Resource<OpenStackClusterIdentity> = openStackClusterIdentityKind.resource;
export const IPAddressClaims: Resource<IPAddressClaim> = ipAddressClaimKind.resource;
export const IPAddresses: Resource<IPAddress> = ipAddressKind.resource;
export const Images: Resource<Image> = imageKind.resource;
export const ExtensionConfigs: Resource<ExtensionConfig> = extensionConfigKind.resource;
export const Providers: Resource<Provider> = providerKind.resource;
export const K0smotronControlPlanes: Resource<K0smotronControlPlane> = k0smotronControlPlaneKind.resource;
export const K0smotronControlPlaneTemplates: Resource<K0smotronControlPlaneTemplate> =
  k0smotronControlPlaneTemplateKind.resource;
export const K0sWorkerConfigs: Resource<K0sWorkerConfig> = k0sWorkerConfigKind.resource;
export const K0sWorkerConfigTemplates: Resource<K0sWorkerConfigTemplate> = k0sWorkerConfigTemplateKind.resource;
/** `kmc`; not the Cluster of Cluster API */
export const K0smotronClusters: Resource<K0smotronCluster> = k0smotronClusterKind.resource;
export const JoinTokenRequests: Resource<JoinTokenRequest> = joinTokenRequestKind.resource;
export const KamajiControlPlanes: Resource<KamajiControlPlane> = kamajiControlPlaneKind.resource;
export const KamajiControlPlaneTemplates: Resource<KamajiControlPlaneTemplate> =
  kamajiControlPlaneTemplateKind.resource;
export const TenantControlPlanes: Resource<TenantControlPlane> = tenantControlPlaneKind.resource;
export const DataStores: Resource<DataStore> = dataStoreKind.resource;
export const KubeconfigGenerators: Resource<KubeconfigGenerator> = kubeconfigGeneratorKind.resource;
export const HostedControlPlanes: Resource<HostedControlPlane> = hostedControlPlaneKind.resource;
export const HostedControlPlaneTemplates: Resource<HostedControlPlaneTemplate> =
  hostedControlPlaneTemplateKind.resource;
export const GatewayClasses: Resource<GatewayClass> = gatewayClassKind.resource;
export const Gateways: Resource<Gateway> = gatewayKind.resource;
export const TlsRoutes: Resource<TLSRoute> = tlsRouteKind.resource;
export const ReferenceGrants: Resource<ReferenceGrant> = referenceGrantKind.resource;
export const ClusterStacks: Resource<ClusterStack> = clusterStackKind.resource;
export const ClusterStackReleases: Resource<ClusterStackRelease> = clusterStackReleaseKind.resource;
export const ClusterAddons: Resource<ClusterAddon> = clusterAddonKind.resource;
export const OpenStackClusterStackReleases: Resource<OpenStackClusterStackRelease> =
  openStackClusterStackReleaseKind.resource;
export const OpenStackClusterStackReleaseTemplates: Resource<OpenStackClusterStackReleaseTemplate> =
  openStackClusterStackReleaseTemplateKind.resource;
export const OpenStackNodeImageReleases: Resource<OpenStackNodeImageRelease> = openStackNodeImageReleaseKind.resource;
export const LatticeClusters: Resource<LatticeCluster> = latticeClusterKind.resource;
