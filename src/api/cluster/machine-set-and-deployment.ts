import { type FieldMapping, field, fields, type Mapping } from '../kind/mapping.ts';
import { type Field, int32, int64, intOrString, object, once, oneOf, time, type UntypedField } from '../kind/schema.ts';
import { conditionMappings, failureMappings, flag } from '../kind/values.ts';
import { machineDeploymentStrategy, strategyWithType } from './cluster-v1beta1.ts';
import {
  conditions,
  deletionOrder,
  deprecatedConditions,
  failureFields,
  labelSelector,
  paused,
  replicaVersions,
  rollout,
  text,
} from './common-schema.ts';
import { machineTemplateMapping } from './machine-mapping.ts';
import { machineTemplate, machineTemplateV1beta1 } from './machine-schema.ts';
import type { MachineDeploymentSpec, MachineDeploymentStatus, MachineSetSpec, MachineSetStatus } from './types.ts';

const sharedSpecFields = once(() => ({
  clusterName: text('Name of the Cluster the machines belong to.', 63).required(),
  replicas: int32('Desired number of machines.'),
  selector: labelSelector().describe('Labels of the machines; must match those of the template.').required(),
}));

const machineNaming = (minProperties?: number): Field<{ template?: string }> =>
  object(
    { template: text('Go template of the names; must contain {{ .random }}.', 256) },
    'How machines are named.',
    minProperties === undefined ? {} : { minProperties },
  );

const deletion = once(() => object({ order: deletionOrder() }, 'How machines are deleted.', { minProperties: 1 }));

export const machineSetSpec: () => Field<MachineSetSpec> = once(() =>
  object(
    {
      ...sharedSpecFields(),
      template: machineTemplate().required(),
      machineNaming: machineNaming(1),
      deletion: deletion(),
    },
    'Desired state.',
  ),
);

export const machineSetSpecV1beta1: () => UntypedField = once(() =>
  object(
    {
      ...sharedSpecFields(),
      template: machineTemplateV1beta1(),
      machineNamingStrategy: machineNaming(),
      deletePolicy: deletionOrder(),
      minReadySeconds: int32('How long a machine must be ready to count as available.'),
    },
    'Desired state.',
  ),
);

export const machineDeploymentSpec: () => Field<MachineDeploymentSpec> = once(() =>
  object(
    {
      ...sharedSpecFields(),
      rollout: rollout(),
      template: machineTemplate().required(),
      machineNaming: machineNaming(1),
      remediation: object(
        { maxInFlight: intOrString('How many machines may be remediated at once.') },
        'How unhealthy machines are replaced.',
        { minProperties: 1 },
      ),
      deletion: deletion(),
      paused: paused('the deployment'),
    },
    'Desired state.',
  ),
);

export const machineDeploymentSpecV1beta1: () => UntypedField = once(() => {
  const template = machineTemplateV1beta1();
  return object(
    {
      ...sharedSpecFields(),
      template: { schema: template.schema, isRequired: true },
      machineNamingStrategy: machineNaming(),
      rolloutAfter: time('Replace the machines once this time has passed.'),
      strategy: machineDeploymentStrategy(),
      minReadySeconds: int32('How long a machine must be ready to count as available.'),
      revisionHistoryLimit: int32('No longer used.'),
      progressDeadlineSeconds: int32('No longer used.'),
      paused: paused('the deployment'),
    },
    'Desired state.',
  );
});

const count = (description: string): Field<number> => int32(description);
const sharedStatusFields = once(() => ({
  selector: text('Selector of the machines as text, for the scale subresource.', 4096),
  replicas: count('Machines that exist.'),
  readyReplicas: count('Machines that are ready.'),
  availableReplicas: count('Machines that are available.'),
  versions: replicaVersions({ keyed: true, maxItems: 100 }),
}));
const observedGeneration = (minimum?: number): Field<number> =>
  int64('Generation of the spec that this status describes.', minimum === undefined ? {} : { minimum });
const phase = (): Field<'ScalingUp' | 'ScalingDown' | 'Running' | 'Failed' | 'Unknown'> =>
  oneOf(['ScalingUp', 'ScalingDown', 'Running', 'Failed', 'Unknown'], 'Phase of the deployment.');
const upToDateReplicas = (): Field<number> => count('Machines that match the spec.');

export const machineSetStatus: () => Field<MachineSetStatus> = once(() =>
  object(
    {
      ...sharedStatusFields(),
      conditions: conditions(32),
      upToDateReplicas: upToDateReplicas(),
      observedGeneration: observedGeneration(1),
      deprecated: object(
        {
          v1beta1: object(
            {
              conditions: deprecatedConditions(),
              ...failureFields,
              fullyLabeledReplicas: count('Machines with all labels of the template.'),
              readyReplicas: count('Machines with a ready Node.'),
              availableReplicas: count('Machines with a Node that has been ready long enough.'),
            },
            'Status in the form of v1beta1.',
          ),
        },
        'Kept for old clients.',
      ),
    },
    'Observed state.',
    { minProperties: 1 },
  ),
);

export const machineDeploymentStatus: () => Field<MachineDeploymentStatus> = once(() =>
  object(
    {
      ...sharedStatusFields(),
      conditions: conditions(32),
      upToDateReplicas: upToDateReplicas(),
      observedGeneration: observedGeneration(1),
      phase: phase(),
      deprecated: object(
        {
          v1beta1: object(
            {
              conditions: deprecatedConditions(),
              readyReplicas: count('Machines with a ready Node.'),
              availableReplicas: count('Machines with a Node that has been ready long enough.'),
              unavailableReplicas: count('Machines missing or not available.'),
              updatedReplicas: count('Machines that match the template.'),
            },
            'Status in the form of v1beta1.',
          ),
        },
        'Kept for old clients.',
      ),
    },
    'Observed state.',
    { minProperties: 1 },
  ),
);

const v1beta2Status = once(() =>
  object(
    {
      conditions: conditions(32),
      readyReplicas: count('Machines that are ready.'),
      availableReplicas: count('Machines that are available.'),
      upToDateReplicas: upToDateReplicas(),
    },
    'Status fields of v1beta2.',
  ),
);

export const machineSetStatusV1beta1: () => UntypedField = once(() =>
  object(
    {
      ...sharedStatusFields(),
      conditions: deprecatedConditions(),
      ...failureFields,
      fullyLabeledReplicas: count('Machines with all labels of the template.'),
      observedGeneration: observedGeneration(),
      v1beta2: v1beta2Status(),
    },
    'Observed state.',
  ),
);

export const machineDeploymentStatusV1beta1: () => UntypedField = once(() =>
  object(
    {
      ...sharedStatusFields(),
      conditions: deprecatedConditions(),
      updatedReplicas: count('Machines that match the template.'),
      unavailableReplicas: count('Machines missing or not available.'),
      observedGeneration: observedGeneration(),
      phase: phase(),
      v1beta2: v1beta2Status(),
    },
    'Observed state.',
  ),
);

/** v1beta2 moves the legacy counters and conditions to `deprecated` and uses their names for the new ones. */
const sharedStatusMappings: readonly FieldMapping[] = [
  ...conditionMappings,
  field('readyReplicas', 'deprecated.v1beta1.readyReplicas'),
  field('availableReplicas', 'deprecated.v1beta1.availableReplicas'),
  field('v1beta2.readyReplicas', 'readyReplicas'),
  field('v1beta2.availableReplicas', 'availableReplicas'),
  field('v1beta2.upToDateReplicas', 'upToDateReplicas'),
];

export const machineSetV1beta1: Mapping = fields(
  field(
    'spec',
    'spec',
    fields(
      field('template', 'template', machineTemplateMapping),
      field('minReadySeconds', 'template.spec.minReadySeconds'),
      field('machineNamingStrategy', 'machineNaming'),
      field('deletePolicy', 'deletion.order'),
    ),
  ),
  field(
    'status',
    'status',
    fields(
      ...sharedStatusMappings,
      ...failureMappings,
      field('fullyLabeledReplicas', 'deprecated.v1beta1.fullyLabeledReplicas'),
    ),
  ),
);

export const machineDeploymentV1beta1: Mapping = fields(
  field(
    'spec',
    'spec',
    fields(
      field('template', 'template', machineTemplateMapping),
      field('minReadySeconds', 'template.spec.minReadySeconds'),
      field('machineNamingStrategy', 'machineNaming'),
      field('rolloutAfter', 'rollout.after'),
      field('strategy', 'rollout.strategy', strategyWithType),
      field('strategy.rollingUpdate.deletePolicy', 'deletion.order'),
      field('strategy.remediation.maxInFlight', 'remediation.maxInFlight'),
      field('paused', 'paused', flag),
    ),
  ),
  field(
    'status',
    'status',
    fields(
      ...sharedStatusMappings,
      field('updatedReplicas', 'deprecated.v1beta1.updatedReplicas'),
      field('unavailableReplicas', 'deprecated.v1beta1.unavailableReplicas'),
    ),
  ),
);
