import type { ScalePaths } from '../../machinery/index.ts';

export const controlPlaneGroup = 'controlplane.cluster.x-k8s.io';

/** where every control plane has its replicas */
export const planeScale: ScalePaths = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
};
