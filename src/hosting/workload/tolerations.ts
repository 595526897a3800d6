import type { Toleration } from '../../api/index.ts';

/**
 * What add-ons of a cluster without control plane nodes must put up with: every node is new at first, and it stays so until a
 * cloud controller has come, which needs names resolved and the way to the API open.
 */
export const addonTolerations: readonly Toleration[] = [
  { key: 'CriticalAddonsOnly', operator: 'Exists' },
  { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' },
  { key: 'node.cloudprovider.kubernetes.io/uninitialized', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.cluster.x-k8s.io/uninitialized', operator: 'Exists', effect: 'NoSchedule' },
];
