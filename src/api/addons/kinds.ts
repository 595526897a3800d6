import {
  deepEqual,
  type FieldError,
  fieldError,
  labelSelectorFromObject,
  validateLabelSelector,
} from '../../machinery/index.ts';
import { conditions, deprecatedConditions, labelSelector, text } from '../cluster/common-schema.ts';
import { contractLabels } from '../kind/contract-labels.ts';
import { defineKind, type Kind, type OldVersionSource } from '../kind/define.ts';
import { lenient } from '../kind/lenient.ts';
import { field, fields, type Mapping } from '../kind/mapping.ts';
import { ageColumn, conditionColumn, textColumn, wide } from '../kind/printer.ts';
import {
  atomicList,
  boolean,
  type Field,
  int64,
  list,
  object,
  once,
  oneOf,
  time,
  type UntypedField,
} from '../kind/schema.ts';
import { validateChangedSpec } from '../kind/strategy.ts';
import { conditionMappings } from '../kind/values.ts';
import type {
  ClusterResource,
  ClusterResourceSet,
  ClusterResourceSetBinding,
  ClusterResourceSetSpec,
  ClusterResourceSetStatus,
  ResourceBinding,
} from './types.ts';

export const addonsGroup = 'addons.cluster.x-k8s.io';

const labels = contractLabels('cluster-api');
const limit = { maxItems: 100 };
const name = (description: string): Field<string> => text(description, 253);

const resourceFields = () => ({
  name: name('Name of the Secret or ConfigMap, in the same namespace.').required(),
  kind: oneOf(['Secret', 'ConfigMap'], 'Kind of the object.').required(),
});
const resource = (): Field<ClusterResource> => object(resourceFields());
const resourcesDescription = 'Secrets and ConfigMaps with the objects that clusters get.';
const selector = () => labelSelector().describe('Labels of the Clusters. It cannot be changed.').required();
const strategy = () =>
  oneOf(['ApplyOnce', 'Reconcile'], 'Whether changes reach clusters that have the objects already.');

const spec: () => Field<ClusterResourceSetSpec> = once(() =>
  object(
    {
      clusterSelector: selector(),
      resources: atomicList(resource(), resourcesDescription, { minItems: 1, ...limit }).required(),
      strategy: strategy(),
    },
    'Desired state.',
  ),
);
const specV1beta1: () => UntypedField = once(() =>
  object(
    { clusterSelector: selector(), resources: list(resource(), resourcesDescription, limit), strategy: strategy() },
    'Desired state.',
  ),
);

const status: () => Field<ClusterResourceSetStatus> = once(() =>
  object(
    {
      conditions: conditions(32),
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
const statusV1beta1: () => UntypedField = once(() =>
  object(
    {
      conditions: deprecatedConditions(),
      observedGeneration: int64('Generation of the spec that this status describes.'),
      v1beta2: object({ conditions: conditions(32) }, 'Status fields of v1beta2.'),
    },
    'Observed state.',
  ),
);

const setMapping: Mapping = fields(field('status', 'status', fields(...conditionMappings)));

const alphaSet = (name: string): OldVersionSource => ({
  name,
  deprecated: true,
  spec: once(() => lenient(specV1beta1())),
  status: once(() => lenient(statusV1beta1(), { without: ['v1beta2'] })),
  mapping: setMapping,
  columns: [ageColumn],
});

function validateSet({ spec }: ClusterResourceSet, old: ClusterResourceSet | undefined): FieldError[] {
  // The schema already reports missing fields.
  if (spec?.clusterSelector === undefined) return [];
  const errors = validateLabelSelector(spec.clusterSelector, 'spec.clusterSelector');
  if (errors.length === 0 && labelSelectorFromObject(spec.clusterSelector).empty) {
    errors.push(fieldError.invalid('spec.clusterSelector', spec.clusterSelector, 'selector must not be empty'));
  }
  if (old?.spec === undefined) return errors;
  // Objects stored by other programs may lack the default.
  if ((old.spec.strategy ?? spec.strategy) !== spec.strategy) {
    errors.push(fieldError.invalid('spec.strategy', spec.strategy, 'field is immutable'));
  }
  if (!deepEqual(old.spec.clusterSelector, spec.clusterSelector)) {
    errors.push(fieldError.invalid('spec.clusterSelector', spec.clusterSelector, 'field is immutable'));
  }
  return errors;
}

export const clusterResourceSetKind: Kind<ClusterResourceSet> = defineKind<ClusterResourceSet>({
  group: addonsGroup,
  kind: 'ClusterResourceSet',
  plural: 'clusterresourcesets',
  description: 'Applies the objects in Secrets and ConfigMaps to clusters with certain labels.',
  labels,
  strategy: {
    applyDefaults({ spec }) {
      if (spec !== undefined && !spec.strategy) spec.strategy = 'ApplyOnce';
    },
    ...validateChangedSpec<ClusterResourceSet>(validateSet),
  },
  hub: {
    name: 'v1beta2',
    spec,
    status,
    specRequired: true,
    columns: [conditionColumn('Applied', 'ResourcesApplied'), conditionColumn('Paused', 'Paused', wide), ageColumn],
  },
  old: [
    {
      name: 'v1beta1',
      deprecated: true,
      spec: specV1beta1,
      status: statusV1beta1,
      mapping: setMapping,
      columns: [ageColumn],
    },
    alphaSet('v1alpha4'),
    alphaSet('v1alpha3'),
  ],
});

const bindingFields = (): Field<ResourceBinding> =>
  object({
    ...resourceFields(),
    applied: boolean('Whether all objects in it were applied.').required(),
    hash: text('Hash of the content that was applied last.', 256),
    lastAppliedTime: time('Time of the last apply.'),
  });
const setName = () => name('Name of the ClusterResourceSet.').required();
const clusterName = (): Field<string> => text('Name of the Cluster.', 63);
const bindingsDescription = 'Applied resources, by ClusterResourceSet.';

const bindingSpec: () => Field<ClusterResourceSetBinding['spec']> = once(() =>
  object(
    {
      clusterName: clusterName().required(),
      bindings: atomicList(
        object({
          clusterResourceSetName: setName(),
          resources: atomicList(bindingFields(), 'Applied resources.', limit),
        }),
        bindingsDescription,
        limit,
      ),
    },
    'Desired state.',
  ),
);
const bindingSpecV1beta1: () => UntypedField = once(() =>
  object(
    {
      clusterName: clusterName(),
      bindings: list(
        object({
          clusterResourceSetName: setName(),
          resources: list(bindingFields(), 'Applied resources.', limit),
        }),
        bindingsDescription,
        limit,
      ),
    },
    'Desired state.',
  ),
);

const alphaBinding = (name: string): OldVersionSource => ({
  name,
  deprecated: true,
  spec: once(() => lenient(bindingSpecV1beta1(), { without: ['clusterName'] })),
  mapping: fields(),
  columns: [ageColumn],
});

export const clusterResourceSetBindingKind: Kind<ClusterResourceSetBinding> = defineKind<ClusterResourceSetBinding>({
  group: addonsGroup,
  kind: 'ClusterResourceSetBinding',
  plural: 'clusterresourcesetbindings',
  description: 'Says what a cluster got from ClusterResourceSets.',
  labels,
  strategy: {
    // Older versions name the cluster only through the name of the object.
    applyDefaults({ metadata, spec }) {
      if (spec !== undefined && !spec.clusterName && metadata.name !== undefined) spec.clusterName = metadata.name;
    },
    validateUpdate: (object, old) =>
      old.spec?.clusterName === undefined || object.spec?.clusterName === old.spec.clusterName
        ? []
        : [fieldError.invalid('spec.clusterName', object.spec?.clusterName, 'field is immutable')],
  },
  hub: {
    name: 'v1beta2',
    spec: bindingSpec,
    hasStatus: false,
    specRequired: true,
    columns: [textColumn('Cluster', '.spec.clusterName'), ageColumn],
  },
  old: [
    {
      name: 'v1beta1',
      deprecated: true,
      spec: bindingSpecV1beta1,
      mapping: fields(),
      columns: [ageColumn],
    },
    alphaBinding('v1alpha4'),
    alphaBinding('v1alpha3'),
  ],
});
