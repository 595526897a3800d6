import {
  anyValue,
  atomicList,
  boolean,
  type Field,
  int32,
  intOrString,
  listKeyedBy,
  object,
  once,
  oneOf,
  string,
  time,
} from '../kind/schema.ts';
import {
  conditionGates,
  conditionType,
  deletionOrder,
  dnsLabelPattern,
  dnsSubdomainPattern,
  nodeDeletion,
  nodeDeletionFields,
  rollout,
  taints,
  templateMetadata,
  templateReference,
  text,
} from './common-schema.ts';
import type {
  ControlPlaneTopology,
  MachineDeploymentRemediation,
  MachineDeploymentTopology,
  MachineHealthCheckSpec,
  MachinePoolTopology,
  Topology,
  TopologyHealthCheck,
  TopologyRemediation,
  TopologyVariable,
} from './types.ts';

/** Conditions of a Machine that depend on its health check must not decide it, which would be a cycle. */
export const machineConditionRule = {
  rule: "!(self in ['Ready','Available','HealthCheckSucceeded','OwnerRemediated','ExternallyRemediated'])",
  message: 'type must not be one of: Ready, Available, HealthCheckSucceeded, OwnerRemediated, ExternallyRemediated',
} as const;

const timeout = (): Field<number> =>
  int32('How long it may last before the machine counts as unhealthy.', { minimum: 0 });

export const healthChecks: () => Field<NonNullable<MachineHealthCheckSpec['checks']>> = once(() =>
  object(
    {
      nodeStartupTimeoutSeconds: int32('How long a machine may take to have a Node.', { minimum: 0 }),
      unhealthyNodeConditions: atomicList(
        object({
          type: string('Type of the Node condition.', { minLength: 1 }).required(),
          status: string('Status that is unhealthy.', { minLength: 1 }).required(),
          timeoutSeconds: timeout().required(),
        }),
        'Node conditions that make a machine unhealthy.',
        { minItems: 1, maxItems: 100 },
      ),
      unhealthyMachineConditions: atomicList(
        object({
          type: conditionType('Type of the Machine condition.')
            .rule(machineConditionRule.rule, machineConditionRule.message)
            .required(),
          status: oneOf(['True', 'False', 'Unknown'], 'Status that is unhealthy.').required(),
          timeoutSeconds: timeout().required(),
        }),
        'Machine conditions that make a machine unhealthy.',
        { minItems: 1, maxItems: 100 },
      ),
    },
    'Checks for unhealthy machines.',
    { minProperties: 1 },
  ),
);

const remediationFields = once(() => ({
  triggerIf: object(
    {
      unhealthyLessThanOrEqualTo: intOrString('Remediate only up to this number of unhealthy machines.'),
      unhealthyInRange: string('Remediate only while the number of unhealthy machines is in this range, as [3-5].', {
        minLength: 1,
        maxLength: 32,
        pattern: '^\\[[0-9]+-[0-9]+\\]$',
      }),
    },
    'When remediation is allowed.',
    { minProperties: 1 },
  ),
  templateRef: templateReference('Template of an object that remediates instead of the owner of the machine.'),
}));

export const healthCheckRemediation: () => Field<TopologyRemediation> = once(() =>
  object(remediationFields(), 'How unhealthy machines are replaced.', { minProperties: 1 }),
);

const controlPlaneHealthCheck: () => Field<TopologyHealthCheck> = once(() =>
  object(
    {
      enabled: boolean('Whether machines are health checked; overrides the class.'),
      checks: healthChecks(),
      remediation: healthCheckRemediation(),
    },
    'Health check of these machines; overrides the class.',
    { minProperties: 1 },
  ),
);

export const machineDeploymentRemediation: () => Field<MachineDeploymentRemediation> = once(() =>
  object(
    { maxInFlight: intOrString('How many machines may be remediated at once.'), ...remediationFields() },
    'How unhealthy machines are replaced.',
    { minProperties: 1 },
  ),
);

const machineDeploymentHealthCheck = once(() =>
  object(
    {
      enabled: boolean('Whether machines are health checked; overrides the class.'),
      checks: healthChecks(),
      remediation: machineDeploymentRemediation(),
    },
    'Health check of these machines; overrides the class.',
    { minProperties: 1 },
  ),
);

const variables: () => Field<TopologyVariable[]> = once(() =>
  listKeyedBy(
    ['name'],
    object({
      name: text('Name of the variable.', 256).required(),
      value: anyValue('Value of the variable, according to its schema in the class.').required(),
    }),
    'Values for the variables of the class.',
    { minItems: 1, maxItems: 1000 },
  ),
);

const overrides = once(() =>
  object({ overrides: variables() }, 'Variables that differ for these machines.', { minProperties: 1 }),
);

const controlPlane: () => Field<ControlPlaneTopology> = once(() =>
  object(
    {
      metadata: templateMetadata(1),
      replicas: int32('Desired number of control plane machines; must be absent for hosted control planes.'),
      rollout: object(
        { after: time('Replace the machines once this time has passed.') },
        'When changed machines are replaced.',
        { minProperties: 1 },
      ),
      deletion: nodeDeletion(),
      healthCheck: controlPlaneHealthCheck(),
      readinessGates: conditionGates('Conditions that must hold before a machine is ready.', 1),
      taints: taints(),
      variables: overrides(),
    },
    'The control plane.',
    { minProperties: 1 },
  ),
);

const workerName = (): Field<string> =>
  string('Unique name of these workers in the cluster.', {
    minLength: 1,
    maxLength: 63,
    pattern: dnsSubdomainPattern,
  });

const machineDeployment: () => Field<MachineDeploymentTopology> = once(() =>
  object({
    class: text('Class of the workers, as named in the ClusterClass.', 256).required(),
    name: workerName().required(),
    metadata: templateMetadata(1),
    replicas: int32('Desired number of machines.'),
    failureDomain: text('Failure domain of the machines.', 256),
    minReadySeconds: int32('How long a machine must be ready to count as available.', { minimum: 0 }),
    rollout: rollout(),
    deletion: object({ ...nodeDeletionFields, order: deletionOrder() }, 'How machines are deleted.', {
      minProperties: 1,
    }),
    healthCheck: machineDeploymentHealthCheck(),
    readinessGates: conditionGates('Conditions that must hold before a machine is ready.', 1),
    taints: taints(),
    variables: overrides(),
  }),
);

const machinePool: () => Field<MachinePoolTopology> = once(() =>
  object({
    class: text('Class of the pool, as named in the ClusterClass.', 256).required(),
    name: workerName().required(),
    metadata: templateMetadata(1),
    replicas: int32('Desired number of machines.'),
    failureDomains: atomicList(text('', 256), 'Failure domains of the machines.', { minItems: 1, maxItems: 100 }),
    minReadySeconds: int32('How long a machine must be ready to count as available.', { minimum: 0 }),
    deletion: nodeDeletion(),
    taints: taints(),
    variables: overrides(),
  }),
);

/** `spec.topology` of a Cluster that uses a ClusterClass */
export const topology: () => Field<Topology> = once(() =>
  object(
    {
      classRef: object(
        {
          name: string('Name of the ClusterClass.', {
            minLength: 1,
            maxLength: 253,
            pattern: dnsSubdomainPattern,
          }).required(),
          namespace: string('Namespace of the ClusterClass, when it is not the one of the Cluster.', {
            minLength: 1,
            maxLength: 63,
            pattern: dnsLabelPattern,
          }),
        },
        'The ClusterClass of the cluster.',
      ).required(),
      version: text('Kubernetes version of the cluster.', 256).required(),
      controlPlane: controlPlane(),
      workers: object(
        {
          machineDeployments: listKeyedBy(['name'], machineDeployment(), 'Workers as MachineDeployments.', {
            minItems: 1,
            maxItems: 2000,
          }),
          machinePools: listKeyedBy(['name'], machinePool(), 'Workers as MachinePools.', {
            minItems: 1,
            maxItems: 2000,
          }),
        },
        'The workers.',
        { minProperties: 1 },
      ),
      variables: variables(),
    },
    'Describes the cluster through a ClusterClass instead of single objects.',
  ),
);
