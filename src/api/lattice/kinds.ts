import { defineKind, type Kind } from '../kind/define.ts';
import { ageColumn, countColumn, textColumn, wide } from '../kind/printer.ts';
import { latticeClusterStrategy } from './admission.ts';
import { latticeGroup } from './group.ts';
import { latticeClusterSpec, latticeClusterStatus } from './schema.ts';
import type { LatticeCluster } from './types.ts';

export const latticeClusterKind: Kind<LatticeCluster> = defineKind<LatticeCluster>({
  group: latticeGroup,
  kind: 'LatticeCluster',
  plural: 'latticeclusters',
  shortNames: ['lc'],
  categories: [],
  namespaced: false,
  description: 'A whole cluster in one object: control plane, pools of workers and add-ons.',
  strategy: latticeClusterStrategy,
  hub: {
    name: 'v1alpha1',
    spec: latticeClusterSpec,
    status: latticeClusterStatus,
    specRequired: true,
    columns: [
      textColumn('Phase', '.status.phase'),
      textColumn('Version', '.spec.provider.kubernetes.version'),
      textColumn('Provider', '.spec.providerRef'),
      countColumn('Control Plane', '.status.readyControlPlane'),
      countColumn('Workers', '.status.readyWorkers'),
      textColumn('Endpoint', '.status.endpoint', wide),
      ageColumn,
      textColumn('Message', '.status.message', wide),
    ],
  },
});
