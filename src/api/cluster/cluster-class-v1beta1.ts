import { each, type FieldMapping, field, fields, type Mapping } from '../kind/mapping.ts';
import {
  boolean,
  type Fields,
  int32,
  int64,
  list,
  listKeyedBy,
  object,
  once,
  string,
  stringMap,
  type UntypedField,
} from '../kind/schema.ts';
import { conditionMappings } from '../kind/values.ts';
import {
  extensionName,
  kubernetesVersions,
  matchResources,
  naming,
  patch,
  upgrade,
  v1beta1Era,
  variableSchemaField,
} from './cluster-class-schema.ts';
import {
  healthCheckFieldsV1beta1,
  healthCheckMappings,
  machineDeploymentStrategy,
  nodeTimeoutMappings,
  nodeTimeouts,
  strategyWithType,
} from './cluster-v1beta1.ts';
import {
  conditionGates,
  conditions,
  deprecatedConditions,
  objectReference,
  taints,
  templateMetadata,
  text,
} from './common-schema.ts';
import { templateReferenceMapping } from './references.ts';

const ref = once(() => ({ ref: objectReference('The template.').required() }));
const healthCheck = once(() =>
  object(healthCheckFieldsV1beta1(), 'Health check of these machines; a Cluster may override it.'),
);
const readinessGates = once(() => conditionGates('Conditions that must hold before a machine is ready.'));
const namingStrategy = (defaultTemplate: string): UntypedField => naming(defaultTemplate, v1beta1Era);

const workerFields = once(() => ({
  class: text('Name for these workers, used by Clusters.', 256).required(),
  minReadySeconds: int32('How long a machine must be ready to count as available.'),
  taints: taints(),
  template: object(
    {
      metadata: templateMetadata(),
      bootstrap: object(ref(), 'Template of the user data.').required(),
      infrastructure: object(ref(), 'Template of the machines.').required(),
    },
    'Template of the machines.',
  ).required(),
  ...nodeTimeouts(),
}));

const selector = once(() =>
  object(
    {
      apiVersion: text('Group and version of the template.', 512).required(),
      kind: text('Kind of the template.', 256).required(),
      matchResources: matchResources(v1beta1Era).required(),
    },
    'Templates to change.',
  ),
);

const external = once(() =>
  object(
    {
      generateExtension: extensionName('Extension that makes the patches.'),
      validateExtension: extensionName('Extension that checks the result.'),
      discoverVariablesExtension: extensionName('Extension that defines variables.'),
      settings: stringMap('Settings for the extension.'),
    },
    'Patches that an extension makes.',
  ),
);

const definitionFields = once(() => ({
  required: boolean('Whether a Cluster must set it.').required(),
  metadata: templateMetadata(),
  schema: variableSchemaField(v1beta1Era).required(),
}));

export const clusterClassSpecV1beta1: () => UntypedField = once(() =>
  object(
    {
      availabilityGates: conditionGates('Additional conditions that must hold before a Cluster is available.'),
      infrastructure: object(ref(), 'Template of the infrastructure of the cluster.'),
      infrastructureNamingStrategy: namingStrategy('{{ .cluster.name }}-{{ .random }}'),
      controlPlane: object(
        {
          metadata: templateMetadata(),
          ...ref(),
          machineInfrastructure: object(ref(), 'Template of the machines; absent for control planes without machines.'),
          machineHealthCheck: healthCheck(),
          namingStrategy: namingStrategy('{{ .cluster.name }}-{{ .random }}'),
          readinessGates: readinessGates(),
          taints: taints(),
          ...nodeTimeouts(),
        } as Fields,
        'The control plane.',
      ),
      workers: object(
        {
          machineDeployments: listKeyedBy(
            ['class'],
            object({
              ...workerFields(),
              machineHealthCheck: healthCheck(),
              failureDomain: text('Failure domain of the machines.', 256),
              namingStrategy: namingStrategy('{{ .cluster.name }}-{{ .machineDeployment.topologyName }}-{{ .random }}'),
              readinessGates: readinessGates(),
              strategy: machineDeploymentStrategy(),
            } as Fields),
            'Classes of MachineDeployments.',
            { maxItems: 100 },
          ),
          machinePools: listKeyedBy(
            ['class'],
            object({
              ...workerFields(),
              failureDomains: list(text('', 256), 'Failure domains of the machines.', { maxItems: 100 }),
              namingStrategy: namingStrategy('{{ .cluster.name }}-{{ .machinePool.topologyName }}-{{ .random }}'),
            } as Fields),
            'Classes of MachinePools.',
            { maxItems: 100 },
          ),
        },
        'Classes of workers.',
      ),
      variables: list(
        object({ name: text('Name of the variable.', 256).required(), ...definitionFields() }),
        'Variables Clusters set.',
        { maxItems: 1000 },
      ),
      patches: list(
        object(patch(v1beta1Era, selector(), external())),
        'Patches of the templates, in order. They use the variables.',
        { maxItems: 1000 },
      ),
      upgrade: upgrade(),
      kubernetesVersions: kubernetesVersions(),
    } as Fields,
    'Desired state.',
  ),
);

export const clusterClassStatusV1beta1: () => UntypedField = once(() =>
  object(
    {
      conditions: deprecatedConditions(),
      variables: list(
        object({
          name: text('Name of the variable.', 256).required(),
          definitionsConflict: boolean('Whether the definitions differ.'),
          definitions: list(
            object({
              from: string('inline, or the patch whose extension defines it.', {
                minLength: 1,
                maxLength: 256,
              }).required(),
              ...definitionFields(),
            }),
            'Sources of its definition.',
            { maxItems: 100 },
          ).required(),
        }),
        'Variables of the class and of its extensions.',
        { maxItems: 1000 },
      ),
      observedGeneration: int64('Generation of the spec that this status describes.'),
      v1beta2: object({ conditions: conditions(32) }, 'Status fields of v1beta2.'),
    },
    'Observed state.',
  ),
);

const template = (old: string, hub: string): FieldMapping =>
  field(`${old}.ref`, `${hub}.templateRef`, templateReferenceMapping);

const workerMappings: readonly FieldMapping[] = [
  ...nodeTimeoutMappings,
  field('template.metadata', 'metadata'),
  template('template.bootstrap', 'bootstrap'),
  template('template.infrastructure', 'infrastructure'),
  field('namingStrategy', 'naming'),
];

const machineDeployment = each(
  fields(
    ...workerMappings,
    field('strategy', 'rollout.strategy', strategyWithType),
    field('strategy.rollingUpdate.deletePolicy', 'deletion.order'),
    field('machineHealthCheck', 'healthCheck', fields(...healthCheckMappings)),
    field('strategy.remediation.maxInFlight', 'healthCheck.remediation.maxInFlight'),
  ),
);

const metadata = field('metadata', 'deprecatedV1Beta1Metadata');

export const clusterClassV1beta1: Mapping = fields(
  field(
    'spec',
    'spec',
    fields(
      template('infrastructure', 'infrastructure'),
      field('infrastructureNamingStrategy', 'infrastructure.naming'),
      field(
        'controlPlane',
        'controlPlane',
        fields(
          ...nodeTimeoutMappings,
          field('ref', 'templateRef', templateReferenceMapping),
          template('machineInfrastructure', 'machineInfrastructure'),
          field('namingStrategy', 'naming'),
          field('machineHealthCheck', 'healthCheck', fields(...healthCheckMappings)),
        ),
      ),
      field(
        'workers',
        'workers',
        fields(
          field('machineDeployments', 'machineDeployments', machineDeployment),
          field('machinePools', 'machinePools', each(fields(...workerMappings))),
        ),
      ),
      field('variables', 'variables', each(fields(metadata))),
      field(
        'patches',
        'patches',
        each(
          fields(
            field(
              'external',
              'external',
              fields(
                field('generateExtension', 'generatePatchesExtension'),
                field('validateExtension', 'validateTopologyExtension'),
              ),
            ),
          ),
        ),
      ),
    ),
  ),
  field(
    'status',
    'status',
    fields(
      ...conditionMappings,
      field('variables', 'variables', each(fields(field('definitions', 'definitions', each(fields(metadata)))))),
    ),
  ),
);
