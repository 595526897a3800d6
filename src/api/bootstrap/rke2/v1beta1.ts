import { asIs, field, fields, type Mapping } from '../../kind/mapping.ts';
import { conditionMappings, failureMappings, flag } from '../../kind/values.ts';

/** The spec is the same in both versions. */
export const rke2ConfigV1beta1: Mapping = fields(
  field(
    'status',
    'status',
    fields(...conditionMappings, ...failureMappings, field('ready', 'initialization.dataSecretCreated', flag)),
  ),
);

export const rke2ConfigTemplateV1beta1: Mapping = asIs;
