import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  causeReason,
  clone,
  type FieldError,
  fieldErrorBody,
  isJsonObject,
  type JsonObject,
  type KubeObject,
  type ResourceDefinition,
  type StrategyContext,
  seededRandom,
  type UnstructuredObject,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '../machinery/index.ts';
import { builtinDefinitions } from './builtin.ts';

/** field, reason, message */
type Cause = [string, string, string];

const context: StrategyContext = { nowMs: Date.UTC(2026, 0, 1), random: seededRandom(1), user: 'admin' };
const uid = '11111111-2222-3333-4444-555555555555';

function read<T>(name: string): T {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'testdata', name), 'utf8')) as T;
}

function definitionOf(object: KubeObject): ResourceDefinition {
  const group = object.apiVersion.includes('/') ? object.apiVersion.split('/')[0] : '';
  const found = builtinDefinitions.find((definition) => definition.group === group && definition.kind === object.kind);
  if (!found) throw new Error(`no definition for ${object.apiVersion} ${object.kind}`);
  return found;
}

/** Removes whole objects from a message. Upstream prints them in Go syntax. */
function withoutObjects(message: string): string {
  return message.replace(/^([A-Z][a-z]+ value): [{[].*[}\]](: |$)/, '$1: {}$2');
}

/** Drops the Go diff that upstream appends to some messages. */
function causesOf(errors: readonly FieldError[]): Cause[] {
  return errors.map((error) => [
    error.field || '<nil>',
    causeReason(error.type),
    fieldErrorBody(error).split('\n')[0]!,
  ]);
}

function comparable(causes: readonly Cause[]): string[] {
  const lines = causes.map(([field, reason, message]) => `${field} ${reason} ${withoutObjects(message)}`);
  return [...new Set(lines)].sort();
}

function title(object: KubeObject, detail: unknown): string {
  return `${object.kind} ${JSON.stringify(detail).slice(0, 120)}`;
}

describe('an object kube-apiserver refuses to create', () => {
  const cases = read<{ input: UnstructuredObject; causes: Cause[] }[]>('builtin-refused-creates.json');

  it.each(cases.map((entry) => [title(entry.input, { ...entry.input, kind: undefined }), entry] as const))(
    'is refused with the same causes: %s',
    (_title, { input, causes }) => {
      const definition = definitionOf(input);
      const draft = clone(input);
      draft.metadata ??= {};
      draft.metadata.uid = uid;
      if (draft.metadata.generateName) draft.metadata.name ??= 'generated';
      definition.strategy.applyDefaults?.(draft);
      definition.strategy.prepareForCreate?.(draft, context);
      const isQuestion = definition.verbs.length === 1;
      const metaErrors = isQuestion
        ? []
        : validateObjectMeta(draft.metadata, {
            namespaced: definition.namespaced,
            nameValidator: definition.strategy.validateName,
          });
      const errors = [...metaErrors, ...definition.strategy.validateCreate!(draft, context)];
      expect(comparable(causesOf(errors))).toEqual(comparable(causes));
    },
  );
});

function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const result: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const key in patch) {
    if (patch[key] === null) delete result[key];
    else result[key] = mergePatch(result[key], patch[key]) as JsonObject;
  }
  return result;
}

interface UpdateCase {
  old: UnstructuredObject;
  changes: { change: JsonObject; status?: boolean; causes: Cause[] }[];
}

describe('a change to an object', () => {
  const cases = read<UpdateCase[]>('builtin-updates.json').flatMap(({ old, changes }) =>
    changes.map((change) => [title(old, change.change), { old, ...change }] as const),
  );

  it.each(cases)('is judged as kube-apiserver judges it: %s', (_title, { old, change, status, causes }) => {
    const definition = definitionOf(old);
    const { strategy } = definition;
    const before = clone(old);
    before.metadata.resourceVersion = '1';
    const draft = clone(mergePatch(before, change)) as UnstructuredObject;
    strategy.applyDefaults?.(draft);
    if (!status) {
      if (definition.versions[0]!.hasStatus) draft.status = clone(before.status!);
      strategy.prepareForUpdate?.(draft, before, context);
    }
    const validate = status ? strategy.validateStatusUpdate : strategy.validateUpdate;
    const errors = [
      ...validateObjectMetaUpdate(draft.metadata, before.metadata),
      ...(validate?.call(strategy, draft, before, context) ?? []),
    ];
    expect(comparable(causesOf(errors))).toEqual(comparable(causes));
  });
});
