import { field, fields, type Mapping } from '../kind/mapping.ts';
import { conditionMappings, failureMappings, flag } from '../kind/values.ts';
import { nodeTimeoutMappings } from './cluster-v1beta1.ts';
import { nodeReference, reference } from './references.ts';

export const machineSpecMapping: Mapping = fields(
  field('bootstrap', 'bootstrap', fields(field('configRef', 'configRef', reference))),
  field('infrastructureRef', 'infrastructureRef', reference),
  ...nodeTimeoutMappings,
);

export const machineTemplateMapping: Mapping = fields(field('spec', 'spec', machineSpecMapping));

/** v1beta1 has no phase for in-place updates; it shows such machines as Running. */
const phase: Mapping = {
  up: (value) => value,
  down: (value) => (value === 'Updating' ? 'Running' : value),
};

export const machineV1beta1: Mapping = fields(
  field('spec', 'spec', machineSpecMapping),
  field(
    'status',
    'status',
    fields(
      ...conditionMappings,
      ...failureMappings,
      field('bootstrapReady', 'initialization.bootstrapDataSecretCreated', flag),
      field('infrastructureReady', 'initialization.infrastructureProvisioned', flag),
      field('nodeRef', 'nodeRef', nodeReference),
      field('phase', 'phase', phase),
    ),
  ),
);
