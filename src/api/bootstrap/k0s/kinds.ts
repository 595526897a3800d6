import { contractLabels } from '../../kind/contract-labels.ts';
import { defineKind, type Kind } from '../../kind/define.ts';
import { bootstrapGroup } from '../group.ts';
import { k0sWorkerConfigStrategy, k0sWorkerConfigTemplateStrategy } from './admission.ts';
import {
  k0sWorkerConfigSpec,
  k0sWorkerConfigSpecV1beta1,
  k0sWorkerConfigStatus,
  k0sWorkerConfigStatusV1beta1,
  k0sWorkerConfigTemplateSpec,
  k0sWorkerConfigTemplateSpecV1beta1,
} from './schema.ts';
import type { K0sWorkerConfig, K0sWorkerConfigTemplate } from './types.ts';
import { k0sWorkerConfigTemplateV1beta1, k0sWorkerConfigV1beta1 } from './v1beta1.ts';

const labels = contractLabels('bootstrap-k0smotron');

export const k0sWorkerConfigKind: Kind<K0sWorkerConfig> = defineKind<K0sWorkerConfig>({
  group: bootstrapGroup,
  kind: 'K0sWorkerConfig',
  plural: 'k0sworkerconfigs',
  categories: [],
  description: 'Makes the user data with which a machine becomes a worker of k0s.',
  labels,
  strategy: k0sWorkerConfigStrategy,
  hub: { name: 'v1beta2', spec: k0sWorkerConfigSpec, status: k0sWorkerConfigStatus },
  old: [
    {
      name: 'v1beta1',
      deprecated: true,
      spec: k0sWorkerConfigSpecV1beta1,
      status: k0sWorkerConfigStatusV1beta1,
      mapping: k0sWorkerConfigV1beta1,
    },
  ],
});

export const k0sWorkerConfigTemplateKind: Kind<K0sWorkerConfigTemplate> = defineKind<K0sWorkerConfigTemplate>({
  group: bootstrapGroup,
  kind: 'K0sWorkerConfigTemplate',
  plural: 'k0sworkerconfigtemplates',
  categories: [],
  description: 'What the bootstrap configurations of like workers of k0s are made from.',
  labels,
  strategy: k0sWorkerConfigTemplateStrategy,
  hub: { name: 'v1beta2', spec: k0sWorkerConfigTemplateSpec },
  old: [
    {
      name: 'v1beta1',
      deprecated: true,
      spec: k0sWorkerConfigTemplateSpecV1beta1,
      mapping: k0sWorkerConfigTemplateV1beta1,
    },
  ],
});
