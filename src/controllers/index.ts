// Entry point of the controllers: one set-up function per area, and what the areas share.
export { setupAddonControllers } from './addons/index.ts';
export { setupBootstrapControllers } from './bootstrap/index.ts';
export { certificateControllers, certManagerGroup } from './certificates/index.ts';
export { findRevisions, rehearseWorkers, setupClusterControllers } from './cluster/index.ts';
export {
  adoptionProblems,
  appliedAnnotation,
  type ForeignPlane,
  hostedFinalizer,
  k0smotronFinalizer,
  k0smotronNames,
  kamajiFinalizer,
  keptSecrets,
  kubeadmProvider,
  type PlaneRehearsal,
  rehearsePlane,
  releaseProblems,
  rke2Provider,
  rolloutReasons,
  setupControlPlaneControllers,
} from './controlplane/index.ts';
export {
  type ClusterCost,
  clusterCosts,
  guidePrices,
  hoursPerMonth,
  type Prices,
  readPrices,
  showCosts,
} from './cost/index.ts';
export {
  auditFindings,
  type CloudResource,
  cloudInventory,
  type OwnersOnRecord,
  removeResources,
} from './infrastructure/audit/index.ts';
export {
  createLookupCache,
  createRehearsedClouds,
  type RehearsedClouds,
  rehearseInfrastructure,
  setupInfrastructureControllers,
  type UsedCredentials,
} from './infrastructure/index.ts';
export {
  type AgentDials,
  accessName,
  accessNamespace,
  type CellPlace,
  type ChildInstaller,
  imageAnnotation,
  isStockImage,
  latticeCellKey,
  latticeFinalizer,
  latticeManifestsPath,
  latticeParentConfigKey,
  managementAnnotation,
  type PreviewOptions,
  parentAnnotation,
  previewLattice,
  renewToken,
  setupLatticeControllers,
} from './lattice/index.ts';
export {
  type BuiltInHookHandler,
  type ConnectWorkload,
  cancelMove,
  clusterFinalizer,
  clusterId,
  clusterShares,
  connectOverHttp,
  createContractResolver,
  createExternalObjects,
  createHookCaller,
  createRehearsedObjects,
  createServedKinds,
  createWorkloadClusters,
  credentialSecretKey,
  credentialText,
  type ExternalObjects,
  type HookCaller,
  isHostedControlPlane,
  type MoveOptions,
  moveNamespace,
  partedSecrets,
  permittedWorkloads,
  planMove,
  type RehearsedObjects,
  titleOf,
  type WorkloadClusters,
  workloadConnection,
} from './shared/index.ts';
export {
  builtInSource,
  checkCluster as checkStackCluster,
  directorySource,
  type FetchChart,
  type ReleaseSource,
  registrySource,
  releaseInUse,
  releasePageSource,
  setupStackControllers,
  stackInUse,
} from './stacks/index.ts';
export { setupTopologyControllers, type TopologyAdmission, topologyAdmission } from './topology/index.ts';
export {
  concernedClusters,
  createOverlay,
  type PlannedObject,
  planTopology,
  suffixesOf,
  type TopologyPlan,
} from './topology/plan/index.ts';
export { setupRuntimeExtensions } from './topology/runtime/index.ts';
