import type { ScalePaths } from '../../machinery/index.ts';

export const controlPlaneGroup = 'controlplane.cluster.x-k8s.io';

/** Scale paths of all control plane kinds. */
export const planeScale: ScalePaths = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
};
