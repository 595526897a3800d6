import { builtinDefinitions } from '../../api/index.ts';
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  asTyped,
  CapstanError,
  errorMessage,
  type JsonObject,
  type JsonValue,
  type KubeObject,
  parseApiVersion,
  parseYaml,
  type Schema,
} from '../../machinery/index.ts';
import type { ObjectPatch } from '../spec.ts';

const componentLabel = 'app.kubernetes.io/component';

/** A user-defined patch cannot be applied; the plane stays unchanged until it is fixed. */
export class PatchRefusedError extends CapstanError {
  constructor(patch: ObjectPatch, index: number, problem: string, cause?: unknown) {
    super(
      'CAP_PLANE_PATCH',
      `spec.patches[${index}] cannot be applied to the ${patch.kind} of ${patch.component}: ${problem}`,
      {
        hint: 'correct the patch',
        ...(cause !== undefined && { cause }),
      },
    );
    this.name = 'PatchRefusedError';
  }
}

/** Applies user-defined patches in order; they cannot change the identity of an object. */
export function withPatches(objects: readonly KubeObject[], patches: readonly ObjectPatch[]): readonly KubeObject[] {
  if (patches.length === 0) return objects;
  return objects.map((object) => {
    let patched = object;
    for (const [index, patch] of patches.entries()) {
      if (patch.kind !== object.kind || object.metadata.labels?.[componentLabel] !== patch.component) continue;
      patched = applied(patched, patch, index);
    }
    return patched;
  });
}

function applied(object: KubeObject, patch: ObjectPatch, index: number): KubeObject {
  const before = JSON.parse(JSON.stringify(object)) as JsonObject;
  let after: JsonValue;
  try {
    const content = parseYaml(patch.content).value;
    after = applyOne(before, patch, content, object);
  } catch (error) {
    throw new PatchRefusedError(patch, index, errorMessage(error), error);
  }
  const result = asTyped<KubeObject>(after);
  // security: objects are written with Capstan's permissions, so a patch must not turn one into a foreign object
  if (
    result?.metadata?.name !== object.metadata.name ||
    result.metadata.namespace !== object.metadata.namespace ||
    result.kind !== object.kind ||
    result.apiVersion !== object.apiVersion
  ) {
    throw new PatchRefusedError(patch, index, 'it changes the name, namespace or kind of the object');
  }
  return result;
}

function applyOne(before: JsonObject, patch: ObjectPatch, content: JsonValue, object: KubeObject): JsonValue {
  switch (patch.type) {
    case 'json':
      return applyJsonPatch(before, content);
    case 'merge':
      return applyMergePatch(before, content);
    case 'strategic':
      return applyStrategicMergePatch(before, content, schemaOf(object));
  }
}

/** The schema of custom kinds is unknown, so their lists are replaced as a whole. */
function schemaOf({ apiVersion, kind }: KubeObject): Schema {
  const { group, version } = parseApiVersion(apiVersion);
  const definition = builtinDefinitions.find((one) => one.group === group && one.kind === kind);
  return definition?.versions.find(({ name }) => name === version)?.schema ?? {};
}
