import { contractLabels } from '../kind/contract-labels.ts';
import { defineKind, type Kind } from '../kind/define.ts';
import { lenient } from '../kind/lenient.ts';
import { ageColumn, conditionColumn, wide } from '../kind/printer.ts';
import { once } from '../kind/schema.ts';
import { clusterClassSpec, clusterClassStatus } from './cluster-class-schema.ts';
import type { ClusterClass } from './cluster-class-types.ts';
import { clusterClassSpecV1beta1, clusterClassStatusV1beta1, clusterClassV1beta1 } from './cluster-class-v1beta1.ts';
import { clusterGroup } from './labels.ts';

/** Fields that v1beta1 added to the first version of ClusterClass. */
const news = [
  'availabilityGates',
  'infrastructureNamingStrategy',
  'variables',
  'patches',
  'upgrade',
  'kubernetesVersions',
  'workers.machinePools',
  ...[
    'machineHealthCheck',
    'namingStrategy',
    'readinessGates',
    'taints',
    'nodeDrainTimeout',
    'nodeVolumeDetachTimeout',
    'nodeDeletionTimeout',
  ].flatMap((name) => [`controlPlane.${name}`, `workers.machineDeployments.${name}`]),
  ...['failureDomain', 'minReadySeconds', 'strategy'].map((name) => `workers.machineDeployments.${name}`),
];

export const clusterClassKind: Kind<ClusterClass> = defineKind<ClusterClass>({
  group: clusterGroup,
  kind: 'ClusterClass',
  plural: 'clusterclasses',
  shortNames: ['cc'],
  description: 'Describes a kind of cluster once: templates, variables and patches that Clusters are made from.',
  labels: contractLabels('cluster-api'),
  hub: {
    name: 'v1beta2',
    spec: clusterClassSpec,
    status: clusterClassStatus,
    specRequired: true,
    columns: [
      conditionColumn('Paused', 'Paused', wide),
      conditionColumn('Variables Ready', 'VariablesReady'),
      ageColumn,
    ],
  },
  old: [
    {
      name: 'v1beta1',
      deprecated: true,
      spec: clusterClassSpecV1beta1,
      status: clusterClassStatusV1beta1,
      mapping: clusterClassV1beta1,
      columns: [ageColumn],
    },
    {
      name: 'v1alpha4',
      deprecated: true,
      spec: once(() => lenient(clusterClassSpecV1beta1(), { without: news })),
      mapping: clusterClassV1beta1,
      columns: [ageColumn],
    },
  ],
});
