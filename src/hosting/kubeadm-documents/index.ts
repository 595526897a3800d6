export * from './api-version.ts';
export {
  clusterConfigurationDocument,
  initConfigurationDocument,
  joinConfigurationDocument,
  type KubeadmClusterFacts,
  type KubeadmDocument,
} from './documents.ts';
