import type { HookPatch } from '../../../api/index.ts';
import {
  applyJsonPatch,
  applyMergePatch,
  deepEqual,
  errorMessage,
  isJsonObject,
  type JsonValue,
  PatchError,
  parseJson,
} from '../../../machinery/index.ts';
import { HookError } from '../lifecycle-hooks.ts';

/** One object in the question whether machines can be updated in place. */
export interface Subject {
  /** kind as users know it, for messages */
  readonly kind: string;
  readonly current: JsonValue;
  readonly desired: JsonValue;
  /** the part that must be covered */
  readonly part: (object: JsonValue) => JsonValue | undefined;
}

/**
 * Tells whether the extension's patch turns the current object into the desired one, so that all differences are
 * covered. Throws HookError if the patch cannot be applied.
 */
export function isCovered(subject: Subject, patch: HookPatch | undefined): boolean {
  const patched = patch?.patch === undefined ? subject.current : withPatch(subject, patch);
  return deepEqual(subject.part(patched) ?? null, subject.part(subject.desired) ?? null);
}

function withPatch({ kind, current }: Subject, { patchType, patch = '' }: HookPatch): JsonValue {
  try {
    const operations = parseJson(Buffer.from(patch, 'base64').toString('utf8'));
    return patchType === 'JSONMergePatch'
      ? applyMergePatch(current, operations)
      : applyJsonPatch(current, operations, { strict: true });
  } catch (error) {
    const why = error instanceof PatchError ? error.detail : errorMessage(error);
    throw new HookError(`the patch for ${kind} cannot be applied: ${why}`, { cause: error });
  }
}

export function below(object: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  let value = object;
  for (const name of path) value = isJsonObject(value) ? value[name] : undefined;
  return value;
}

/** Selects the Machine fields for extensions; all others are immutable or propagated anyway. */
export function machineSpecPart(spec: JsonValue | undefined): JsonValue {
  return { version: below(spec, 'version') ?? '', failureDomain: below(spec, 'failureDomain') ?? '' };
}
