import { contractLabels } from '../kind/contract-labels.ts';
import { defineKind, type Kind } from '../kind/define.ts';
import {
  ageColumn,
  booleanColumn,
  conditionColumn,
  countColumn,
  type PrinterColumn,
  textColumn,
  wide,
} from '../kind/printer.ts';
import { kubeadmControlPlaneStrategy, kubeadmControlPlaneTemplateStrategy } from './admission.ts';
import { kubeadmControlPlaneAlphas, kubeadmControlPlaneTemplateAlphas } from './alpha.ts';
import { controlPlaneGroup, planeScale } from './group.ts';
import {
  kubeadmControlPlaneSpec,
  kubeadmControlPlaneSpecV1beta1,
  kubeadmControlPlaneStatus,
  kubeadmControlPlaneStatusV1beta1,
  kubeadmControlPlaneTemplateSpec,
  kubeadmControlPlaneTemplateSpecV1beta1,
} from './schema.ts';
import type { KubeadmControlPlane, KubeadmControlPlaneTemplate } from './types.ts';
import { kubeadmControlPlaneTemplateV1beta1, kubeadmControlPlaneV1beta1 } from './v1beta1.ts';

const labels = contractLabels('control-plane-kubeadm');
const clusterColumn = textColumn('Cluster', ".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']");
const versionColumn = textColumn('Version', '.spec.version');
/** Columns of all control plane kinds that use machines. */
export const planeColumnsV1beta1: readonly PrinterColumn[] = [
  clusterColumn,
  booleanColumn('Initialized', '.status.initialized'),
  booleanColumn('API Server Available', '.status.ready'),
  countColumn('Desired', '.spec.replicas', wide),
  countColumn('Replicas', '.status.replicas'),
  countColumn('Ready', '.status.readyReplicas'),
  countColumn('Updated', '.status.updatedReplicas'),
  countColumn('Unavailable', '.status.unavailableReplicas'),
  ageColumn,
  versionColumn,
];
export const planeColumns: readonly PrinterColumn[] = [
  clusterColumn,
  conditionColumn('Available', 'Available'),
  countColumn('Desired', '.spec.replicas'),
  countColumn('Current', '.status.replicas'),
  countColumn('Ready', '.status.readyReplicas'),
  countColumn('Available', '.status.availableReplicas'),
  countColumn('Up-to-date', '.status.upToDateReplicas'),
  conditionColumn('Paused', 'Paused', wide),
  booleanColumn('Initialized', '.status.initialization.controlPlaneInitialized'),
  ageColumn,
  versionColumn,
];

export const kubeadmControlPlaneKind: Kind<KubeadmControlPlane> = defineKind<KubeadmControlPlane>({
  group: controlPlaneGroup,
  kind: 'KubeadmControlPlane',
  plural: 'kubeadmcontrolplanes',
  shortNames: ['kcp'],
  description: 'A control plane on its own machines, created with kubeadm.',
  labels,
  strategy: kubeadmControlPlaneStrategy,
  hub: {
    name: 'v1beta2',
    spec: kubeadmControlPlaneSpec,
    status: kubeadmControlPlaneStatus,
    specRequired: true,
    scale: planeScale,
    columns: planeColumns,
  },
  old: [
    {
      name: 'v1beta1',
      deprecated: true,
      spec: kubeadmControlPlaneSpecV1beta1,
      status: kubeadmControlPlaneStatusV1beta1,
      mapping: kubeadmControlPlaneV1beta1,
      scale: planeScale,
      columns: planeColumnsV1beta1,
    },
    ...kubeadmControlPlaneAlphas.map((version) => ({ ...version, scale: planeScale, columns: planeColumnsV1beta1 })),
  ],
});

export const kubeadmControlPlaneTemplateKind: Kind<KubeadmControlPlaneTemplate> =
  defineKind<KubeadmControlPlaneTemplate>({
    group: controlPlaneGroup,
    kind: 'KubeadmControlPlaneTemplate',
    plural: 'kubeadmcontrolplanetemplates',
    description: 'What the control planes of a class are made from.',
    labels,
    strategy: kubeadmControlPlaneTemplateStrategy,
    hub: {
      name: 'v1beta2',
      spec: kubeadmControlPlaneTemplateSpec,
      hasStatus: false,
      columns: [textColumn('ClusterClass', '.metadata.ownerReferences[?(@.kind=="ClusterClass")].name'), ageColumn],
    },
    old: [
      {
        name: 'v1beta1',
        deprecated: true,
        spec: kubeadmControlPlaneTemplateSpecV1beta1,
        hasStatus: false,
        mapping: kubeadmControlPlaneTemplateV1beta1,
        columns: [ageColumn],
      },
      ...kubeadmControlPlaneTemplateAlphas.map((version) => ({ ...version, columns: [ageColumn] })),
    ],
  });
