// The door of the controllers room: one set-up function per area adds its controllers to a manager, and what areas share.
export { setupBootstrapControllers } from './bootstrap/index.ts';
export { setupClusterControllers } from './cluster/index.ts';
export { setupControlPlaneControllers } from './controlplane/index.ts';
export { setupInfrastructureControllers } from './infrastructure/index.ts';
export {
  type ConnectWorkload,
  connectOverHttp,
  createContractResolver,
  createExternalObjects,
  createWorkloadClusters,
  type ExternalObjects,
  type WorkloadClusters,
} from './shared/index.ts';
