import { isJsonObject } from '../../machinery/index.ts';
import { each, type FieldMapping, field, fields, type Mapping } from '../kind/mapping.ts';
import {
  anyValue,
  atomicList,
  boolean,
  type Field,
  type Fields,
  int32,
  int64,
  intOrString,
  list,
  listKeyedBy,
  mapOf,
  object,
  once,
  oneOf,
  string,
  stringMap,
  time,
  type UntypedField,
} from '../kind/schema.ts';
import { conditionMappings, durationSeconds, failureMappings, flag, mapByName } from '../kind/values.ts';
import { clusterPhases, clusterReplicas } from './cluster-schema.ts';
import {
  conditionGates,
  conditions,
  conditionType,
  deletionOrder,
  deprecatedConditions,
  dnsLabelPattern,
  failureFields,
  objectReference,
  paused,
  taints,
  templateMetadata,
  text,
} from './common-schema.ts';
import { reference, templateReferenceMapping } from './references.ts';
import { machineConditionRule } from './topology-schema.ts';

export const duration = (description: string): Field<string> => string(`${description} As a duration like 1m30s.`);

type TimeoutName = 'nodeDrainTimeout' | 'nodeVolumeDetachTimeout' | 'nodeDeletionTimeout';

export const nodeTimeouts: () => Record<TimeoutName, Field<string>> = once(() => ({
  nodeDrainTimeout: duration('How long draining the Node may take; 0 means as long as it takes.'),
  nodeVolumeDetachTimeout: duration('How long volumes may take to detach; 0 means as long as it takes.'),
  nodeDeletionTimeout: duration('How long deleting the Node is tried; 0 means forever.'),
}));

export const machineDeploymentStrategy: () => UntypedField = once(() =>
  object(
    {
      type: oneOf(['RollingUpdate', 'OnDelete'], 'Replace machines step by step, or only those a user deletes.'),
      rollingUpdate: object(
        {
          maxSurge: intOrString('How many machines may exist above the desired number, as number or percentage.'),
          maxUnavailable: intOrString('How many machines may be unavailable, as number or percentage.'),
          deletePolicy: deletionOrder(),
        },
        'Limits of a step by step replacement.',
      ),
      remediation: object(
        { maxInFlight: intOrString('How many machines may be remediated at once.') },
        'How unhealthy machines are replaced.',
      ),
    },
    'How old machines are replaced by new ones.',
  ),
);

/** Fields of a health check, shared by topologies and MachineHealthCheck. */
export const healthCheckFieldsV1beta1: () => Fields = once(() => ({
  maxUnhealthy: intOrString('Remediate only up to this number of unhealthy machines.'),
  unhealthyRange: string('Remediate only while the number of unhealthy machines is in this range, as [3-5].', {
    minLength: 1,
    maxLength: 32,
    pattern: '^\\[[0-9]+-[0-9]+\\]$',
  }),
  nodeStartupTimeout: duration('How long a machine may take to have a Node.'),
  unhealthyConditions: list(
    object({
      type: string('Type of the Node condition.', { minLength: 1 }).required(),
      status: string('Status that is unhealthy.', { minLength: 1 }).required(),
      timeout: duration('How long it may last.').required(),
    }),
    'Node conditions that make a machine unhealthy.',
    { maxItems: 100 },
  ),
  unhealthyMachineConditions: atomicList(
    object({
      type: conditionType('Type of the Machine condition.')
        .rule(machineConditionRule.rule, machineConditionRule.message)
        .required(),
      status: oneOf(['True', 'False', 'Unknown'], 'Status that is unhealthy.').required(),
      timeout: duration('How long it may last.').required(),
    }),
    'Machine conditions that make a machine unhealthy.',
    { minItems: 1, maxItems: 100 },
  ),
  remediationTemplate: objectReference('Template of an object that remediates instead of the owner.'),
}));

const machineHealthCheck = once(() =>
  object(
    { enable: boolean('Whether machines are health checked; overrides the class.'), ...healthCheckFieldsV1beta1() },
    'Health check of these machines; overrides the class.',
  ),
);

const variables = once(() =>
  listKeyedBy(
    ['name'],
    object({
      name: text('Name of the variable.', 256).required(),
      value: anyValue('Value of the variable, according to its schema in the class.').required(),
      definitionFrom: string('No longer used.', { maxLength: 256 }),
    }),
    'Values for the variables of the class.',
    { maxItems: 1000 },
  ),
);
const overrides = once(() => object({ overrides: variables() }, 'Variables that differ for these machines.'));
const readinessGates = once(() => conditionGates('Conditions that must hold before a machine is ready.'));
const rolloutAfter = once(() =>
  object({ after: time('Replace the machines once this time has passed.') }, 'When changed machines are replaced.', {
    minProperties: 1,
  }),
);
const workerFields = once(() => ({
  class: text('Class of the workers, as named in the ClusterClass.', 256).required(),
  name: text('Unique name of these workers in the cluster.', 63).required(),
  metadata: templateMetadata(),
  replicas: int32('Desired number of machines.'),
  minReadySeconds: int32('How long a machine must be ready to count as available.'),
  taints: taints(),
  variables: overrides(),
  ...nodeTimeouts(),
}));

const topology = once(() =>
  object(
    {
      class: text('Name of the ClusterClass.', 253).required(),
      classNamespace: string('Namespace of the ClusterClass, when it is not the one of the Cluster.', {
        minLength: 1,
        maxLength: 63,
        pattern: dnsLabelPattern,
      }),
      version: text('Kubernetes version of the cluster.', 256).required(),
      rolloutAfter: time('Never had an effect.'),
      controlPlane: object(
        {
          metadata: templateMetadata(),
          replicas: int32('How many control plane machines are wanted.'),
          rollout: rolloutAfter(),
          machineHealthCheck: machineHealthCheck(),
          readinessGates: readinessGates(),
          taints: taints(),
          variables: overrides(),
          ...nodeTimeouts(),
        },
        'The control plane.',
      ),
      workers: object(
        {
          machineDeployments: listKeyedBy(
            ['name'],
            object({
              ...workerFields(),
              failureDomain: text('Failure domain of the machines.', 256),
              rollout: rolloutAfter(),
              strategy: machineDeploymentStrategy(),
              machineHealthCheck: machineHealthCheck(),
              readinessGates: readinessGates(),
            }),
            'Workers as MachineDeployments.',
            { maxItems: 2000 },
          ),
          machinePools: listKeyedBy(
            ['name'],
            object({
              ...workerFields(),
              failureDomains: list(text('', 256), 'Failure domains of the machines.', { maxItems: 100 }),
            }),
            'Workers as MachinePools.',
            { maxItems: 2000 },
          ),
        },
        'The workers.',
      ),
      variables: variables(),
    },
    'Describes the cluster through a ClusterClass instead of single objects.',
  ),
);

const cidrBlocks = (description: string): Field<{ cidrBlocks: string[] }> =>
  object({ cidrBlocks: list(text('', 43), 'Address ranges in CIDR form.', { maxItems: 100 }).required() }, description);

export const clusterSpecV1beta1: () => UntypedField = once(() =>
  object(
    {
      paused: paused('all objects of the cluster'),
      clusterNetwork: object(
        {
          apiServerPort: int32('Port the API server listens on.'),
          services: cidrBlocks('Addresses of Services.'),
          pods: cidrBlocks('Addresses of Pods.'),
          serviceDomain: text('Domain name of Services.', 253),
        },
        'Network inside the cluster.',
      ),
      controlPlaneEndpoint: object(
        {
          host: string('Name or address of the Kubernetes API.', { maxLength: 512 }),
          port: int32('Port of the Kubernetes API.'),
        },
        'Address of the Kubernetes API of the cluster.',
      ),
      controlPlaneRef: objectReference('The object that provides the control plane.'),
      infrastructureRef: objectReference('The object that provides the infrastructure of the cluster.'),
      availabilityGates: conditionGates('Additional conditions that must hold before the cluster is available.'),
      topology: topology(),
    },
    'Desired state.',
  ),
);

export const clusterStatusV1beta1: () => UntypedField = once(() =>
  object(
    {
      conditions: deprecatedConditions(),
      infrastructureReady: boolean('True once the infrastructure has been provided.'),
      controlPlaneReady: boolean('True once the control plane has answered.'),
      failureDomains: mapOf(
        object({
          controlPlane: boolean('Whether control plane machines may go here.'),
          attributes: stringMap('Attributes from the provider.'),
        }),
        'Failure domains for machines.',
      ),
      ...failureFields,
      phase: oneOf(clusterPhases, 'Phase of the cluster.'),
      observedGeneration: int64('Generation of the spec that this status describes.'),
      v1beta2: object(
        {
          conditions: conditions(32),
          controlPlane: clusterReplicas('Control plane machines in numbers.'),
          workers: clusterReplicas('Worker machines in numbers.'),
        },
        'Status fields of v1beta2.',
      ),
    },
    'Observed state.',
  ),
);

const unhealthyConditions = each(fields(field('timeout', 'timeoutSeconds', durationSeconds)));

export const healthCheckMappings: readonly FieldMapping[] = [
  field('nodeStartupTimeout', 'checks.nodeStartupTimeoutSeconds', durationSeconds),
  field('unhealthyConditions', 'checks.unhealthyNodeConditions', unhealthyConditions),
  field('unhealthyMachineConditions', 'checks.unhealthyMachineConditions', unhealthyConditions),
  field('maxUnhealthy', 'remediation.triggerIf.unhealthyLessThanOrEqualTo'),
  field('unhealthyRange', 'remediation.triggerIf.unhealthyInRange'),
  field('remediationTemplate', 'remediation.templateRef', templateReferenceMapping),
];

/** `machineHealthCheck` of a topology <-> `healthCheck` */
const healthCheck: Mapping = fields(field('enable', 'enabled'), ...healthCheckMappings);

/** Before v1beta2 the timeouts of a machine are fields of the spec itself. */
export const nodeTimeoutMappings: readonly FieldMapping[] = [
  field('nodeDrainTimeout', 'deletion.nodeDrainTimeoutSeconds', durationSeconds),
  field('nodeVolumeDetachTimeout', 'deletion.nodeVolumeDetachTimeoutSeconds', durationSeconds),
  field('nodeDeletionTimeout', 'deletion.nodeDeletionTimeoutSeconds', durationSeconds),
];

/**
 * The type of a rollout strategy is required in v1beta2 and optional in v1beta1, where RollingUpdate is the default.
 * Without a type, v1beta2 would refuse the other fields.
 */
export const strategyWithType: Mapping = {
  up(value) {
    if (!isJsonObject(value)) return undefined;
    const { type, rollingUpdate } = value;
    const { deletePolicy: _, ...limits } = isJsonObject(rollingUpdate) ? rollingUpdate : {};
    if (type === undefined && Object.keys(limits).length === 0) return undefined;
    return { type: type ?? 'RollingUpdate', ...(Object.keys(limits).length > 0 ? { rollingUpdate: limits } : {}) };
  },
  down: (value) => (isJsonObject(value) ? { ...value } : undefined),
};

const topologyMachineDeployment = each(
  fields(
    ...nodeTimeoutMappings,
    field('strategy', 'rollout.strategy', strategyWithType),
    field('rollout.after'),
    field('strategy.rollingUpdate.deletePolicy', 'deletion.order'),
    field('machineHealthCheck', 'healthCheck', healthCheck),
    field('strategy.remediation.maxInFlight', 'healthCheck.remediation.maxInFlight'),
  ),
);

const topologyMapping: Mapping = fields(
  field('class', 'classRef.name'),
  field('classNamespace', 'classRef.namespace'),
  field(
    'controlPlane',
    'controlPlane',
    fields(...nodeTimeoutMappings, field('machineHealthCheck', 'healthCheck', healthCheck)),
  ),
  field(
    'workers',
    'workers',
    fields(
      field('machineDeployments', 'machineDeployments', topologyMachineDeployment),
      field('machinePools', 'machinePools', each(fields(...nodeTimeoutMappings))),
    ),
  ),
);

export const clusterV1beta1: Mapping = fields(
  field(
    'spec',
    'spec',
    fields(
      field('paused', 'paused', flag),
      field('controlPlaneRef', 'controlPlaneRef', reference),
      field('infrastructureRef', 'infrastructureRef', reference),
      field('topology', 'topology', topologyMapping),
    ),
  ),
  field(
    'status',
    'status',
    fields(
      ...conditionMappings,
      ...failureMappings,
      field('infrastructureReady', 'initialization.infrastructureProvisioned', flag),
      field('controlPlaneReady', 'initialization.controlPlaneInitialized', flag),
      field('failureDomains', 'failureDomains', mapByName),
      field('v1beta2.controlPlane', 'controlPlane'),
      field('v1beta2.workers', 'workers'),
    ),
  ),
);
