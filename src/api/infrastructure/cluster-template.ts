import { deepEqual, fieldError, type ResourceStrategy } from '../../machinery/index.ts';
import { templateMetadata } from '../cluster/common-schema.ts';
import { topologyDryRunAnnotation } from '../cluster/labels.ts';
import { contractLabels } from '../kind/contract-labels.ts';
import { defineKind, type Kind } from '../kind/define.ts';
import { field, fields, type Mapping } from '../kind/mapping.ts';
import { type Field, object, once, type UntypedField } from '../kind/schema.ts';
import { validateClusterSpec } from './admission.ts';
import { alphaCluster } from './alpha-cluster.ts';
import { type Alpha, alphaClusterSpec } from './alpha-schema.ts';
import { openStackClusterSpec, openStackClusterSpecV1beta1 } from './cluster-schema.ts';
import { infrastructureGroup } from './group.ts';
import type { OpenStackClusterTemplate, OpenStackClusterTemplateSpec } from './types.ts';
import { openStackClusterV1beta1 } from './v1beta1.ts';

const templateDescription = 'Template of the clusters.';

const spec: () => Field<OpenStackClusterTemplateSpec> = once(() =>
  object(
    {
      template: object(
        {
          metadata: templateMetadata(1),
          spec: openStackClusterSpec().describe('Spec of the clusters.').required(),
        },
        templateDescription,
      ).required(),
    },
    'Desired state.',
  ),
);

const oldSpec = (cluster: UntypedField): UntypedField =>
  object(
    {
      template: object({ spec: { schema: cluster.schema, isRequired: true } }, templateDescription).required(),
    },
    'Desired state.',
  );

/** A template has the fields of a cluster under `template`. */
const mapping = (cluster: Mapping): Mapping =>
  fields(field('spec', 'spec', fields(field('template', 'template', cluster))));

const alphas: readonly Alpha[] = [7, 6, 5, 4];

const strategy: ResourceStrategy<OpenStackClusterTemplate> = {
  validateCreate: (object) => validateClusterSpec(object.spec?.template?.spec, 'spec.template.spec'),
  validateUpdate(object, old, { dryRun }) {
    // The topology controller compares objects by dry-run server-side apply, so its dry-run requests may change every
    // field.
    if (dryRun === true && object.metadata.annotations?.[topologyDryRunAnnotation] !== undefined) return [];
    const { template } = object.spec ?? {};
    if (deepEqual(template?.spec, old.spec?.template?.spec)) return [];
    const problem =
      'OpenStackClusterTemplate spec.template.spec field is immutable. Please create new resource instead.';
    return [fieldError.invalid('spec.template.spec', template?.spec, problem)];
  },
};

export const openStackClusterTemplateKind: Kind<OpenStackClusterTemplate> = defineKind<OpenStackClusterTemplate>({
  group: infrastructureGroup,
  kind: 'OpenStackClusterTemplate',
  plural: 'openstackclustertemplates',
  shortNames: ['osct'],
  description: 'What the infrastructure of the clusters of a class is made from.',
  labels: contractLabels('infrastructure-openstack'),
  strategy,
  hub: { name: 'v1beta2', spec, hasStatus: false },
  old: [
    {
      name: 'v1beta1',
      spec: once(() => oldSpec(openStackClusterSpecV1beta1())),
      hasStatus: false,
      mapping: mapping(openStackClusterV1beta1),
    },
    ...alphas.map((alpha) => ({
      name: `v1alpha${alpha}`,
      deprecated: true,
      spec: once(() => oldSpec(alphaClusterSpec(alpha))),
      hasStatus: false,
      mapping: mapping(alphaCluster(alpha)),
    })),
  ],
});
