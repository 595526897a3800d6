import { conditions, deprecatedConditions, templateMetadata } from '../cluster/common-schema.ts';
import { boolean, type Field, int64, object, once, type UntypedField } from '../kind/schema.ts';
import { clusterConfiguration, clusterConfigurationV1beta1 } from './cluster-configuration-schema.ts';
import { some, text } from './common-schema.ts';
import {
  initConfiguration,
  initConfigurationV1beta1,
  joinConfiguration,
  joinConfigurationV1beta1,
} from './init-and-join-schema.ts';
import { machineContentFields } from './machine-content-schema.ts';
import type { KubeadmConfigSpec, KubeadmConfigStatus, KubeadmConfigTemplateSpec } from './types.ts';

const description = 'How a machine becomes a Node.';

export const kubeadmConfigSpec: () => Field<KubeadmConfigSpec> = once(() =>
  some(
    'v1beta2',
    {
      clusterConfiguration: clusterConfiguration(),
      initConfiguration: initConfiguration(),
      joinConfiguration: joinConfiguration(),
      ...machineContentFields('v1beta2'),
    },
    description,
  ),
);

export const kubeadmConfigSpecV1beta1: () => UntypedField = once(() =>
  object(
    {
      clusterConfiguration: clusterConfigurationV1beta1(),
      initConfiguration: initConfigurationV1beta1(),
      joinConfiguration: joinConfigurationV1beta1(),
      ...machineContentFields('v1beta1'),
      useExperimentalRetryJoin: boolean('No longer used.'),
    },
    description,
  ),
);

const failureFields = () => ({
  failureReason: text('Why the object cannot be helped any more, as one word.', 256),
  failureMessage: text('Why the object cannot be helped any more, as a sentence.', 10240),
});
const dataSecretName = (): Field<string> => text('Secret with the user data.', 253);

export const kubeadmConfigStatus: () => Field<KubeadmConfigStatus> = once(() =>
  object(
    {
      conditions: conditions(32),
      initialization: object(
        { dataSecretCreated: boolean('True once the user data has been made; never goes back.') },
        'What of the first provisioning is done.',
        { minProperties: 1 },
      ),
      dataSecretName: dataSecretName(),
      observedGeneration: int64('Generation of the spec this status is about.', { minimum: 1 }),
      deprecated: object(
        {
          v1beta1: object({ conditions: deprecatedConditions(), ...failureFields() }, 'What clients of v1beta1 read.'),
        },
        'Kept for old clients.',
      ),
    },
    'What is there.',
    { minProperties: 1 },
  ),
);

export const kubeadmConfigStatusV1beta1: () => UntypedField = once(() =>
  object(
    {
      conditions: deprecatedConditions(),
      ready: boolean('True once the user data has been made.'),
      dataSecretName: dataSecretName(),
      ...failureFields(),
      observedGeneration: int64('Generation of the spec this status is about.'),
      v1beta2: object({ conditions: conditions(32) }, 'What v1beta2 has in its status.'),
    },
    'What is there.',
  ),
);

const templateDescription = 'What the configurations are made from.';

export const kubeadmConfigTemplateSpec: () => Field<KubeadmConfigTemplateSpec> = once(() =>
  object(
    {
      template: object({ metadata: templateMetadata(1), spec: kubeadmConfigSpec() }, templateDescription, {
        minProperties: 1,
      }).required(),
    },
    'What is wanted.',
  ),
);

export const kubeadmConfigTemplateSpecV1beta1: () => UntypedField = once(() =>
  object(
    {
      template: object(
        { metadata: templateMetadata(), spec: kubeadmConfigSpecV1beta1() },
        templateDescription,
      ).required(),
    },
    'What is wanted.',
  ),
);
