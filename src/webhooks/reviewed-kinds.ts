import {
  asJson,
  checkTypes,
  clone,
  decodeErrorText,
  dropNulls,
  parseApiVersion,
  type ResourceDefinition,
  type UnstructuredObject,
  type VersionDefinition,
} from '../machinery/index.ts';

/** The kinds these webhooks answer for, found by what a review names. */
export class ReviewedKinds {
  readonly #byResource = new Map<string, ResourceDefinition>();
  readonly #byKind = new Map<string, ResourceDefinition>();

  constructor(definitions: Iterable<ResourceDefinition>) {
    for (const definition of definitions) {
      this.#byResource.set(`${definition.plural}.${definition.group}`, definition);
      this.#byKind.set(`${definition.kind}.${definition.group}`, definition);
    }
  }

  ofResource(group: string, plural: string): ResourceDefinition | undefined {
    return this.#byResource.get(`${plural}.${group}`);
  }

  ofObject({ apiVersion, kind }: { apiVersion: string; kind: string }): ResourceDefinition | undefined {
    return this.#byKind.get(`${kind}.${parseApiVersion(apiVersion).group}`);
  }
}

export function versionNamed(definition: ResourceDefinition, name: string): VersionDefinition | undefined {
  return definition.versions.find((version) => version.name === name);
}

export function hubVersion(definition: ResourceDefinition): VersionDefinition {
  return versionNamed(definition, definition.storageVersion) as VersionDefinition;
}

/**
 * A private copy of an object whose types are those of its version's schema, or why it is not one. Admission webhooks that
 * change objects and conversion webhooks are asked before the API server holds an object to its schema.
 */
export function fittingCopy(
  definition: ResourceDefinition,
  object: UnstructuredObject,
): { draft: UnstructuredObject } | { misfit: string } {
  const { version } = parseApiVersion(object.apiVersion);
  const schema = versionNamed(definition, version)?.schema;
  if (schema === undefined) return { misfit: `${definition.kind} has no version ${version}` };
  const draft = clone(object);
  const mismatch = checkTypes(draft, schema);
  if (mismatch) return { misfit: decodeErrorText(mismatch) };
  return dropNulls(asJson(draft), schema) ? { draft } : { misfit: 'a list holds null' };
}

/** The object in another version; the same object when it is in that version. */
export async function converted(
  definition: ResourceDefinition,
  object: UnstructuredObject,
  toVersion: string,
): Promise<UnstructuredObject> {
  if (parseApiVersion(object.apiVersion).version === toVersion || !definition.convert) return object;
  return await definition.convert(object, toVersion);
}
