import { k0smotronClusterSpec, k0smotronClusterSpecV1beta1 } from '../../k0smotron/schema.ts';
import { contractLabels } from '../../kind/contract-labels.ts';
import { defineKind, type Kind } from '../../kind/define.ts';
import { ageColumn, booleanColumn, countColumn, textColumn, wide } from '../../kind/printer.ts';
import { controlPlaneGroup, planeScale } from '../group.ts';
import { k0smotronControlPlaneStrategy, k0smotronControlPlaneTemplateStrategy } from './admission.ts';
import {
  k0smotronControlPlaneStatus,
  k0smotronControlPlaneStatusV1beta1,
  k0smotronControlPlaneTemplateSpec,
  k0smotronControlPlaneTemplateSpecV1beta1,
} from './schema.ts';
import type { K0smotronControlPlane, K0smotronControlPlaneTemplate } from './types.ts';
import { k0smotronControlPlaneTemplateV1beta1, k0smotronControlPlaneV1beta1 } from './v1beta1.ts';

const labels = contractLabels('control-plane-k0smotron');
const clusterColumn = textColumn('Cluster', ".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']");
const versionColumn = textColumn('Version', '.spec.version');
const countColumns = [
  countColumn('Desired', '.spec.replicas', wide),
  countColumn('Replicas', '.status.replicas'),
  countColumn('Ready', '.status.readyReplicas'),
];

export const k0smotronControlPlaneKind: Kind<K0smotronControlPlane> = defineKind<K0smotronControlPlane>({
  group: controlPlaneGroup,
  kind: 'K0smotronControlPlane',
  plural: 'k0smotroncontrolplanes',
  categories: [],
  description: 'A control plane of k0s in pods of the management cluster.',
  labels,
  strategy: k0smotronControlPlaneStrategy,
  hub: {
    name: 'v1beta2',
    spec: k0smotronClusterSpec,
    status: k0smotronControlPlaneStatus,
    scale: planeScale,
    columns: [
      clusterColumn,
      ...countColumns,
      countColumn('UpToDate', '.status.upToDateReplicas'),
      countColumn('Available', '.status.availableReplicas'),
      ageColumn,
      versionColumn,
    ],
  },
  old: [
    {
      name: 'v1beta1',
      spec: k0smotronClusterSpecV1beta1,
      status: k0smotronControlPlaneStatusV1beta1,
      mapping: k0smotronControlPlaneV1beta1,
      scale: planeScale,
      columns: [
        clusterColumn,
        booleanColumn('API Server Available', '.status.ready'),
        ...countColumns,
        countColumn('Updated', '.status.updatedReplicas'),
        countColumn('Unavailable', '.status.unavailableReplicas'),
        ageColumn,
        versionColumn,
      ],
    },
  ],
});

export const k0smotronControlPlaneTemplateKind: Kind<K0smotronControlPlaneTemplate> =
  defineKind<K0smotronControlPlaneTemplate>({
    group: controlPlaneGroup,
    kind: 'K0smotronControlPlaneTemplate',
    plural: 'k0smotroncontrolplanetemplates',
    categories: [],
    description: 'What the control planes of a class are made from.',
    labels,
    strategy: k0smotronControlPlaneTemplateStrategy,
    hub: { name: 'v1beta2', spec: k0smotronControlPlaneTemplateSpec },
    old: [
      {
        name: 'v1beta1',
        spec: k0smotronControlPlaneTemplateSpecV1beta1,
        mapping: k0smotronControlPlaneTemplateV1beta1,
      },
    ],
  });
