import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  clone,
  type KubeObject,
  type ResourceDefinition,
  type StrategyContext,
  seededRandom,
  type UnstructuredObject,
} from '../machinery/index.ts';
import { builtinDefinitions, subresourceBodyDefinitions } from './builtin.ts';

const context: StrategyContext = {
  nowMs: Date.UTC(2026, 0, 1),
  random: seededRandom(1),
  user: 'admin',
  groups: ['system:masters', 'system:authenticated'],
};

function definitionOf(object: KubeObject): ResourceDefinition {
  const group = object.apiVersion.includes('/') ? object.apiVersion.split('/')[0] : '';
  const found = builtinDefinitions.find((definition) => definition.group === group && definition.kind === object.kind);
  if (!found) throw new Error(`no definition for ${object.apiVersion} ${object.kind}`);
  return found;
}

interface DefaultsCase {
  name: string;
  /** kube-apiserver maintains metadata.generation for this kind */
  counted: boolean;
  input: UnstructuredObject;
  expected: UnstructuredObject;
}

/**
 * Recorded from kube-apiserver 1.34.4: the object of a create request, and the result without admission and allocation.
 */
const defaultsCases = JSON.parse(
  readFileSync(join(import.meta.dirname, 'testdata/builtin-defaults.json'), 'utf8'),
) as DefaultsCase[];

async function created(input: UnstructuredObject): Promise<UnstructuredObject> {
  const definition = definitionOf(input);
  const version = input.apiVersion.split('/').at(-1)!;
  let draft = clone(input);
  draft.metadata.uid = '11111111-2222-3333-4444-555555555555';
  if (version !== definition.storageVersion) draft = await definition.convert!(draft, definition.storageVersion);
  definition.strategy.applyDefaults?.(draft);
  definition.strategy.prepareForCreate?.(draft, context);
  if (version !== definition.storageVersion) draft = await definition.convert!(draft, version);
  delete draft.metadata.uid;
  return draft;
}

describe('a created object', () => {
  it.each(defaultsCases.map((entry) => [entry.name, entry] as const))(
    'gets the same defaults as kube-apiserver sets: %s',
    async (_name, { input, expected }) => {
      expect(await created(input)).toEqual(expected);
    },
  );

  it.each(defaultsCases.map((entry) => [entry.name, entry] as const))(
    'does not change when defaults are applied again: %s',
    async (_name, { input }) => {
      const definition = definitionOf(input);
      if (!input.apiVersion.endsWith(definition.storageVersion)) return;
      const once = await created(input);
      const twice = clone(once);
      definition.strategy.applyDefaults?.(twice);
      expect(twice).toEqual(once);
    },
  );

  it.each(defaultsCases.map((entry) => [entry.name, entry] as const))(
    'passes the validation of its kind: %s',
    async (_name, { input }) => {
      const definition = definitionOf(input);
      let object = await created(input);
      object.metadata.uid = '11111111-2222-3333-4444-555555555555';
      if (!input.apiVersion.endsWith(definition.storageVersion)) {
        object = await definition.convert!(object, definition.storageVersion);
      }
      expect(definition.strategy.validateCreate?.(object, context) ?? []).toEqual([]);
      expect(definition.strategy.validateUpdate?.(object, object, context) ?? []).toEqual([]);
    },
  );

  it('increments its generation exactly where kube-apiserver does', () => {
    const wrong = defaultsCases.filter(({ input, counted }) => counted === (definitionOf(input).noGeneration ?? false));
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });
});

describe('built-in definitions', () => {
  const all = [...builtinDefinitions, ...subresourceBodyDefinitions];

  it('name every resource only once', () => {
    const names = all.map(({ group, plural }) => `${plural}.${group}`);
    expect(names.length).toBe(new Set(names).size);
  });

  it.each(all.flatMap((definition) => definition.versions.map((version) => [definition, version] as const)))(
    'have a schema for every version: $0.kind $1.name',
    (definition, version) => {
      expect(version.schema.properties?.['metadata'] ?? version.schema.type).toBeDefined();
      expect(version.schema['component' as never] ?? '').toContain(definition.kind);
    },
  );
});

const referenceDirectory = process.env['CAPSTAN_REFERENCE_DATA'];
const referenceFile = (name: string): string => join(referenceDirectory ?? '', 'kubernetes', name);
const hasReference = referenceDirectory !== undefined && existsSync(referenceFile('discovery.json'));

interface DiscoveredResource {
  name: string;
  kind: string;
  namespaced: boolean;
  singularName: string;
  shortNames?: string[];
  categories?: string[];
  verbs: string[];
  group?: string;
  version?: string;
}

/** Kinds and subresources that Capstan documents as not served. */
const notServed =
  /^(componentstatuses|ipaddresses|servicecidrs.*|volumeattributesclasses|nodes\/proxy|services\/proxy|pods\/(ephemeralcontainers|proxy|resize))$/;

describe.skipIf(!hasReference)('compared with kube-apiserver (CAPSTAN_REFERENCE_DATA)', () => {
  const read = <T>(name: string): T => JSON.parse(readFileSync(referenceFile(name), 'utf8')) as T;

  it('list the same resources in discovery with the same names, verbs and categories', () => {
    const reference = read<Record<string, DiscoveredResource[]>>('discovery.json');
    const expected: Record<string, DiscoveredResource[]> = {};
    for (const [groupVersion, resources] of Object.entries(reference)) {
      expected[groupVersion] = resources
        .filter(({ name }) => !notServed.test(name))
        .map(({ shortNames, categories, ...rest }) => ({
          ...rest,
          verbs: [...rest.verbs].sort(),
          ...(shortNames && { shortNames }),
          ...(categories && { categories }),
        }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    }
    expect(discovery()).toEqual(expected);
  });

  it('print tables with the same columns', () => {
    const reference = read<Record<string, unknown[]>>('table-columns.json');
    for (const definition of builtinDefinitions) {
      const version = definition.versions[0]!;
      const prefix = definition.group === '' ? version.name : `${definition.group}/${version.name}`;
      const expected = reference[`${prefix}/${definition.plural}`];
      if (!expected) {
        expect(definition.verbs, `${definition.plural} has no reference columns`).toEqual(['create']);
        continue;
      }
      expect(version.printer.columns, definition.kind).toEqual(expected);
    }
  });
});

/** Returns our definitions in the shape of the reference, which records the newest version only. */
function discovery(): Record<string, DiscoveredResource[]> {
  const result: Record<string, DiscoveredResource[]> = {};
  for (const definition of builtinDefinitions) {
    const { kind, namespaced, plural } = definition;
    const version = definition.versions[0]!;
    const key = definition.group === '' ? version.name : `${definition.group}/${version.name}`;
    result[key] ??= [];
    const list = result[key];
    list.push({
      kind,
      name: plural,
      namespaced,
      singularName: definition.singular,
      verbs: [...definition.verbs].sort(),
      ...(definition.shortNames.length > 0 && { shortNames: [...definition.shortNames] }),
      ...(definition.categories.length > 0 && { categories: [...definition.categories] }),
    });
    const statusVerbs = ['get', 'patch', 'update'];
    if (version.hasStatus)
      list.push({ kind, name: `${plural}/status`, namespaced, singularName: '', verbs: statusVerbs });
    if (version.scale) {
      const scale = { kind: 'Scale', group: 'autoscaling', version: 'v1' };
      list.push({ ...scale, name: `${plural}/scale`, namespaced, singularName: '', verbs: statusVerbs });
    }
    for (const subresource of definition.subresources) {
      const foreign = subresource.group !== definition.group;
      list.push({
        kind: subresource.kind,
        name: `${plural}/${subresource.name}`,
        namespaced,
        singularName: '',
        verbs: [...subresource.verbs].sort(),
        ...(foreign && { group: subresource.group, version: subresource.version }),
      });
    }
  }
  for (const list of Object.values(result)) list.sort((a, b) => (a.name < b.name ? -1 : 1));
  return result;
}
