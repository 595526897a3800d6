import type { ScalePaths } from '../../machinery/index.ts';

export const controlPlaneGroup = 'controlplane.cluster.x-k8s.io';

/** on a control plane: name of the backup or snapshot that it is restored from */
export const restoreAnnotation = 'controlplane.cluster.x-k8s.io/restore';

/** Scale paths of all control plane kinds. */
export const planeScale: ScalePaths = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
};
