import { describe, expect, it } from 'vitest';
import { builtinComponents, builtinSchema, gvksOfComponent, publishedSchema } from './index.ts';

const podSpec = 'io.k8s.api.core.v1.PodSpec';
const deployment = 'io.k8s.api.apps.v1.Deployment';
const schemaProps = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps';

describe('builtinSchema', () => {
  it('returns the same object for the same component', () => {
    expect(builtinSchema(deployment)).toBe(builtinSchema(deployment));
    expect(builtinSchema(deployment).component).toBe(deployment);
  });

  it('shares the properties of a component among all schemas that refer to it', () => {
    const template = builtinSchema('io.k8s.api.core.v1.PodTemplateSpec').properties!['spec']!;
    expect(template.component).toBe(podSpec);
    expect(template.componentSchema).toBe(builtinSchema(podSpec));
    expect(template.properties).toBe(builtinSchema(podSpec).properties);
    expect(template.default).toEqual({});
    expect(builtinSchema(podSpec).default).toBeUndefined();
  });

  it('refers a recursive type back to the same schema', () => {
    const schema = builtinSchema(schemaProps);
    const not = schema.properties!['not']!;
    expect(not.componentSchema ?? not).toBe(schema);
  });

  it('throws for a name it does not know', () => {
    expect(() => builtinSchema('io.k8s.api.core.v1.Nothing')).toThrow('io.k8s.api.core.v1.Nothing');
  });

  it('does not offer components that exist only in protobuf', () => {
    expect(builtinComponents()).not.toContain('io.k8s.api.core.v1.VolumeSource');
    expect(() => builtinSchema('io.k8s.api.core.v1.VolumeSource')).toThrow();
    expect(builtinSchema('io.k8s.api.core.v1.Volume').properties).toHaveProperty('emptyDir');
  });

  it('expands every component', () => {
    for (const component of builtinComponents()) {
      const schema = builtinSchema(component);
      for (const name of schema.required ?? []) expect(schema.properties, component).toHaveProperty([name]);
    }
    expect(builtinComponents().length).toBeGreaterThan(490);
  });

  it('describes every kind', () => {
    const silent = builtinComponents().filter(
      (component) => gvksOfComponent(component).length > 0 && !builtinSchema(component).description,
    );
    expect(silent).toEqual([]);
  });

  it.each([
    'io.k8s.apimachinery.pkg.runtime.RawExtension',
    'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1',
    'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON',
  ])('preserves unknown fields of %s', (component) => {
    expect(builtinSchema(component)['x-kubernetes-preserve-unknown-fields']).toBe(true);
    expect(publishedSchema(component)).not.toHaveProperty('x-kubernetes-preserve-unknown-fields');
  });
});

describe('published schemas', () => {
  const reference = (component: string, extra: object = {}) => ({
    allOf: [{ $ref: `#/components/schemas/${component}` }],
    ...extra,
  });
  const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';
  const intOrString = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString';
  const quantity = 'io.k8s.apimachinery.pkg.api.resource.Quantity';

  it.each<[string, string, object]>([
    ['io.k8s.api.core.v1.PodSpec', 'containers', mergedList('io.k8s.api.core.v1.Container', ['name'], 'name')],
    [
      'io.k8s.api.core.v1.Container',
      'ports',
      mergedList('io.k8s.api.core.v1.ContainerPort', ['containerPort', 'protocol'], 'containerPort'),
    ],
    [
      'io.k8s.api.core.v1.ServiceSpec',
      'ports',
      mergedList('io.k8s.api.core.v1.ServicePort', ['port', 'protocol'], 'port'),
    ],
    ['io.k8s.api.core.v1.ContainerPort', 'protocol', { type: 'string', default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'] }],
    ['io.k8s.api.core.v1.ContainerPort', 'containerPort', { type: 'integer', format: 'int32', default: 0 }],
    ['io.k8s.api.core.v1.Secret', 'data', { type: 'object', additionalProperties: { type: 'string', format: 'byte' } }],
    ['io.k8s.api.core.v1.ConfigMap', 'data', { type: 'object', additionalProperties: { type: 'string', default: '' } }],
    [
      'io.k8s.api.core.v1.ResourceRequirements',
      'limits',
      { type: 'object', additionalProperties: { $ref: `#/components/schemas/${quantity}` } },
    ],
    [
      'io.k8s.api.core.v1.PodSpec',
      'nodeSelector',
      { type: 'object', additionalProperties: { type: 'string', default: '' }, 'x-kubernetes-map-type': 'atomic' },
    ],
    [
      'io.k8s.api.core.v1.PersistentVolumeSpec',
      'claimRef',
      reference('io.k8s.api.core.v1.ObjectReference', { 'x-kubernetes-map-type': 'granular' }),
    ],
    [
      'io.k8s.api.apps.v1.DeploymentSpec',
      'strategy',
      reference('io.k8s.api.apps.v1.DeploymentStrategy', { default: {}, 'x-kubernetes-patch-strategy': 'retainKeys' }),
    ],
    [
      'io.k8s.api.policy.v1.PodDisruptionBudgetSpec',
      'selector',
      reference(`${meta}.LabelSelector`, { 'x-kubernetes-patch-strategy': 'replace' }),
    ],
    [
      `${meta}.ObjectMeta`,
      'finalizers',
      {
        type: 'array',
        items: { type: 'string', default: '' },
        'x-kubernetes-list-type': 'set',
        'x-kubernetes-patch-strategy': 'merge',
      },
    ],
    [
      'io.k8s.api.core.v1.PodSpec',
      'volumes',
      {
        ...mergedList('io.k8s.api.core.v1.Volume', ['name'], 'name'),
        'x-kubernetes-patch-strategy': 'merge,retainKeys',
      },
    ],
    [
      'io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerSpec',
      'maxReplicas',
      { type: 'integer', format: 'int32', default: 0 },
    ],
  ])('describe the property: %s %s', (component, property, expected) => {
    expect(withoutDescription(propertyOf(component, property))).toEqual(expected);
  });

  it.each([
    ['io.k8s.api.core.v1.HTTPGetAction', 'port', intOrString],
    [`${meta}.ObjectMeta`, 'creationTimestamp', `${meta}.Time`],
    ['io.k8s.api.coordination.v1.LeaseSpec', 'renewTime', `${meta}.MicroTime`],
    ['io.k8s.api.apps.v1.ControllerRevision', 'data', 'io.k8s.apimachinery.pkg.runtime.RawExtension'],
  ])('refer from %s %s to %s without a default', (component, property, target) => {
    const { allOf, $ref, default: value } = propertyOf(component, property);
    expect([$ref ?? (allOf as { $ref: string }[])[0]!.$ref, value]).toEqual([
      `#/components/schemas/${target}`,
      undefined,
    ]);
  });

  it('describe quantity and int-or-string as upstream does', () => {
    expect(withoutDescription(publishedSchema(quantity))).toEqual({ oneOf: [{ type: 'string' }, { type: 'number' }] });
    expect(withoutDescription(publishedSchema(intOrString))).toEqual({
      format: 'int-or-string',
      oneOf: [{ type: 'integer' }, { type: 'string' }],
    });
  });

  function mergedList(component: string, keys: string[], mergeKey: string): object {
    return {
      type: 'array',
      items: reference(component, { default: {} }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': keys,
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': mergeKey,
    };
  }
});

describe('gvksOfComponent', () => {
  it.each<[string, object[]]>([
    [deployment, [{ group: 'apps', version: 'v1', kind: 'Deployment' }]],
    ['io.k8s.api.apps.v1.DeploymentList', [{ group: 'apps', version: 'v1', kind: 'DeploymentList' }]],
    ['io.k8s.apimachinery.pkg.apis.meta.v1.Status', [{ group: '', version: 'v1', kind: 'Status' }]],
    [podSpec, []],
  ])('lists the kinds of %s', (component, expected) => {
    expect(gvksOfComponent(component)).toEqual(expected);
  });

  it('lists DeleteOptions in every group version', () => {
    const kinds = gvksOfComponent('io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions');
    expect(kinds).toContainEqual({ group: 'autoscaling', version: 'v2', kind: 'DeleteOptions' });
    expect(kinds[0]).toEqual({ group: '', version: 'v1', kind: 'DeleteOptions' });
  });
});

function propertyOf(component: string, property: string): Record<string, unknown> {
  return (publishedSchema(component)['properties'] as Record<string, Record<string, unknown>>)[property]!;
}

function withoutDescription(schema: object): object {
  const { description: _, ...rest } = schema as { description?: string };
  return rest;
}
