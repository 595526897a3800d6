import { contractLabels } from '../kind/contract-labels.ts';
import { defineKind, type Kind } from '../kind/define.ts';
import { ageColumn, conditionColumn, textColumn, wide } from '../kind/printer.ts';
import { kubeadmConfigStrategy, kubeadmConfigTemplateStrategy } from './admission.ts';
import { kubeadmConfigAlphas, kubeadmConfigTemplateAlphas } from './alpha.ts';
import { bootstrapGroup } from './group.ts';
import {
  kubeadmConfigSpec,
  kubeadmConfigSpecV1beta1,
  kubeadmConfigStatus,
  kubeadmConfigStatusV1beta1,
  kubeadmConfigTemplateSpec,
  kubeadmConfigTemplateSpecV1beta1,
} from './kubeadm-config-schema.ts';
import type { KubeadmConfig, KubeadmConfigTemplate } from './types.ts';
import { kubeadmConfigTemplateV1beta1, kubeadmConfigV1beta1 } from './v1beta1.ts';

const labels = contractLabels('bootstrap-kubeadm');
const clusterColumn = textColumn('Cluster', ".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']");
const columnsV1beta1 = [clusterColumn, ageColumn];

export const kubeadmConfigKind: Kind<KubeadmConfig> = defineKind<KubeadmConfig>({
  group: bootstrapGroup,
  kind: 'KubeadmConfig',
  plural: 'kubeadmconfigs',
  description: 'Makes the user data with which a machine becomes a Node through kubeadm.',
  labels,
  strategy: kubeadmConfigStrategy,
  hub: {
    name: 'v1beta2',
    spec: kubeadmConfigSpec,
    status: kubeadmConfigStatus,
    columns: [
      clusterColumn,
      conditionColumn('Paused', 'Paused', wide),
      textColumn('Data secret created', '.status.initialization.dataSecretCreated'),
      ageColumn,
    ],
  },
  old: [
    {
      name: 'v1beta1',
      deprecated: true,
      spec: kubeadmConfigSpecV1beta1,
      status: kubeadmConfigStatusV1beta1,
      mapping: kubeadmConfigV1beta1,
      columns: columnsV1beta1,
    },
    ...kubeadmConfigAlphas.map((version) => ({ ...version, columns: columnsV1beta1 })),
  ],
});

const ownerColumn = (kind: string): ReturnType<typeof textColumn> =>
  textColumn(kind, `.metadata.ownerReferences[?(@.kind=="${kind}")].name`);

export const kubeadmConfigTemplateKind: Kind<KubeadmConfigTemplate> = defineKind<KubeadmConfigTemplate>({
  group: bootstrapGroup,
  kind: 'KubeadmConfigTemplate',
  plural: 'kubeadmconfigtemplates',
  description: 'What the bootstrap configurations of like machines are made from.',
  labels,
  strategy: kubeadmConfigTemplateStrategy,
  hub: {
    name: 'v1beta2',
    spec: kubeadmConfigTemplateSpec,
    hasStatus: false,
    columns: [ownerColumn('ClusterClass'), ownerColumn('Cluster'), ageColumn],
  },
  old: [
    {
      name: 'v1beta1',
      deprecated: true,
      spec: kubeadmConfigTemplateSpecV1beta1,
      hasStatus: false,
      mapping: kubeadmConfigTemplateV1beta1,
      columns: [ageColumn],
    },
    ...kubeadmConfigTemplateAlphas.map((version) => ({ ...version, columns: [ageColumn] })),
  ],
});
