import { describe, expect, it } from 'vitest';
import type { KubeObject, UnstructuredObject } from '../../machinery/index.ts';
import { conversionDataAnnotation } from './conversion.ts';
import { defineKind } from './define.ts';
import { field, fields } from './mapping.ts';
import { boolean, type Field, int32, listKeyedBy, object, oneOf, setOf, string } from './schema.ts';
import { durationSeconds } from './values.ts';

interface BoatSpec {
  name: string;
  crew?: number;
  sails?: { kind: 'Main' | 'Jib'; patched?: boolean }[];
  timeouts?: { dockSeconds?: number };
}
interface Boat extends KubeObject {
  spec: BoatSpec;
}

const boatSpec = (): Field<BoatSpec> =>
  object(
    {
      name: string('Name of the boat.', { minLength: 1 }).required(),
      crew: int32('People on board.', { minimum: 0 }).default(1),
      sails: listKeyedBy(['kind'], object({ kind: oneOf(['Main', 'Jib']).required(), patched: boolean() })),
      timeouts: object({ dockSeconds: int32() }, 'How long things take.', { minProperties: 1 }),
    },
    'Desired state.',
  );

// The compiler checks this test: missing, additional, wrongly typed or optional fields do not compile.
const refused: Field<never>[] = [];
const expectType = <T>(value: Field<T>): void => void refused.push(value as unknown as Field<never>);
// @ts-expect-error a required field is optional here
expectType<{ name: string }>(object({ name: string() }));
// @ts-expect-error the enum lacks a value
expectType<{ kind?: 'Main' | 'Jib' }>(object({ kind: oneOf(['Main']) }));
// @ts-expect-error a field the interface does not have
expectType<{ a?: string }>(object({ a: string(), b: string() }));
// @ts-expect-error a field the schema does not have, deep inside
expectType<{ a?: { b?: string; c?: string } }>(object({ a: object({ b: string() }) }));
expectType<{ a: string; b?: number[] }>(object({ a: string().required(), b: setOf(int32()) }));

let built = 0;
const { definition, resource } = defineKind<Boat>({
  group: 'harbour.example.com',
  kind: 'Boat',
  plural: 'boats',
  shortNames: ['bo'],
  description: 'A boat.',
  labels: { contract: 'v1' },
  hub: {
    name: 'v2',
    spec: () => {
      built++;
      return boatSpec();
    },
    specRequired: true,
    hasStatus: false,
    columns: [
      { name: 'Crew', type: 'integer', jsonPath: '.spec.crew' },
      { name: 'Jib', type: 'string', jsonPath: '.spec.sails[?(@.kind=="Jib")].patched' },
      { name: 'Owner', type: 'string', jsonPath: '.metadata.labels.example\\.com/owner' },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
  },
  old: [
    {
      name: 'v1',
      deprecated: true,
      hasStatus: false,
      spec: () => object({ name: string(), crew: int32(), dockTimeout: string(), flag: string() }),
      mapping: fields(field('spec', 'spec', fields(field('dockTimeout', 'timeouts.dockSeconds', durationSeconds)))),
    },
  ],
});

const convert = (object: UnstructuredObject, version: string): UnstructuredObject =>
  definition.convert!(object, version) as UnstructuredObject;
const boat = (version: string, spec: object, annotations?: Record<string, string>): UnstructuredObject => ({
  apiVersion: `harbour.example.com/${version}`,
  kind: 'Boat',
  metadata: { name: 'b', ...(annotations ? { annotations } : {}) },
  spec: spec as UnstructuredObject['spec'] & object,
});

describe('a kind defined by one description', () => {
  it('builds its schema on first access, and only once', () => {
    expect(built).toBe(0);
    expect(definition.versions[0]!.schema).toBe(definition.versions[0]!.schema);
    expect(built).toBe(1);
  });

  it('publishes a CustomResourceDefinition with both versions', () => {
    expect(definition.crd).toMatchObject({
      metadata: { name: 'boats.harbour.example.com', labels: { contract: 'v1' } },
      spec: {
        scope: 'Namespaced',
        names: { kind: 'Boat', listKind: 'BoatList', singular: 'boat', shortNames: ['bo'] },
        versions: [
          { name: 'v2', served: true, storage: true, additionalPrinterColumns: [{ name: 'Crew' }, {}, {}, {}] },
          { name: 'v1', served: true, storage: false, deprecated: true },
        ],
      },
    });
  });

  it('warns users of an old version which version to use', () => {
    const { deprecationWarning } = definition.versions.find(({ name }) => name === 'v1')!;
    expect(deprecationWarning).toBe('harbour.example.com/v1 Boat is deprecated; use harbour.example.com/v2 Boat');
    expect(JSON.stringify(definition.crd)).not.toContain('deprecationWarning');
  });

  it('names the hub version in its resource for typed clients', () => {
    expect(resource).toEqual({
      group: 'harbour.example.com',
      version: 'v2',
      kind: 'Boat',
      plural: 'boats',
      namespaced: true,
    });
  });

  it('prints table rows from the paths of its columns', () => {
    const object = boat('v2', { name: 'x', crew: 3, sails: [{ kind: 'Main' }, { kind: 'Jib', patched: true }] });
    object.metadata.labels = { 'example.com/owner': 'ann' };
    object.metadata.creationTimestamp = '2026-01-01T00:00:00Z';
    const { printer } = definition.versions[0]!;
    expect(printer.columns.map(({ name }) => name)).toEqual(['Name', 'Crew', 'Jib', 'Owner', 'Age']);
    expect(printer.row(object, Date.parse('2026-01-01T00:05:00Z'))).toEqual(['b', 3, 'true', 'ann', '5m']);
    expect(printer.row(boat('v2', { name: 'x' }), 0)).toEqual(['b', null, null, null, null]);
  });

  it('fills hub defaults into an object that came in an old version', () => {
    const draft = convert(boat('v1', { name: 'x' }), 'v2');
    definition.strategy.applyDefaults!(draft);
    expect(draft.spec).toEqual({ name: 'x', crew: 1 });
  });
});

describe('conversion', () => {
  it('adds no annotation when both versions can say everything', () => {
    const stored = convert(boat('v1', { name: 'x', dockTimeout: '1m30s' }), 'v2');
    expect(stored.spec).toEqual({ name: 'x', timeouts: { dockSeconds: 90 } });
    expect(stored.metadata).toEqual({ name: 'b' });
    expect(convert(stored, 'v1')).toEqual(boat('v1', { name: 'x', dockTimeout: '1m30s' }));
  });

  it('returns a duration spelled as it was written', () => {
    const written = boat('v1', { name: 'x', dockTimeout: '90s', flag: 'red' });
    expect(convert(convert(written, 'v2'), 'v1')).toEqual(written);
  });

  it('shows hub changes in the old version together with data only the old version knows', () => {
    const stored = convert(boat('v1', { name: 'x', dockTimeout: '90s', flag: 'red' }), 'v2');
    const changed = { ...stored, spec: { name: 'x', crew: 4, timeouts: { dockSeconds: 60 } } };
    expect(convert(changed, 'v1').spec).toEqual({ name: 'x', crew: 4, dockTimeout: '1m0s', flag: 'red' });
  });

  it('keeps data the old version cannot show when the old version changes another field', () => {
    const stored = boat('v2', { name: 'x', sails: [{ kind: 'Jib' }] });
    const shown = convert(stored, 'v1');
    expect(JSON.parse(shown.metadata.annotations![conversionDataAnnotation]!)).toEqual({
      apiVersion: 'harbour.example.com/v2',
      kind: 'Boat',
      spec: stored.spec,
    });
    const edited = { ...shown, spec: { name: 'y' } };
    expect(convert(edited, 'v2')).toEqual(boat('v2', { name: 'y', sails: [{ kind: 'Jib' }] }));
  });

  it('keeps the annotation at the same size when an object is converted back and forth', () => {
    let object = convert(boat('v1', { name: 'x', flag: 'red' }), 'v2');
    object = { ...object, spec: { name: 'x', sails: [{ kind: 'Jib' }] } };
    const sizes: number[] = [];
    for (let i = 0; i < 4; i++) {
      object = convert(convert(object, 'v1'), 'v2');
      sizes.push(object.metadata.annotations![conversionDataAnnotation]!.length);
    }
    expect(new Set(sizes).size).toBe(1);
  });

  it.each(['not json', '[]', '{"spec":{"name":"evil"}}'])('ignores the foreign annotation %s', (text) => {
    const object = boat('v1', { name: 'x' }, { [conversionDataAnnotation]: text, note: 'kept' });
    expect(convert(object, 'v2')).toEqual(boat('v2', { name: 'x' }, { note: 'kept' }));
  });

  it('omits values that the target version would refuse for being empty', () => {
    const stored = convert(boat('v1', { name: 'x', dockTimeout: 'soon' }), 'v2');
    expect(stored.spec).toEqual({ name: 'x' });
    expect(convert(stored, 'v1').spec).toEqual({ name: 'x', dockTimeout: 'soon' });
  });
});
