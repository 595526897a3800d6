import type { Toleration } from '../../api/index.ts';

/**
 * Tolerations of add-ons in a cluster without control plane nodes. New nodes are tainted until a cloud controller
 * manager runs, which itself needs DNS and a connection to the API.
 */
export const addonTolerations: readonly Toleration[] = [
  { key: 'CriticalAddonsOnly', operator: 'Exists' },
  { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' },
  { key: 'node.cloudprovider.kubernetes.io/uninitialized', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.cluster.x-k8s.io/uninitialized', operator: 'Exists', effect: 'NoSchedule' },
];
