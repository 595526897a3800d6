import { checkLabelValue } from '../../machinery/index.ts';

export const clusterGroup = 'cluster.x-k8s.io';
export const clusterNameLabel = 'cluster.x-k8s.io/cluster-name';
export const controlPlaneLabel = 'cluster.x-k8s.io/control-plane';
export const deploymentNameLabel = 'cluster.x-k8s.io/deployment-name';
export const setNameLabel = 'cluster.x-k8s.io/set-name';
export const poolNameLabel = 'cluster.x-k8s.io/pool-name';
export const autoscalerMinSizeAnnotation = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size';
export const autoscalerMaxSizeAnnotation = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size';
export const skipPreflightChecksAnnotation = 'machineset.cluster.x-k8s.io/skip-preflight-checks';
export const upgradeConcurrencyAnnotation = 'topology.cluster.x-k8s.io/upgrade-concurrency';
export const topologyOwnedLabel = 'topology.cluster.x-k8s.io/owned';
export const topologyDeploymentNameLabel = 'topology.cluster.x-k8s.io/deployment-name';
export const deferUpgradeAnnotation = 'topology.cluster.x-k8s.io/defer-upgrade';
export const holdUpgradeSequenceAnnotation = 'topology.cluster.x-k8s.io/hold-upgrade-sequence';
export const upgradeStepAnnotation = 'topology.internal.cluster.x-k8s.io/upgrade-step';
export const beforeUpgradeHookPrefix = 'before-upgrade.hook.cluster.cluster.x-k8s.io';
/** on a ClusterClass: other namespaces that may use it, `*` for all namespaces */
export const offeredToAnnotation = 'topology.capstan.dev/offered-to';
/** on a ClusterClass: name of the variable that sets the replicas of the control plane */
export const replicasVariableAnnotation = 'topology.capstan.dev/control-plane-replicas-variable';
export const topologyDryRunAnnotation = 'topology.cluster.x-k8s.io/dry-run';
export const unsafeClassNameAnnotation = 'unsafe.topology.cluster.x-k8s.io/disable-update-class-name-check';
export const unsafeVersionAnnotation = 'unsafe.topology.cluster.x-k8s.io/disable-update-version-check';

/** Returns a name as label value. Too long names are replaced by the hash that upstream uses (32 bit FNV-1a). */
export function labelValueOf(name: string): string {
  if (checkLabelValue(name).length === 0) return name;
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash ^ byte, 0x01000193);
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, hash >>> 0);
  return `hash_${Buffer.from(bytes).toString('base64url')}_z`;
}
