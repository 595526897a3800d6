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

/** The kinds served by the webhooks, found by the fields of a review. */
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

/** An object that fits the schema of its version, or why it does not. */
export type Fitting = { draft: UnstructuredObject } | { misfit: string };

/** Returns a copy of an object that fits the schema. API servers call mutating webhooks before they validate the schema. */
export function fittingCopy(definition: ResourceDefinition, object: UnstructuredObject): Fitting {
  return makeFit(definition, clone(object));
}

/** Makes an object fit the schema. API servers call conversion webhooks before they validate the schema. */
export function makeFit(definition: ResourceDefinition, draft: UnstructuredObject): Fitting {
  const { version } = parseApiVersion(draft.apiVersion);
  const schema = versionNamed(definition, version)?.schema;
  if (schema === undefined) return { misfit: `${definition.kind} has no version ${version}` };
  const mismatch = checkTypes(draft, schema);
  if (mismatch) return { misfit: decodeErrorText(mismatch) };
  return dropNulls(asJson(draft), schema) ? { draft } : { misfit: 'a list holds null' };
}

/** Converts an object, or returns the same object if it already has the version. */
export async function converted(
  definition: ResourceDefinition,
  object: UnstructuredObject,
  toVersion: string,
): Promise<UnstructuredObject> {
  if (parseApiVersion(object.apiVersion).version === toVersion || !definition.convert) return object;
  return await definition.convert(object, toVersion);
}
