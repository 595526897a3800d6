import type { Schema } from '../../machinery/index.ts';
import { type Alpha, kubeadmConfigSpecChanges } from '../bootstrap/alpha.ts';
import { objectReference } from '../cluster/common-schema.ts';
import type { OldVersionSource } from '../kind/define.ts';
import { lenient } from '../kind/lenient.ts';
import { chain, field, fields, type Mapping } from '../kind/mapping.ts';
import { once } from '../kind/schema.ts';
import {
  kubeadmControlPlaneSpecV1beta1,
  kubeadmControlPlaneStatusV1beta1,
  kubeadmControlPlaneTemplateSpecV1beta1,
} from './schema.ts';
import { kubeadmControlPlaneTemplateV1beta1, kubeadmControlPlaneV1beta1 } from './v1beta1.ts';

type AlphaSource = Pick<OldVersionSource, 'name' | 'deprecated' | 'spec' | 'status' | 'mapping' | 'hasStatus'>;

const text: Schema = { type: 'string' };
const infrastructureReference = once(() => lenient(objectReference('Template of the infrastructure.')).schema);

const specNews: readonly string[] = [
  'rolloutBefore',
  'remediationStrategy',
  'machineNamingStrategy',
  'machineTemplate.readinessGates',
  'machineTemplate.taints',
  'machineTemplate.nodeVolumeDetachTimeout',
  'machineTemplate.nodeDeletionTimeout',
];
const statusNews: readonly string[] = ['v1beta2', 'versions', 'lastRemediation'];

function changes(alpha: Alpha): { without: readonly string[]; adding: Readonly<Record<string, Schema>> } {
  return kubeadmConfigSpecChanges(alpha, 'kubeadmConfigSpec.');
}

/** v1alpha3 has the machine fields directly in the spec, and another name for `rolloutAfter`. */
const v1alpha3: Mapping = fields(
  field(
    'spec',
    'spec',
    fields(
      field('infrastructureTemplate', 'machineTemplate.infrastructureRef'),
      field('nodeDrainTimeout', 'machineTemplate.nodeDrainTimeout'),
      field('upgradeAfter', 'rolloutAfter'),
    ),
  ),
);

export const kubeadmControlPlaneAlphas: readonly AlphaSource[] = [
  {
    name: 'v1alpha4',
    deprecated: true,
    spec: once(() => {
      const { without, adding } = changes('v1alpha4');
      return lenient(kubeadmControlPlaneSpecV1beta1(), { without: [...without, ...specNews], adding });
    }),
    status: once(() => lenient(kubeadmControlPlaneStatusV1beta1(), { without: statusNews })),
    mapping: kubeadmControlPlaneV1beta1,
  },
  {
    name: 'v1alpha3',
    deprecated: true,
    spec: once(() => {
      const { without, adding } = changes('v1alpha3');
      return lenient(kubeadmControlPlaneSpecV1beta1(), {
        without: [...without, ...specNews, 'machineTemplate', 'rolloutAfter'],
        adding: {
          ...adding,
          infrastructureTemplate: infrastructureReference(),
          nodeDrainTimeout: text,
          upgradeAfter: { type: 'string', format: 'date-time' },
        },
      });
    }),
    status: once(() => lenient(kubeadmControlPlaneStatusV1beta1(), { without: [...statusNews, 'version'] })),
    mapping: chain(v1alpha3, kubeadmControlPlaneV1beta1),
  },
];

/**
 * The template of this version holds a whole control plane spec. Fields that a class cannot have are kept in the
 * annotation.
 */
export const kubeadmControlPlaneTemplateAlphas: readonly AlphaSource[] = [
  {
    name: 'v1alpha4',
    deprecated: true,
    hasStatus: false,
    spec: once(() => {
      const { without, adding } = kubeadmConfigSpecChanges('v1alpha4', 'template.spec.kubeadmConfigSpec.');
      return lenient(kubeadmControlPlaneTemplateSpecV1beta1(), {
        without: [...without, 'template.metadata', ...specNews.map((name) => `template.spec.${name}`)],
        adding: {
          ...adding,
          'template.spec.replicas': { type: 'integer', format: 'int32' },
          'template.spec.version': text,
          'template.spec.machineTemplate.infrastructureRef': infrastructureReference(),
        },
      });
    }),
    mapping: kubeadmControlPlaneTemplateV1beta1,
  },
];
