import { describe, expect, it } from 'vitest';
import { deepFreeze, type JsonObject } from '../json/value.ts';
import type { ManagedFieldsEntry, UnstructuredObject } from '../meta/types.ts';
import type { Schema } from '../schema/types.ts';
import { type FieldSet, fieldSetOf } from './field-set.ts';
import { equalIgnoringTimes } from './managed-entries.ts';
import { type UpdateManagedFieldsInput, updateManagedFields } from './update-managed-fields.ts';
import type { VersionedKind } from './versioned-kind.ts';

const text: Schema = { type: 'string' };
const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        a: text,
        b: text,
        list: { type: 'array', items: text },
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

function widget(spec: JsonObject, extra: JsonObject = {}, managedFields?: ManagedFieldsEntry[]): UnstructuredObject {
  return deepFreeze({
    apiVersion: 'x/v1',
    kind: 'Widget',
    metadata: { name: 'w', uid: 'u', resourceVersion: '7', generation: 3, ...(managedFields && { managedFields }) },
    spec,
    ...extra,
  }) as object as UnstructuredObject;
}

function write(input: Partial<UpdateManagedFieldsInput> & { next: UnstructuredObject }): ManagedFieldsEntry[] {
  const result = updateManagedFields({
    liveManaged: [],
    manager: 'm',
    apiVersion: 'x/v1',
    nowMs: start,
    versions: kind,
    ...input,
  });
  if (result instanceof Promise) throw new Error('expected an answer at once');
  return result;
}

const fieldsOf = (entries: ManagedFieldsEntry[]): Record<string, unknown> =>
  Object.fromEntries(entries.map((e) => [e.manager, e.fieldsV1]));

describe('updateManagedFields', () => {
  it('writes the entry of a creator', () => {
    expect(write({ next: widget({ a: '1', map: { k: 'v' } }) })).toEqual([
      {
        manager: 'm',
        operation: 'Update',
        apiVersion: 'x/v1',
        time: '2026-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { '.': {}, 'f:a': {}, 'f:map': { '.': {}, 'f:k': {} } } },
      },
    ]);
  });

  it('calls a manager without a name unknown', () => {
    expect(write({ next: widget({ a: '1' }), manager: '' })[0]!.manager).toBe('unknown');
  });

  it('writes no entry when nothing is owned', () => {
    const bare = { apiVersion: 'x/v1', kind: 'Widget', metadata: { name: 'w' } };
    expect(write({ next: bare })).toEqual([]);
  });

  it('returns the same list when nothing changes', () => {
    const live = widget({ a: '1' });
    const liveManaged = write({ next: live });
    expect(write({ live, next: widget({ a: '1' }), liveManaged, manager: 'n', nowMs: start + 5000 })).toBe(liveManaged);
  });

  it('renews only the time when a manager changes values it owns', () => {
    const live = widget({ a: '1', b: '1' });
    const liveManaged = write({ next: live });
    const after = write({ live, next: widget({ a: '2', b: '1' }), liveManaged, nowMs: start + 5000 });
    expect(after[0]!.time).toBe('2026-01-01T00:00:05Z');
    expect(after[0]!.fieldsV1).toBe(liveManaged[0]!.fieldsV1);
    const sameSecond = write({ live, next: widget({ a: '2', b: '1' }), liveManaged, nowMs: start + 500 });
    expect(sameSecond).toBe(liveManaged);
  });

  it('moves a changed field to the manager who changed it and leaves other entries alone', () => {
    const live = widget({ a: '1', b: '1' });
    const liveManaged = write({ next: live });
    const next = widget({ a: '2', b: '1', map: { k: 'v' } });
    const second = write({ live, next, liveManaged, manager: 'n', nowMs: start + 5000 });
    expect(fieldsOf(second)).toEqual({
      m: { 'f:spec': { '.': {}, 'f:b': {} } },
      n: { 'f:spec': { 'f:a': {}, 'f:map': { '.': {}, 'f:k': {} } } },
    });
    expect(second.map((e) => e.time)).toEqual(['2026-01-01T00:00:00Z', '2026-01-01T00:00:05Z']);
    const third = write({
      live: next,
      next: widget({ a: '3', b: '1', map: { k: 'v' } }),
      liveManaged: second,
      manager: 'o',
    });
    expect(third.find((e) => e.manager === 'm')).toBe(second.find((e) => e.manager === 'm'));
  });

  it('takes removed fields from all managers without renewing the time of the one who removed them', () => {
    const live = widget({ a: '1', b: '1' });
    const liveManaged = write({ next: live });
    const removed = write({ live, next: widget({ b: '1' }), liveManaged, nowMs: start + 5000 });
    expect(removed).toEqual([{ ...liveManaged[0], fieldsV1: { 'f:spec': { '.': {}, 'f:b': {} } } }]);
    const gone = { ...widget({}), spec: undefined } as object as UnstructuredObject;
    expect(write({ live, next: gone, liveManaged, manager: 'n' })).toEqual([]);
  });

  it('owns a list without a list type as a whole', () => {
    const live = widget({ list: ['a'] });
    const liveManaged = write({ next: live });
    const after = write({ live, next: widget({ list: ['a', 'b'] }), liveManaged, manager: 'n' });
    expect(fieldsOf(after)).toEqual({ m: { 'f:spec': {} }, n: { 'f:spec': { 'f:list': {} } } });
  });

  it('ignores the fields an endpoint resets', () => {
    const resetFields: FieldSet = fieldSetOf(['status']);
    const live = widget({ a: '1' }, { status: { phase: 'x' } });
    expect(fieldsOf(write({ next: live, resetFields }))).toEqual({ m: { 'f:spec': { '.': {}, 'f:a': {} } } });
    const controller = write({
      next: live,
      manager: 'c',
      subresource: 'status',
      resetFields: fieldSetOf(['spec']),
    });
    expect(controller).toMatchObject([{ manager: 'c', subresource: 'status' }]);
    const after = write({ live, next: widget({ a: '2' }), liveManaged: controller, resetFields });
    expect(fieldsOf(after)).toEqual({
      c: { 'f:status': { '.': {}, 'f:phase': {} } },
      m: { 'f:spec': { 'f:a': {} } },
    });
  });

  it('keeps managers apart by subresource', () => {
    const live = widget({ a: '1' });
    const liveManaged = write({ next: live });
    const after = write({ live, next: widget({ a: '2' }), liveManaged, subresource: 'scale' });
    expect(after.map((e) => [e.manager, e.subresource])).toEqual([
      ['m', undefined],
      ['m', 'scale'],
    ]);
  });

  describe('managedFields sent by the client', () => {
    const live = widget({ a: '1' });
    const liveManaged = write({ next: live });
    const sentWith = (managedFields: unknown, origin: 'builtin' | 'custom' = 'custom'): ManagedFieldsEntry[] =>
      write({
        live,
        next: widget({ a: '1' }, {}, managedFields as ManagedFieldsEntry[]),
        liveManaged,
        versions: { ...kind, origin },
      });
    const edited: ManagedFieldsEntry = {
      manager: 'edited',
      operation: 'Update',
      apiVersion: 'x/v1',
      time: '2020-01-01T02:00:00+02:00',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:a': {} }, 'q:later': {} },
    };

    it('are used when they can be read', () => {
      expect(sentWith([edited])).toEqual([
        { ...edited, time: '2020-01-01T00:00:00Z', fieldsV1: { 'f:spec': { 'f:a': {} } } },
      ]);
    });

    it('count as unchanged when they are a copy of the live ones', () => {
      expect(sentWith(JSON.parse(JSON.stringify(liveManaged)))).toBe(liveManaged);
    });

    it.each<[string, unknown]>([
      ['an unknown operation', [{ ...edited, operation: 'Bogus' }]],
      ['no version', [{ ...edited, apiVersion: '' }]],
      ['no type of fields', [{ ...edited, fieldsType: '' }]],
      ['keys that are no path elements', [{ ...edited, fieldsV1: { zz: {} } }]],
      ['a time that is none', [{ ...edited, time: 'yesterday' }]],
    ])('are ignored with %s', (_, sent) => {
      expect(sentWith(sent)).toBe(liveManaged);
    });

    it('reset the record when they are one empty entry', () => {
      expect(sentWith([{}])).toEqual([]);
      expect(sentWith([{ bogus: 1 }])).toEqual([]);
    });

    it('reset the record of built-in kinds also when they are empty', () => {
      expect(sentWith([], 'builtin')).toEqual([]);
      expect(sentWith([], 'custom')).toBe(liveManaged);
    });

    it('are ignored on subresources', () => {
      const next = widget({ a: '1' }, {}, [{}]);
      expect(write({ live, next, liveManaged, subresource: 'status' })).toBe(liveManaged);
    });

    it('leave an object without record untracked until the first apply', () => {
      expect(write({ live, next: widget({ a: '2' }) })).toEqual([]);
    });
  });

  it('distinguishes records that differ only in their times', () => {
    const record = write({ next: widget({ a: '1' }) });
    const later = write({ next: widget({ a: '1' }), nowMs: start + 5000 });
    expect(equalIgnoringTimes(record, later)).toBe(true);
    expect(equalIgnoringTimes(record, write({ next: widget({ b: '1' }) }))).toBe(false);
    expect(equalIgnoringTimes(record, [])).toBe(false);
  });

  it('folds the oldest updaters together when a version has more than ten', () => {
    let live = widget({ map: {} });
    let liveManaged: ManagedFieldsEntry[] = write({ next: live, manager: 'first' });
    for (let i = 0; i < 11; i++) {
      const map = { ...(live.spec as { map: JsonObject }).map, [`k${i}`]: '1' };
      const next = widget({ map });
      liveManaged = write({
        live,
        next,
        liveManaged,
        manager: `u${String(i).padStart(2, '0')}`,
        nowMs: start + i * 1000,
      });
      live = next;
    }
    expect(liveManaged).toHaveLength(10);
    expect(liveManaged[0]).toMatchObject({
      manager: 'ancient-changes',
      time: '2026-01-01T00:00:01Z',
      fieldsV1: { 'f:spec': { '.': {}, 'f:map': { '.': {}, 'f:k0': {}, 'f:k1': {} } } },
    });
    expect(liveManaged.at(-1)!.manager).toBe('u10');
  });

  it('adapts recorded ownership when a field became atomic', () => {
    const live = widget({ map: { k: 'v', l: 'w' } });
    const liveManaged = write({ next: live });
    const atomicSchema: Schema = {
      ...schema,
      properties: {
        spec: {
          type: 'object',
          properties: { map: { type: 'object', additionalProperties: text, 'x-kubernetes-map-type': 'atomic' } },
        },
      },
    };
    const versions: VersionedKind = { ...kind, schema: () => atomicSchema };
    const after = write({
      live,
      next: widget({ map: { k: 'v', l: 'w' }, a: '1' }),
      liveManaged,
      manager: 'n',
      versions,
    });
    expect(fieldsOf(after)).toEqual({
      m: { 'f:spec': { '.': {}, 'f:map': {} } },
      n: { 'f:spec': { 'f:a': {} } },
    });
  });

  it('forgets managers whose version no longer exists', () => {
    const live = widget({ a: '1', b: '1' });
    const old: ManagedFieldsEntry = { ...write({ next: live })[0]!, apiVersion: 'x/v1alpha1', manager: 'old' };
    const after = write({ live, next: widget({ a: '2', b: '1' }), liveManaged: [old] });
    expect(fieldsOf(after)).toEqual({ m: { 'f:spec': { 'f:a': {} } } });
  });

  it('compares in the version of each manager, also with an asynchronous conversion', async () => {
    // Version v2 renames the field `a` to `z`.
    const renamed: Schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { z: text, b: text } } },
    };
    const versions: VersionedKind = {
      schema: (apiVersion) => (apiVersion === 'x/v1' ? schema : apiVersion === 'x/v2' ? renamed : undefined),
      convert: async (object, apiVersion) => {
        const { a, z, ...rest } = object.spec as JsonObject;
        const name = apiVersion === 'x/v2' ? 'z' : 'a';
        return { ...object, apiVersion, spec: { ...rest, [name]: a ?? z } };
      },
    };
    const live = widget({ a: '1', b: '1' });
    const liveManaged = write({ next: live });
    const next = { ...live, apiVersion: 'x/v2', spec: { z: '2', b: '1' } };
    const after = await updateManagedFields({
      live,
      next,
      liveManaged,
      manager: 'n',
      apiVersion: 'x/v2',
      nowMs: start,
      versions,
    });
    expect(fieldsOf(after)).toEqual({ m: { 'f:spec': { '.': {}, 'f:b': {} } }, n: { 'f:spec': { 'f:z': {} } } });
  });
});
