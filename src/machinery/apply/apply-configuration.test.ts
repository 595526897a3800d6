import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deepFreeze, isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { asJson, asUnstructured } from '../meta/crossings.ts';
import type { ManagedFieldsEntry, UnstructuredObject } from '../meta/types.ts';
import type { Schema } from '../schema/types.ts';
import { type AppliedConfiguration, type ApplyConfigurationInput, applyConfiguration } from './apply-configuration.ts';
import { ApplyConflictError } from './apply-error.ts';
import { fieldSetOf } from './field-set.ts';
import { updateManagedFields } from './update-managed-fields.ts';
import type { VersionedKind } from './versioned-kind.ts';

const text: Schema = { type: 'string' };
const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        replicas: { type: 'integer' },
        name: text,
        set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port', 'protocol'],
          items: {
            type: 'object',
            properties: { port: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' }, name: text },
          },
        },
        map: { type: 'object', additionalProperties: text },
      },
    },
    status: { type: 'object', properties: { phase: text } },
  },
};
const start = Date.parse('2026-01-01T00:00:00Z');
const kind: VersionedKind = {
  schema: (apiVersion) => (apiVersion === 'x/v1' ? schema : undefined),
  convert: (object) => object,
};

function config(spec: JsonObject, extra: JsonObject = {}): UnstructuredObject {
  return deepFreeze({ apiVersion: 'x/v1', kind: 'Widget', metadata: { name: 'w' }, spec, ...extra });
}

function apply(
  applied: UnstructuredObject,
  manager: string,
  before?: AppliedConfiguration,
  options: Partial<ApplyConfigurationInput> = {},
): Promise<AppliedConfiguration> {
  return applyConfiguration({
    applied,
    manager,
    apiVersion: 'x/v1',
    force: false,
    nowMs: start,
    versions: kind,
    liveManaged: before?.managedFields ?? [],
    ...(before && { live: deepFreeze(before.object) }),
    ...options,
  });
}

describe('applyConfiguration', () => {
  it('creates an object from a configuration', async () => {
    const created = await apply(config({ replicas: 1 }), 'm');
    expect(created).toEqual({
      object: { apiVersion: 'x/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { replicas: 1 } },
      managedFields: [
        {
          manager: 'm',
          operation: 'Apply',
          apiVersion: 'x/v1',
          time: '2026-01-01T00:00:00Z',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:spec': { 'f:replicas': {} } },
        },
      ],
      changed: true,
    });
  });

  it('changes nothing, not even times, when applied again', async () => {
    const first = await apply(config({ replicas: 1, set: ['a'] }), 'm');
    const second = await apply(config({ replicas: 1, set: ['a'] }), 'm', first, { nowMs: start + 60_000 });
    expect(second.changed).toBe(false);
    expect(second.managedFields).toBe(first.managedFields);
    expect(second.object).toEqual(first.object);
  });

  it('renews the time when it changes something', async () => {
    const first = await apply(config({ replicas: 1 }), 'm');
    const second = await apply(config({ replicas: 2 }), 'm', first, { nowMs: start + 60_000 });
    expect(second.managedFields[0]!.time).toBe('2026-01-01T00:01:00Z');
    expect(second.managedFields[0]!.fieldsV1).toBe(first.managedFields[0]!.fieldsV1);
  });

  it('names the subresource and version of an updater in a conflict', async () => {
    const live = config({ replicas: 1 });
    const scaled: ManagedFieldsEntry[] = await updateManagedFields({
      next: live,
      liveManaged: [],
      manager: 'kubectl',
      apiVersion: 'x/v1',
      subresource: 'scale',
      nowMs: start,
      versions: kind,
    });
    const before = { object: live, managedFields: scaled, changed: true };
    const error = await apply(config({ replicas: 2 }), 'm', before).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ApplyConflictError);
    const conflict = error as ApplyConflictError;
    // Recorded from kube-apiserver 1.34 for a Deployment after `kubectl scale`.
    expect(conflict.message).toBe(
      'Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using x/v1: .spec.replicas',
    );
    expect(conflict.conflicts).toEqual([
      {
        manager: 'kubectl',
        operation: 'Update',
        apiVersion: 'x/v1',
        subresource: 'scale',
        time: '2026-01-01T00:00:00Z',
        field: '.spec.replicas',
      },
    ]);
    expect(conflict.toStatusCauses()).toEqual([
      {
        reason: 'FieldManagerConflict',
        message: 'conflict with "kubectl" with subresource "scale" using x/v1',
        field: '.spec.replicas',
      },
    ]);
    expect(conflict.toApiStatusError().status).toMatchObject({ code: 409, reason: 'Conflict' });
  });

  it('matches list items by defaulted keys', async () => {
    const first = await apply(config({ ports: [{ port: 80, protocol: 'TCP', name: 'a' }] }), 'm');
    const second = await apply(config({ ports: [{ port: 80 }, { port: 80, protocol: 'UDP' }] }), 'n', first);
    expect(second.object.spec).toEqual({
      ports: [
        { port: 80, protocol: 'TCP', name: 'a' },
        { port: 80, protocol: 'UDP' },
      ],
    });
  });

  it.each<[string, string[], string[], string[]]>([
    ['keeps the live order', ['a', 'b', 'c'], ['c'], ['a', 'b', 'c']],
    ['puts new items after what they follow', ['a', 'b', 'c'], ['a', 'n', 'c'], ['a', 'b', 'n', 'c']],
    ['follows the configuration where it reorders', ['a', 'b', 'c'], ['c', 'a'], ['b', 'c', 'a']],
    ['appends', ['a', 'b'], ['n'], ['a', 'b', 'n']],
  ])('in an ordered set %s', async (_, live, applied, expected) => {
    const first = await apply(config({ set: live }), 'm');
    const second = await apply(config({ set: applied }), 'n', first);
    expect((second.object.spec as { set: string[] }).set).toEqual(expected);
  });

  it('leaves status to the status endpoint', async () => {
    const main = { resetFields: fieldSetOf(['status']) };
    const created = await apply(config({ replicas: 1 }, { status: { phase: 'x' } }), 'm', undefined, main);
    expect(created.managedFields[0]!.fieldsV1).toEqual({ 'f:spec': { 'f:replicas': {} } });
    const status = await apply(
      deepFreeze({ apiVersion: 'x/v1', kind: 'Widget', metadata: { name: 'w' }, status: { phase: 'y' } }),
      'm',
      created,
      { subresource: 'status', resetFields: fieldSetOf(['spec']) },
    );
    expect(status.managedFields.map((e) => [e.subresource, e.fieldsV1])).toEqual([
      [undefined, { 'f:spec': { 'f:replicas': {} } }],
      ['status', { 'f:status': { 'f:phase': {} } }],
    ]);
  });

  it('leaves an empty container behind when only its owner remains', async () => {
    const owner = await apply(config({ map: {} }), 'o');
    const filled = await apply(config({ map: { a: '1' } }), 'm', owner);
    const emptied = await apply(config({}), 'm', filled);
    expect(emptied.object.spec).toEqual({ map: {} });
  });

  it('prunes in the version of the last apply', async () => {
    const v2: Schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { count: { type: 'integer' }, name: text } } },
    };
    const versions: VersionedKind = {
      schema: (apiVersion) => (apiVersion === 'x/v1' ? schema : apiVersion === 'x/v2' ? v2 : undefined),
      convert: async (object, apiVersion) => {
        const { replicas, count, ...rest } = (object.spec ?? {}) as JsonObject;
        const value = replicas ?? count;
        const name = apiVersion === 'x/v2' ? 'count' : 'replicas';
        return { ...object, apiVersion, spec: { ...rest, ...(value !== undefined && { [name]: value }) } };
      },
    };
    const first = await apply(config({ replicas: 1, name: 'n' }), 'm', undefined, { versions });
    const moved = await apply({ ...config({ name: 'n' }), apiVersion: 'x/v2' }, 'm', first, {
      versions,
      apiVersion: 'x/v2',
    });
    expect(moved.object).toMatchObject({ apiVersion: 'x/v2', spec: { name: 'n' } });
    expect(moved.object.spec).not.toHaveProperty('count');
    expect(moved.managedFields).toMatchObject([{ apiVersion: 'x/v2', fieldsV1: { 'f:spec': { 'f:name': {} } } }]);
  });

  it('keeps a field that is applied empty, also where conversions drop what is null', async () => {
    const box: Schema = { type: 'object', properties: { a: text, b: text } };
    const boxed: Schema = { type: 'object', properties: { spec: { type: 'object', properties: { box, name: text } } } };
    const dropNulls = (value: JsonValue): JsonValue =>
      isJsonObject(value)
        ? Object.fromEntries(
            Object.entries(value).flatMap(([key, member]) =>
              member === undefined || member === null ? [] : [[key, dropNulls(member)]],
            ),
          )
        : value;
    const versions: VersionedKind = {
      schema: () => boxed,
      convert: (object, apiVersion) => asUnstructured({ ...(dropNulls(asJson(object)) as JsonObject), apiVersion }),
    };
    const first = await apply(config({ box: { a: '1', b: '2' } }), 'm', undefined, { versions });
    const live = config({ box: { a: '1', b: '2' }, name: 'n' });
    const managedFields = await updateManagedFields({
      live: first.object,
      next: { ...live, apiVersion: 'x/v2' },
      liveManaged: first.managedFields,
      manager: 'controller',
      apiVersion: 'x/v2',
      nowMs: start,
      versions,
    });
    const before = { object: live, managedFields, changed: true };
    const after = await apply(config({ box: {} }), 'm', before, { versions });
    expect(after.object.spec).toEqual({ box: {}, name: 'n' });
  });

  it.each<[string, UnstructuredObject, number, string]>([
    ['another version', { ...config({}), apiVersion: 'x/v2' }, 400, 'invalid object type: x/v2, Kind=Widget'],
    [
      'managedFields',
      { ...config({}), metadata: { name: 'w', managedFields: [] } },
      400,
      'metadata.managedFields must be nil',
    ],
    [
      'undeclared fields',
      config({ nope: 1 }),
      500,
      'failed to create typed patch object (/w; x/v1, Kind=Widget): .spec.nope: field not declared in schema',
    ],
    [
      'several problems',
      config({ name: 2, set: ['a', 'a'] }),
      500,
      'failed to create typed patch object (/w; x/v1, Kind=Widget): errors:\n  .spec.name: expected string, got &value.valueUnstructured{Value:2}\n  .spec.set: duplicate entries for key [="a"]',
    ],
  ])('refuses %s', async (_, applied, status, message) => {
    await expect(apply(applied, 'm')).rejects.toThrowError(expect.objectContaining({ status, message }));
  });

  describe('any applied configuration', () => {
    const words = fc.constantFrom('a', 'b', 'c');
    // Explicitly empty lists are left out: upstream first adds such a list, and later removes it together with its
    // former items.
    const specs: fc.Arbitrary<JsonObject> = fc.record(
      {
        replicas: fc.integer({ min: 0, max: 2 }),
        name: words,
        set: fc.uniqueArray(words, { minLength: 1 }),
        ports: fc.uniqueArray(
          fc.record(
            { port: fc.constantFrom(1, 2), protocol: fc.constantFrom('TCP', 'UDP'), name: words },
            { requiredKeys: ['port'] },
          ),
          { minLength: 1, selector: (port) => `${port.port}/${port.protocol ?? 'TCP'}` },
        ),
        map: fc.dictionary(words, words),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<JsonObject>;

    it('is present afterwards, and applying it again changes nothing', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(specs, { minLength: 1, maxLength: 4 }), async (history) => {
          let state: AppliedConfiguration | undefined;
          for (const [index, spec] of history.entries()) {
            state = await apply(config(spec), index % 2 === 0 ? 'even' : 'odd', state, { force: true });
          }
          const last = history.at(-1)!;
          const manager = history.length % 2 === 1 ? 'even' : 'odd';
          const again = await apply(config(last), manager, state!, { nowMs: start + 60_000 });
          expect(again.changed).toBe(false);
          expect(again.managedFields).toBe(state!.managedFields);
          const spec = (state!.object.spec ?? {}) as Record<string, JsonValue>;
          for (const key of ['replicas', 'name']) if (last[key] !== undefined) expect(spec[key]).toEqual(last[key]);
          expect(spec['set'] ?? []).toEqual(expect.arrayContaining((last['set'] ?? []) as string[]));
          expect(spec['map'] ?? {}).toMatchObject((last['map'] ?? {}) as JsonObject);
        }),
        { numRuns: 60 },
      );
    });

    it('is removed when the only applier applies nothing', async () => {
      await fc.assert(
        fc.asyncProperty(specs, async (spec) => {
          const before = await apply(config(spec), 'm');
          const after = await apply(config({}), 'm', before);
          expect(after.managedFields).toEqual([expect.objectContaining({ manager: 'm', fieldsV1: { 'f:spec': {} } })]);
          expect(after.object.spec).toEqual({});
        }),
        { numRuns: 60 },
      );
    });
  });
});
