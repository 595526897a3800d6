import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { StatusCause } from '../errors/status.ts';
import { deepFreeze, type JsonObject, type JsonValue } from '../json/value.ts';
import type { ManagedFieldsEntry, UnstructuredObject } from '../meta/types.ts';
import type { Schema } from '../schema/types.ts';
import { applyConfiguration } from './apply-configuration.ts';
import { ApplyConflictError, type ApplyError } from './apply-error.ts';
import { fieldSetOf } from './field-set.ts';
import { updateManagedFields } from './update-managed-fields.ts';
import type { VersionedKind } from './versioned-kind.ts';

// Recorded answers of kube-apiserver 1.34, step by step. Every step starts from the recorded state of the previous one.
// All recorded times are made equal, so that the order of entries is deterministic.
const nowMs = Date.parse('2026-01-01T00:00:00Z');

function load<T>(file: string): T {
  return deepFreeze(JSON.parse(readFileSync(new URL(`testdata/${file}`, import.meta.url), 'utf8')) as T);
}

interface BuiltinStep {
  verb: 'apply' | 'update';
  manager: string;
  force?: boolean;
  body?: UnstructuredObject;
  /** managedFields that the client sent with an update */
  sent?: ManagedFieldsEntry[];
  object?: UnstructuredObject;
  managed?: ManagedFieldsEntry[];
  code?: number;
  message?: string;
  causes?: StatusCause[];
}

interface BuiltinRecording {
  schemas: Record<string, Schema>;
  sequences: { title: string; kind: string; steps: BuiltinStep[] }[];
}

describe('field ownership of built-in kinds, as recorded', () => {
  const { schemas, sequences } = load<BuiltinRecording>('recorded-builtin.json');

  it.each(sequences)('matches the recorded ownership: $title', async ({ kind, steps }) => {
    const versions: VersionedKind = {
      schema: (apiVersion) => (apiVersion === 'v1' ? schemas[kind] : undefined),
      convert: (object) => object,
      origin: 'builtin',
    };
    let live: UnstructuredObject | undefined;
    let liveManaged: ManagedFieldsEntry[] = [];
    for (const step of steps) {
      const write = { liveManaged, manager: step.manager, apiVersion: 'v1', nowMs, versions, ...(live && { live }) };
      if (step.message !== undefined) {
        const error = await applyConfiguration({ ...write, applied: step.body!, force: false }).catch(
          (e: unknown) => e,
        );
        const status = (error as ApplyConflictError | ApplyError).toApiStatusError().status;
        expect(status.message).toBe(step.message);
        expect(status.code).toBe(step.code);
        // Upstream lists managers in random order here.
        expect(byField(status.details?.causes)).toEqual(byField(step.causes));
        continue;
      }
      const object = step.object!;
      if (step.verb === 'apply') {
        const result = await applyConfiguration({ ...write, applied: step.body!, force: step.force ?? false });
        expect(JSON.stringify(result.managedFields)).toBe(JSON.stringify(wireForm(step.managed!)));
        // ConfigMaps have no defaults, so the whole object must equal the recording.
        if (kind === 'ConfigMap') expect(withoutEmpty(result.object)).toEqual(withoutEmpty(object));
      } else {
        const next = step.sent ? { ...object, metadata: { ...object.metadata, managedFields: step.sent } } : object;
        expect(JSON.stringify(updateManagedFields({ ...write, next }))).toBe(JSON.stringify(wireForm(step.managed!)));
      }
      live = object;
      liveManaged = step.managed!;
    }
  });
});

function byField(causes: readonly StatusCause[] | undefined): StatusCause[] | undefined {
  return causes && [...causes].sort((a, b) => (a.field! < b.field! ? -1 : 1));
}

/** Orders the members of an entry as upstream does. */
function wireForm(entries: ManagedFieldsEntry[]): ManagedFieldsEntry[] {
  return entries.map(({ manager, operation, apiVersion, time, fieldsV1, subresource }) => ({
    ...(manager !== undefined && { manager }),
    ...(operation !== undefined && { operation }),
    ...(apiVersion !== undefined && { apiVersion }),
    ...(time !== undefined && { time }),
    fieldsType: 'FieldsV1',
    ...(fieldsV1 !== undefined && { fieldsV1 }),
    ...(subresource !== undefined && { subresource }),
  }));
}

/** Upstream drops empty maps and lists of metadata and data when encoding. */
function withoutEmpty(object: UnstructuredObject): unknown {
  return JSON.parse(JSON.stringify(object), (_, value: JsonValue) =>
    typeof value === 'object' && value !== null && Object.keys(value).length === 0 ? undefined : value,
  );
}

interface CustomStep {
  do: 'apply' | 'update';
  subresource?: 'status';
  manager: string;
  force?: boolean;
  version: string;
  body?: { metadata: JsonObject; spec?: JsonObject; status?: JsonObject };
  object?: {
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    spec?: JsonValue;
    status?: JsonValue;
  };
  managed?: ManagedFieldsEntry[];
  message?: string;
}

describe('field ownership of a custom kind, as recorded', () => {
  const { schema, sequences } = load<{ schema: Schema; sequences: CustomStep[][] }>('recorded-custom.json');
  const resetOnMain = fieldSetOf(['status']);
  const resetOnStatus = fieldSetOf(['spec']);
  const versions: VersionedKind = {
    schema: (apiVersion) => (apiVersion.startsWith('example.com/') ? schema : undefined),
    convert: (object, apiVersion) => ({ ...object, apiVersion }),
  };

  it.each(sequences.map((steps, index) => [index, steps] as const))(
    'matches the recorded sequence %i',
    async (_, steps) => {
      let live: UnstructuredObject | undefined;
      let liveManaged: ManagedFieldsEntry[] = [];
      for (const step of steps) {
        const apiVersion = `example.com/${step.version}`;
        const write = {
          liveManaged,
          manager: step.manager,
          apiVersion,
          nowMs,
          versions,
          resetFields: step.subresource ? resetOnStatus : resetOnMain,
          ...(step.subresource && { subresource: step.subresource }),
          ...(live && { live: { ...live, apiVersion } }),
        };
        const applied = { apiVersion, kind: 'Widget', ...step.body } as UnstructuredObject;
        if (step.message !== undefined) {
          const error = await applyConfiguration({ ...write, applied, force: false }).catch((e: unknown) => e);
          expect(error).toBeInstanceOf(ApplyConflictError);
          expect((error as Error).message).toBe(step.message);
          continue;
        }
        const { labels, annotations, ...rest } = step.object!;
        const object: UnstructuredObject = {
          apiVersion,
          kind: 'Widget',
          metadata: { name: 'w', ...(labels && { labels }), ...(annotations && { annotations }) },
          ...rest,
        };
        if (step.do === 'apply') {
          const result = await applyConfiguration({ ...write, applied, force: step.force ?? false });
          expect(sorted(result.managedFields)).toEqual(sorted(step.managed!));
          expect(defaulted(result.object)).toEqual({ spec: rest.spec, status: rest.status });
        } else expect(sorted(await updateManagedFields({ ...write, next: object }))).toEqual(sorted(step.managed!));
        live = object;
        liveManaged = step.managed!.map((entry) => ({ ...entry, fieldsType: 'FieldsV1' as const }));
      }
    },
  );
});

/** Entries as text in a fixed order, including the exact spelling of fields but not the recorded time. */
function sorted(entries: ManagedFieldsEntry[]): string[] {
  return entries
    .map((e) => [e.manager, e.operation, e.apiVersion, e.subresource, e.time !== undefined, JSON.stringify(e.fieldsV1)])
    .map((parts) => parts.join(' '))
    .sort();
}

/** Mimics later server steps: sets the default protocol and drops nulls that are not allowed. */
function defaulted(object: UnstructuredObject): unknown {
  const spec = JSON.parse(JSON.stringify(object.spec ?? null)) as Record<string, unknown> | null;
  if (spec) {
    for (const key of Object.keys(spec)) if (spec[key] === null && key !== 'nul') delete spec[key];
    for (const port of (spec['ports'] ?? []) as { protocol?: string }[]) port.protocol ??= 'TCP';
  }
  return { spec: spec ?? undefined, status: object.status };
}
