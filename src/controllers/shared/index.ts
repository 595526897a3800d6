// Entry point of what all controllers share: names, conditions, ownership, provider objects, access to workload
// clusters.

export {
  clusterConfigurationDocument,
  initConfigurationDocument,
  joinConfigurationDocument,
  type KubeadmClusterFacts,
  type KubeadmDocument,
  UnsupportedKubernetesVersionError,
} from '../../hosting/index.ts';
export * from './apply-once.ts';
export * from './bootstrap-token.ts';
export * from './child-watches.ts';
export * from './clone-template.ts';
export * from './cloud-credentials.ts';
export * from './cloud-sessions.ts';
export * from './cloud-texts.ts';
export * from './cluster-certificates/index.ts';
export * from './cluster-changes.ts';
export * from './cluster-kubeconfig.ts';
export * from './cluster-shares.ts';
export * from './condition-merge.ts';
export * from './condition-mirror.ts';
export * from './condition-order.ts';
export * from './conditions.ts';
export * from './contract.ts';
export * from './contract-names.ts';
export * from './contract-resolver.ts';
export * from './external-objects.ts';
export * from './floating-ip-annotation.ts';
export * from './in-place/index.ts';
export * from './k0s-join-token.ts';
export * from './legacy-conditions.ts';
export * from './lifecycle-hooks.ts';
export * from './machine-aggregates.ts';
export * from './machine-texts.ts';
export * from './machines/index.ts';
export * from './move/index.ts';
export * from './names.ts';
export * from './node-startup.ts';
export * from './ownership.ts';
export * from './paused.ts';
export * from './pending-hooks.ts';
export * from './provider-id.ts';
export * from './reference-grants.ts';
export * from './rehearsal/objects.ts';
export * from './secrets.ts';
export * from './template-owner.ts';
export * from './watch-filter.ts';
export * from './workload/index.ts';
export * from './write-object.ts';
