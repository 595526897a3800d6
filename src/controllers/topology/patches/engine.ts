import type {
  ClassJsonPatch,
  ClassPatch,
  GeneratePatchesItem,
  HookVariable,
  PatchSelector,
} from '../../../api/index.ts';
import {
  applyJsonPatch,
  asTyped,
  asUnstructured,
  errorMessage,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  PatchError,
  type StepBudget,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import { createPatchAccount, type PatchAccount } from './patch-account.ts';
import { renderValue } from './value-template.ts';
import { type VariableValues, valueAtPath } from './variable-path.ts';

/** Part of a class that a template belongs to, used by selectors. */
export type TemplatePlace =
  | { readonly part: 'infrastructureCluster' }
  /** the control plane and its machines */
  | { readonly part: 'controlPlane' }
  | { readonly part: 'machineDeployment'; readonly class: string };

/** A working copy of a template. */
export interface PatchedTemplate {
  readonly item: Omit<GeneratePatchesItem, 'object' | 'variables'>;
  readonly place: TemplatePlace;
  readonly object: UnstructuredObject;
  /** variables of this template: overrides and its part of `builtin` */
  readonly variables: readonly HookVariable[];
}

/** Patches by runtime extensions. */
export interface ExternalPatches {
  /** Returns the templates with the extension's changes. */
  generate(
    patch: ClassPatch,
    templates: readonly PatchedTemplate[],
    globals: readonly HookVariable[],
  ): Promise<readonly PatchedTemplate[]>;
  /** Lets the extension validate the result; throws if it refuses. */
  validate(patch: ClassPatch, templates: readonly PatchedTemplate[], globals: readonly HookVariable[]): Promise<void>;
}

/** Variables available to a patch: those defined by its source (`inline`, or the patch name). */
export type VariablesFor = (from: string) => {
  globals: readonly HookVariable[];
  of(template: PatchedTemplate): readonly HookVariable[];
};

/** A patch failed. The message names patch, template and cause. */
export class ClassPatchError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ClassPatchError';
  }
}

/** Runs all patches of a class in order; each sees earlier results. Throws ClassPatchError. */
export async function applyPatches(
  patches: readonly ClassPatch[],
  templates: readonly PatchedTemplate[],
  variablesFor: VariablesFor,
  external: ExternalPatches,
): Promise<readonly PatchedTemplate[]> {
  let current = templates;
  const account = createPatchAccount(templates.length);
  for (const patch of patches) {
    const { globals, of } = variablesFor(patch.external ? patch.name : 'inline');
    if (!patch.external) {
      const patched: PatchedTemplate[] = [];
      for (const template of current) {
        patched.push(applyInline(patch, template, { globals, of }, account));
        const pause = account.pause();
        if (pause) await pause;
      }
      current = patched;
    } else if (patch.external.generatePatchesExtension !== undefined) {
      const seen = current.map((template) => ({ ...template, variables: of(template) }));
      current = await external.generate(patch, seen, globals);
    }
  }
  for (const patch of patches) {
    if (patch.external?.validateTopologyExtension === undefined) continue;
    const { globals, of } = variablesFor(patch.name);
    const seen = current.map((template) => ({ ...template, variables: of(template) }));
    await external.validate(patch, seen, globals);
  }
  return current;
}

function applyInline(
  patch: ClassPatch,
  template: PatchedTemplate,
  { globals, of }: ReturnType<VariablesFor>,
  account: PatchAccount,
): PatchedTemplate {
  const matching = (patch.definitions ?? []).filter(({ selector }) => matches(selector, template));
  if (matching.length === 0) return template;
  const { kind, metadata } = template.object;
  const failed = (error: unknown): never => {
    const cause = error instanceof PatchError ? error.detail : errorMessage(error);
    throw new ClassPatchError(`patch "${patch.name}" cannot be applied to ${kind} ${metadata.name}: ${cause}`);
  };
  try {
    account.matched(globals);
    const values = mergedValues(globals, of(template));
    if (!isEnabled(patch, values, account)) return template;
    let object = template.object;
    for (const { jsonPatches } of matching) {
      account.changed(jsonPatches.length);
      const operations = jsonPatches.map((operation, i) => {
        try {
          return operationOf(operation, values, account);
        } catch (error) {
          throw new Error(`value of ${operation.path} (jsonPatches[${i}]): ${errorMessage(error)}`);
        }
      });
      object = onlyPatchable(object, applyJsonPatch(object as JsonValue, operations, { strict: true }));
    }
    return { ...template, object };
  } catch (error) {
    return failed(error);
  }
}

function isEnabled({ enabledIf }: ClassPatch, values: VariableValues, account: StepBudget): boolean {
  if (enabledIf === undefined) return true;
  try {
    return renderValue(enabledIf, values, account) === true;
  } catch (error) {
    throw new Error(`enabledIf: ${errorMessage(error)}`);
  }
}

/** Keeps only changes to spec, labels and annotations of a template; its identity stays. */
export function onlyPatchable(before: UnstructuredObject, patched: JsonValue): UnstructuredObject {
  const after = isJsonObject(patched) ? patched : {};
  const metadata = isJsonObject(after['metadata']) ? after['metadata'] : {};
  const { labels: _, annotations: __, ...identity } = before.metadata;
  const result: JsonObject = {
    ...(before as JsonObject),
    metadata: {
      ...(identity as JsonObject),
      ...(isJsonObject(metadata['labels']) && { labels: metadata['labels'] }),
      ...(isJsonObject(metadata['annotations']) && { annotations: metadata['annotations'] }),
    },
    spec: after['spec'] ?? {},
  };
  return asUnstructured(asTyped<UnstructuredObject>(result));
}

function operationOf(
  { op, path, value, valueFrom }: ClassJsonPatch,
  values: VariableValues,
  account: StepBudget,
): JsonObject {
  if (op === 'remove') return { op, path };
  if (value !== undefined) return { op, path, value };
  if (valueFrom?.variable !== undefined) return { op, path, value: valueAtPath(values, valueFrom.variable) };
  if (valueFrom?.template !== undefined) return { op, path, value: renderValue(valueFrom.template, values, account) };
  throw new Error(`${op} of ${path} has neither value nor valueFrom`);
}

/** Merges variables: those of a template override those of the cluster; `builtin` is merged from both. */
export function mergedValues(globals: readonly HookVariable[], own: readonly HookVariable[]): VariableValues {
  const values: Record<string, JsonValue> = {};
  for (const { name, value } of globals) values[name] = value;
  for (const { name, value } of own) {
    const before = values[name];
    values[name] = name === 'builtin' && isJsonObject(before) && isJsonObject(value) ? { ...before, ...value } : value;
  }
  return values;
}

function matches({ apiVersion, kind, matchResources }: PatchSelector, { object, place }: PatchedTemplate): boolean {
  if (object.apiVersion !== apiVersion || object.kind !== kind) return false;
  switch (place.part) {
    case 'infrastructureCluster':
      return matchResources.infrastructureCluster === true;
    case 'controlPlane':
      return matchResources.controlPlane === true;
    case 'machineDeployment':
      return matchResources.machineDeploymentClass?.names?.some((name) => matchesName(name, place.class)) === true;
  }
}

/** Matches a name with one `*` at the beginning or end. */
export function matchesName(pattern: string, name: string): boolean {
  if (pattern === '*' || pattern === name) return true;
  if (pattern.startsWith('*') && name.endsWith(pattern.slice(1))) return true;
  return pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1));
}
