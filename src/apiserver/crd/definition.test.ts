import { describe, expect, it } from 'vitest';
import { deepFreeze, type JsonObject, type UnstructuredObject } from '../../machinery/index.ts';
import { definitionFromCrd } from './definition.ts';
import type { CrdColumn, CustomResourceDefinition } from './types.ts';

const schema = { openAPIV3Schema: { type: 'object' as const, properties: { spec: { type: 'object' as const } } } };

function definition(spec: Partial<CustomResourceDefinition['spec']> = {}): CustomResourceDefinition {
  return deepFreeze({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      names: {
        plural: 'things',
        singular: 'thing',
        kind: 'Thing',
        listKind: 'ThingList',
        shortNames: ['th'],
        categories: ['all'],
      },
      scope: 'Namespaced' as const,
      versions: [
        { name: 'v1beta1', served: true, storage: false, schema, deprecated: true },
        {
          name: 'v1',
          served: true,
          storage: true,
          schema,
          subresources: {
            status: {},
            scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
          },
          selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.count' }],
        },
      ],
      ...spec,
    },
  });
}

const thing = (rest: JsonObject = {}): UnstructuredObject =>
  deepFreeze({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'x' }, ...rest });

describe('definitionFromCrd', () => {
  it('contains names, scope, versions and schema of the kind', () => {
    const made = definitionFromCrd(definition(), {});
    expect(made).toMatchObject({
      group: 'example.com',
      kind: 'Thing',
      listKind: 'ThingList',
      plural: 'things',
      singular: 'thing',
      shortNames: ['th'],
      categories: ['all'],
      namespaced: true,
      storageVersion: 'v1',
      origin: 'custom',
    });
    expect(made.versions.map((version) => version.name)).toEqual(['v1', 'v1beta1']);
    expect(made.versions[0]).toMatchObject({
      hasStatus: true,
      scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
    });
    expect(made.versions[1]).toMatchObject({
      hasStatus: false,
      deprecated: true,
      deprecationWarning: 'example.com/v1beta1 Thing is deprecated; use example.com/v1 Thing',
    });
    expect(made.versions[1]).not.toHaveProperty('scale');
  });

  it('serves the accepted names instead of the wanted ones', () => {
    const crd = {
      ...definition(),
      status: { acceptedNames: { plural: 'things', kind: 'Thing', shortNames: ['old'] } },
    };
    expect(definitionFromCrd(crd, {}).shortNames).toEqual(['old']);
  });

  it('returns selectable fields as text', () => {
    const fields = definitionFromCrd(definition(), {}).versions[0]?.selectableFields;
    expect(Object.keys(fields ?? {})).toEqual(['spec.color', 'spec.count']);
    expect(fields?.['spec.color']?.(thing({ spec: { color: 'red' } }))).toBe('red');
    expect(fields?.['spec.count']?.(thing({ spec: { count: 3 } }))).toBe('3');
    expect(fields?.['spec.count']?.(thing())).toBe('');
  });

  it('changes apiVersion and drops fields the other version lacks when there is no converter', async () => {
    const convert = definitionFromCrd(definition(), {}).convert!;
    expect(await convert(thing({ spec: {}, other: 1 }), 'v1beta1')).toEqual({
      ...thing({ spec: {} }),
      apiVersion: 'example.com/v1beta1',
    });
  });

  it('converts by webhook with a copy of the object', async () => {
    const crd = definition({ conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'] } } });
    const convert = definitionFromCrd(crd, {
      convertByWebhook: async (asked, object, toVersion) => {
        expect(asked).toBe(crd);
        object['spec'] = {};
        return { ...object, apiVersion: `example.com/${toVersion}`, other: 1 };
      },
    }).convert!;
    expect(await convert(thing(), 'v1beta1')).toEqual({ ...thing({ spec: {} }), apiVersion: 'example.com/v1beta1' });
    const without = definitionFromCrd(crd, {}).convert!;
    await expect(without(thing(), 'v1beta1')).rejects.toThrow('cannot be called');
  });
});

describe('the columns of a custom kind', () => {
  const now = Date.UTC(2026, 0, 1);

  function cells(columns: CrdColumn[], object: UnstructuredObject): unknown[] {
    const crd = definition({
      versions: [{ name: 'v1', served: true, storage: true, schema, additionalPrinterColumns: columns }],
    });
    return definitionFromCrd(crd, {}).versions[0]!.printer.row(object, now).slice(1);
  }

  it('are name and age when the definition lists none', () => {
    const { printer } = definitionFromCrd(definition(), {}).versions[0]!;
    expect(printer.columns.map((column) => [column.name, column.type])).toEqual([
      ['Name', 'string'],
      ['Age', 'date'],
    ]);
    const object = thing({ metadata: { name: 'x', creationTimestamp: '2025-12-31T23:55:00Z' } });
    expect(printer.row(object, now)).toEqual(['x', '5m']);
  });

  it.each<[string, string, JsonObject, unknown]>([
    ['string', '.spec.v', { v: 'a' }, 'a'],
    ['string', '.spec.v', { v: 5 }, '5'],
    ['string', '.spec.v', { v: true }, 'true'],
    ['string', '.spec.v', { v: null }, '<no value>'],
    ['string', '.spec.v', { v: { b: 1, a: [2] } }, '{"a":[2],"b":1}'],
    ['string', '.spec.v', {}, null],
    ['string', '.spec.v[*]', { v: ['first', 'second'] }, 'first'],
    ['string', '.spec.v[?(@.type=="Ready")].status', { v: [{ type: 'Ready', status: 'True' }] }, 'True'],
    ['integer', '.spec.v', { v: 5.9 }, 5],
    ['integer', '.spec.v', { v: 'x' }, null],
    ['number', '.spec.v', { v: 1.5 }, 1.5],
    ['boolean', '.spec.v', { v: false }, false],
    ['boolean', '.spec.v', { v: 'false' }, null],
    ['date', '.spec.v', { v: '2025-12-31T00:00:00Z' }, '24h'],
    ['date', '.spec.v', { v: 'yesterday' }, '<invalid>'],
    ['date', '.spec.v', { v: '' }, '<unknown>'],
    ['date', '.spec.v', {}, null],
    ['string', '.spec[', {}, null],
  ])('print for type %s in the column %s of the value %j the cell %j', (type, jsonPath, spec, expected) => {
    expect(cells([{ name: 'C', type, jsonPath }], thing({ spec }))).toEqual([expected]);
  });

  it('have a description that names their JSON path', () => {
    const crd = definition({
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema,
          additionalPrinterColumns: [
            { name: 'A', type: 'integer', format: 'int32', priority: 1, jsonPath: '.spec.a' },
            { name: 'B', type: 'string', description: 'the b', jsonPath: '.spec.b' },
          ],
        },
      ],
    });
    expect(definitionFromCrd(crd, {}).versions[0]!.printer.columns.slice(1)).toEqual([
      {
        name: 'A',
        type: 'integer',
        format: 'int32',
        priority: 1,
        description: 'Custom resource definition column (in JSONPath format): .spec.a',
      },
      { name: 'B', type: 'string', description: 'the b' },
    ]);
  });
});
