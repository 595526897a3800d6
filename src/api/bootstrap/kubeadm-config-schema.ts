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
  failureReason: text('Reason of a terminal failure of the object.', 256),
  failureMessage: text('Message about a terminal failure of the object.', 10240),
});
const dataSecretName = (): Field<string> => text('Secret with the user data.', 253);

export const kubeadmConfigStatus: () => Field<KubeadmConfigStatus> = once(() =>
  object(
    {
      conditions: conditions(32),
      initialization: object(
        { dataSecretCreated: boolean('True once the user data has been created; never becomes false again.') },
        'Progress of the first provisioning.',
        { minProperties: 1 },
      ),
      dataSecretName: dataSecretName(),
      observedGeneration: int64('Generation of the spec that this status describes.', { minimum: 1 }),
      deprecated: object(
        {
          v1beta1: object({ conditions: deprecatedConditions(), ...failureFields() }, 'Status in the form of v1beta1.'),
        },
        'Kept for old clients.',
      ),
    },
    'Observed state.',
    { minProperties: 1 },
  ),
);

export const kubeadmConfigStatusV1beta1: () => UntypedField = once(() =>
  object(
    {
      conditions: deprecatedConditions(),
      ready: boolean('True once the user data has been created.'),
      dataSecretName: dataSecretName(),
      ...failureFields(),
      observedGeneration: int64('Generation of the spec that this status describes.'),
      v1beta2: object({ conditions: conditions(32) }, 'Status fields of v1beta2.'),
    },
    'Observed state.',
  ),
);

const templateDescription = 'Template of the configurations.';

export const kubeadmConfigTemplateSpec: () => Field<KubeadmConfigTemplateSpec> = once(() =>
  object(
    {
      template: object({ metadata: templateMetadata(1), spec: kubeadmConfigSpec() }, templateDescription, {
        minProperties: 1,
      }).required(),
    },
    'Desired state.',
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
    'Desired state.',
  ),
);
