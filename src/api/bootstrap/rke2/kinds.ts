import { contractLabels } from '../../kind/contract-labels.ts';
import { defineKind, type Kind } from '../../kind/define.ts';
import { ageColumn, conditionColumn, textColumn, wide } from '../../kind/printer.ts';
import { bootstrapGroup } from '../group.ts';
import { rke2ConfigStrategy, rke2ConfigTemplateStrategy } from './admission.ts';
import { rke2ConfigSpec, rke2ConfigStatus, rke2ConfigStatusV1beta1, rke2ConfigTemplateSpec } from './schema.ts';
import type { RKE2Config, RKE2ConfigTemplate } from './types.ts';
import { rke2ConfigTemplateV1beta1, rke2ConfigV1beta1 } from './v1beta1.ts';

const labels = contractLabels('bootstrap-rke2');
const clusterColumn = textColumn('Cluster', ".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']");

export const rke2ConfigKind: Kind<RKE2Config> = defineKind<RKE2Config>({
  group: bootstrapGroup,
  kind: 'RKE2Config',
  plural: 'rke2configs',
  description: 'Makes the user data with which a machine becomes a Node through rke2.',
  labels,
  strategy: rke2ConfigStrategy,
  hub: {
    name: 'v1beta2',
    spec: rke2ConfigSpec,
    status: rke2ConfigStatus,
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
      spec: rke2ConfigSpec,
      status: rke2ConfigStatusV1beta1,
      mapping: rke2ConfigV1beta1,
      columns: [clusterColumn, ageColumn],
    },
  ],
});

export const rke2ConfigTemplateKind: Kind<RKE2ConfigTemplate> = defineKind<RKE2ConfigTemplate>({
  group: bootstrapGroup,
  kind: 'RKE2ConfigTemplate',
  plural: 'rke2configtemplates',
  description: 'What the bootstrap configurations of like machines of rke2 are made from.',
  labels,
  strategy: rke2ConfigTemplateStrategy,
  hub: { name: 'v1beta2', spec: rke2ConfigTemplateSpec, hasStatus: false, columns: [ageColumn] },
  old: [
    {
      name: 'v1beta1',
      deprecated: true,
      spec: rke2ConfigTemplateSpec,
      hasStatus: false,
      mapping: rke2ConfigTemplateV1beta1,
      columns: [ageColumn],
    },
  ],
});
