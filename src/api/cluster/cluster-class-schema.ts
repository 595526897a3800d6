import {
  anyValue,
  atomicList,
  boolean,
  type Field,
  int32,
  int64,
  list,
  listKeyedBy,
  object,
  once,
  oneOf,
  string,
  stringMap,
} from '../kind/schema.ts';
import type {
  ClassNaming,
  ClassPatch,
  ClassTemplate,
  ClassVariable,
  ClusterClassSpec,
  ClusterClassStatus,
  ControlPlaneClass,
  ExternalPatch,
  MachineDeploymentClass,
  MachinePoolClass,
  PatchDefinition,
  PatchSelector,
  VariableSchema,
} from './cluster-class-types.ts';
import {
  conditionGates,
  conditions,
  deletionOrder,
  deprecatedConditions,
  nodeDeletion,
  nodeDeletionFields,
  rolloutStrategy,
  taints,
  templateMetadata,
  templateReference,
  text,
} from './common-schema.ts';
import { healthCheckRemediation, healthChecks, machineDeploymentRemediation } from './topology-schema.ts';

/** v1beta2 declares list types and refuses empty lists; v1beta1 does neither. */
interface Era {
  list: typeof list;
  leastItems: { minItems?: number };
  leastProperties: { minProperties?: number };
}

const hubEra: Era = { list: atomicList, leastItems: { minItems: 1 }, leastProperties: { minProperties: 1 } };
export const v1beta1Era: Era = { list, leastItems: {}, leastProperties: {} };

const classTemplate = (description: string): Field<ClassTemplate> =>
  object(
    { templateRef: templateReference('The template, in the namespace of the ClusterClass.').required() },
    description,
  );

export const naming = (defaultTemplate: string, { leastProperties }: Era = hubEra): Field<ClassNaming> =>
  object(
    { template: text(`Go template of the name; the default is ${defaultTemplate}.`, 1024) },
    'How the object is named.',
    leastProperties,
  );

const controlPlane: () => Field<ControlPlaneClass> = once(() =>
  object(
    {
      metadata: templateMetadata(1),
      templateRef: templateReference('Template of the control plane, in the namespace of the ClusterClass.').required(),
      machineInfrastructure: classTemplate('Template of the machines; absent for control planes without machines.'),
      healthCheck: object(
        { checks: healthChecks(), remediation: healthCheckRemediation() },
        'Health check of the control plane machines; a Cluster may override it.',
        { minProperties: 1 },
      ),
      naming: naming('{{ .cluster.name }}-{{ .random }}'),
      deletion: nodeDeletion(),
      readinessGates: conditionGates('Conditions that must hold before a machine is ready.', 1),
      taints: taints(),
    },
    'The control plane.',
  ),
);

const workerNaming = '{{ .cluster.name }}-{{ .machineDeployment.topologyName }}-{{ .random }}';
const poolNaming = '{{ .cluster.name }}-{{ .machinePool.topologyName }}-{{ .random }}';

const machineDeployment: () => Field<MachineDeploymentClass> = once(() =>
  object({
    class: text('Name for these workers, used by Clusters.', 256).required(),
    metadata: templateMetadata(1),
    bootstrap: classTemplate('Template of the user data.').required(),
    infrastructure: classTemplate('Template of the machines.').required(),
    healthCheck: object(
      { checks: healthChecks(), remediation: machineDeploymentRemediation() },
      'Health check of these machines; a Cluster may override it.',
      { minProperties: 1 },
    ),
    failureDomain: text('Failure domain of the machines.', 256),
    naming: naming(workerNaming),
    deletion: object({ ...nodeDeletionFields, order: deletionOrder() }, 'How machines are deleted.', {
      minProperties: 1,
    }),
    minReadySeconds: int32('How long a machine must be ready to count as available.', { minimum: 0 }),
    readinessGates: conditionGates('Conditions that must hold before a machine is ready.', 1),
    taints: taints(),
    rollout: object({ strategy: rolloutStrategy() }, 'How changed machines are rolled out.', { minProperties: 1 }),
  }),
);

const machinePool: () => Field<MachinePoolClass> = once(() =>
  object({
    class: text('Name for this pool, used by Clusters.', 256).required(),
    metadata: templateMetadata(1),
    bootstrap: classTemplate('Template of the user data.').required(),
    infrastructure: classTemplate('Template of the pool.').required(),
    failureDomains: atomicList(text('', 256), 'Failure domains of the machines.', { maxItems: 100 }),
    naming: naming(poolNaming),
    deletion: nodeDeletion(),
    minReadySeconds: int32('How long a machine must be ready to count as available.', { minimum: 0 }),
    taints: taints(),
  }),
);

const size = (description: string): Field<number> => int64(description);

/** Builds the schema of a variable, which is a schema itself. */
export const variableSchema = ({ list, leastItems, leastProperties }: Era = hubEra): Field<VariableSchema> =>
  object(
    {
      description: text('Description of the variable.', 4096),
      example: anyValue('A value as an example.'),
      type: oneOf(['object', 'array', 'string', 'integer', 'number', 'boolean'], 'Type of the value.'),
      properties: anyValue('Fields of an object, each with its schema.'),
      additionalProperties: anyValue('Schema of the values of a map; excludes properties.'),
      maxProperties: size('Most fields of an object.'),
      minProperties: size('Fewest fields of an object.'),
      required: list(text('', 256), 'Fields an object must have.', { maxItems: 1000, ...leastItems }),
      items: anyValue('Schema of the items of a list.'),
      maxItems: size('Most items of a list.'),
      minItems: size('Fewest items of a list.'),
      uniqueItems: boolean('Whether all items must differ.'),
      format: text('Format of a string, such as ipv4 or date-time.', 32),
      maxLength: size('Most characters of a string.'),
      minLength: size('Fewest characters of a string.'),
      pattern: text('Regular expression a string must match.', 512),
      maximum: size('Largest number.'),
      exclusiveMaximum: boolean('Whether the largest number itself is excluded.'),
      minimum: size('Smallest number.'),
      exclusiveMinimum: boolean('Whether the smallest number itself is excluded.'),
      'x-kubernetes-preserve-unknown-fields': boolean('Whether fields without a schema are allowed.'),
      enum: list(anyValue(), 'The values that are allowed.', { maxItems: 100 }),
      default: anyValue('Default value.'),
      'x-kubernetes-validations': listKeyedBy(
        ['rule'],
        object({
          rule: text('CEL expression that must be true; self is the value.', 4096).required(),
          message: text('Message if the rule fails.', 512),
          messageExpression: text('CEL expression for the message if the rule fails.', 1024),
          reason: oneOf(
            ['FieldValueInvalid', 'FieldValueForbidden', 'FieldValueRequired', 'FieldValueDuplicate'],
            'Why the value is refused, for programs.',
          ).default('FieldValueInvalid'),
          fieldPath: text('The field in the error if the rule fails.', 512),
        }),
        'CEL rules for the value.',
        { maxItems: 100, ...leastItems },
      ),
      'x-metadata': object(
        {
          labels: stringMap('Labels, for programs that show the variable.'),
          annotations: stringMap('Annotations, for programs that show the variable.'),
        },
        'Labels and annotations of the variable, for programs.',
        leastProperties,
      ),
      'x-kubernetes-int-or-string': boolean('Whether the value is an integer or a string.'),
      allOf: anyValue('Schemas that must all match.'),
      oneOf: anyValue('Schemas exactly one of which must match.'),
      anyOf: anyValue('Schemas at least one of which must match.'),
      not: anyValue('Schema that must not match.'),
    },
    'Schema of the value.',
    leastProperties,
  );

export const variableSchemaField = (era: Era = hubEra): Field<{ openAPIV3Schema: VariableSchema }> =>
  object({ openAPIV3Schema: variableSchema(era).required() }, 'Schema of the value.');

const deprecatedMetadata = (): Field<{ labels?: Record<string, string>; annotations?: Record<string, string> }> =>
  templateMetadata(1).describe('Labels and annotations of v1beta1; use x-metadata of the schema.');

const variable: () => Field<ClassVariable> = once(() =>
  object({
    name: text('Name of the variable.', 256).required(),
    required: boolean('Whether a Cluster must set it.').required(),
    deprecatedV1Beta1Metadata: deprecatedMetadata(),
    schema: variableSchemaField().required(),
  }),
);

const classNames = ({ list }: Era, description: string): Field<{ names?: string[] }> =>
  object({ names: list(text('', 256), 'Names of classes; * matches any suffix.', { maxItems: 100 }) }, description);

export const matchResources = (era: Era = hubEra): Field<PatchSelector['matchResources']> =>
  object(
    {
      controlPlane: boolean('Whether to select templates of the control plane.'),
      infrastructureCluster: boolean('Whether to select the template of the infrastructure cluster.'),
      machineDeploymentClass: classNames(era, 'Classes of workers whose templates the patch changes.'),
      machinePoolClass: classNames(era, 'Classes of pools whose templates the patch changes.'),
    },
    'Selected templates of this kind.',
    era.leastProperties,
  );

// A type alias, because interfaces have no index signature.
type PatchFields<External> = {
  name: Field<string, true>;
  description: Field<string>;
  enabledIf: Field<string>;
  definitions: Field<PatchDefinition[]>;
  external: Field<External>;
};

export const patch = <External>(
  era: Era,
  selector: Field<PatchSelector>,
  external: Field<External>,
): PatchFields<External> => ({
  name: text('Name of the patch.', 256).required(),
  description: text('Description of the patch.', 1024),
  enabledIf: text('Go template; the patch is applied only when it renders to true.', 256),
  definitions: era.list(
    object({
      selector: selector.required(),
      jsonPatches: era
        .list(
          object({
            op: oneOf(['add', 'replace', 'remove'], 'Operation.').required(),
            path: text('JSON pointer to the changed field; begins with /spec.', 512).required(),
            value: anyValue('The value, as it is.'),
            valueFrom: object(
              {
                variable: text('Variable for the value, as path: a.b[0].c or builtin.cluster.name.', 256),
                template: text('Go template that renders the value as YAML.', 10240),
              },
              'Source of the value.',
            ),
          }),
          'Changes, in their order.',
          { maxItems: 100, ...era.leastItems },
        )
        .required(),
    }),
    'The changes, and the templates that they apply to.',
    { maxItems: 100 },
  ),
  external,
});

const selector: () => Field<PatchSelector> = once(() => {
  const { apiVersion, kind } = templateReference('').schema.properties ?? {};
  return object(
    {
      apiVersion: string()
        .with({ ...apiVersion, description: 'Group and version of the template.' })
        .required(),
      kind: string()
        .with({ ...kind, description: 'Kind of the template.' })
        .required(),
      matchResources: matchResources().required(),
    },
    'Templates to change.',
  );
});

export const extensionName = (description: string): Field<string> =>
  text(`${description} Name of the handler, as <handler>.<ExtensionConfig>.`, 512);

const external: () => Field<ExternalPatch> = once(() =>
  object(
    {
      generatePatchesExtension: extensionName('Extension that makes the patches.'),
      validateTopologyExtension: extensionName('Extension that checks the result.'),
      discoverVariablesExtension: extensionName('Extension that defines variables.'),
      settings: stringMap('Settings for the extension.'),
    },
    'Patches that an extension makes.',
  ),
);

const patches: () => Field<ClassPatch> = once(() => object(patch(hubEra, selector(), external())));

export const upgrade: () => Field<NonNullable<ClusterClassSpec['upgrade']>> = once(() =>
  object(
    {
      external: object(
        { generateUpgradePlanExtension: extensionName('Extension that says which versions an upgrade passes.') },
        'Upgrades that an extension plans.',
        { minProperties: 1 },
      ),
    },
    'How clusters are upgraded.',
    { minProperties: 1 },
  ),
);

export const kubernetesVersions = (): Field<string[]> =>
  atomicList(
    text('', 256),
    'Kubernetes versions that Clusters may have, in ascending order. Upgrades pass one of each minor version between.',
    { minItems: 1, maxItems: 100 },
  );

export const clusterClassSpec: () => Field<ClusterClassSpec> = once(() =>
  object(
    {
      availabilityGates: conditionGates('Additional conditions that must hold before a Cluster is available.', 1),
      infrastructure: object(
        {
          templateRef: templateReference('The template, in the namespace of the ClusterClass.').required(),
          naming: naming('{{ .cluster.name }}-{{ .random }}'),
        },
        'Template of the infrastructure of the cluster.',
      ).required(),
      controlPlane: controlPlane().required(),
      workers: object(
        {
          machineDeployments: listKeyedBy(['class'], machineDeployment(), 'Classes of MachineDeployments.', {
            minItems: 1,
            maxItems: 100,
          }),
          machinePools: listKeyedBy(['class'], machinePool(), 'Classes of MachinePools.', {
            minItems: 1,
            maxItems: 100,
          }),
        },
        'Classes of workers.',
        { minProperties: 1 },
      ),
      variables: atomicList(variable(), 'Variables Clusters set.', { minItems: 1, maxItems: 1000 }),
      patches: atomicList(patches(), 'Patches of the templates, in order. They use the variables.', {
        minItems: 1,
        maxItems: 1000,
      }),
      upgrade: upgrade(),
      kubernetesVersions: kubernetesVersions(),
    },
    'Desired state.',
  ),
);

export const clusterClassStatus: () => Field<ClusterClassStatus> = once(() =>
  object(
    {
      conditions: conditions(32),
      variables: atomicList(
        object({
          name: text('Name of the variable.', 256).required(),
          definitionsConflict: boolean('Whether the definitions differ.'),
          definitions: atomicList(
            object({
              from: text('inline, or the patch whose extension defines it.', 256).required(),
              required: boolean('Whether a Cluster must set it.').required(),
              deprecatedV1Beta1Metadata: deprecatedMetadata(),
              schema: variableSchemaField().required(),
            }),
            'Sources of its definition.',
            { minItems: 1, maxItems: 100 },
          ).required(),
        }),
        'Variables of the class and of its extensions.',
        { maxItems: 1000 },
      ),
      observedGeneration: int64('Generation of the spec that this status describes.', { minimum: 1 }),
      deprecated: object(
        { v1beta1: object({ conditions: deprecatedConditions() }, 'Status in the form of v1beta1.') },
        'Kept for old clients.',
      ),
    },
    'Observed state.',
    { minProperties: 1 },
  ),
);
