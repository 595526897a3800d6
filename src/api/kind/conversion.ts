import {
  deepEqual,
  formatApiVersion,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ObjectMeta,
  parseApiVersion,
  parseJsonStrict,
  type Schema,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { fitToSchema } from './fit.ts';
import type { Mapping, MappingContext } from './mapping.ts';
import { mergeChange } from './merge.ts';

/**
 * Holds the fields that this version cannot express, as JSON of the object in the other version without metadata. The
 * name is upstream's. On an old version it holds the hub object. On a hub object that was written in an old version it
 * holds the old object.
 */
export const conversionDataAnnotation = 'cluster.x-k8s.io/conversion-data';

export interface ConvertibleVersion {
  name: string;
  /** schema of the whole object */
  schema: Schema;
  /** mapping of spec, status and other fields to the hub version; absent for the hub itself */
  mapping?: Mapping;
}

export interface ConverterOptions {
  group: string;
  kind: string;
  hub: string;
  version(name: string): ConvertibleVersion | undefined;
}

/** an object without apiVersion, kind and metadata */
type Body = JsonObject;

interface Converted {
  body: Body;
  annotation: string | undefined;
}

/**
 * Converts between the versions of a kind through the hub, without loss in either direction. If a conversion back would
 * give a different object, the original is kept in an annotation. When the object comes back, only the changes are
 * merged into the original.
 */
export function createConverter(
  options: ConverterOptions,
): (object: UnstructuredObject, toVersion: string) => UnstructuredObject {
  const { group, kind, hub } = options;
  const hubSchema = (): Schema => versionOf(hub).schema;

  const versionOf = (name: string): ConvertibleVersion => {
    const found = options.version(name);
    if (found === undefined) throw new Error(`${kind}.${group} has no version ${name}`);
    return found;
  };
  const rawUp = (body: Body, version: ConvertibleVersion, context: MappingContext): Body =>
    fitToSchema((version.mapping?.up(body, context) ?? body) as Body, hubSchema());
  const rawDown = (body: Body, version: ConvertibleVersion, context: MappingContext): Body =>
    fitToSchema((version.mapping?.down(body, context) ?? body) as Body, version.schema);

  function down(from: Converted, version: ConvertibleVersion, context: MappingContext): Converted {
    const shown = rawDown(from.body, version, context);
    const written = readStash(from.annotation);
    const writtenHere = written !== undefined && written.version === version.name;
    const body = writtenHere
      ? (mergeChange(rawDown(rawUp(written.body, version, context), version, context), shown, written.body) as Body)
      : shown;
    const lost = !deepEqual(rawUp(body, version, context), from.body);
    if (!lost && (written === undefined || writtenHere)) return { body, annotation: undefined };
    return { body, annotation: writeStash({ group, kind, version: hub }, from.body, from.annotation) };
  }

  function up(from: Converted, version: ConvertibleVersion, context: MappingContext): Converted {
    const original = readStash(from.annotation);
    let body = rawUp(from.body, version, context);
    let earlier: string | undefined;
    if (original !== undefined && original.version === hub) {
      earlier = original.annotation;
      const shown = down({ body: original.body, annotation: earlier }, version, context);
      if (deepEqual(shown.body, from.body)) return { body: original.body, annotation: earlier };
      body = mergeChange(rawUp(shown.body, version, context), body, original.body) as Body;
    }
    const lost = !deepEqual(rawDown(body, version, context), from.body);
    return {
      body,
      annotation: lost ? writeStash({ group, kind, version: version.name }, from.body, undefined) : earlier,
    };
  }

  return (object, toVersion) => {
    const fromVersion = parseApiVersion(object.apiVersion).version;
    const { apiVersion: _, kind: __, metadata, ...rest } = object;
    const context = (version: string): MappingContext => ({ namespace: metadata.namespace, version });
    let converted: Converted = {
      body: rest as Body,
      annotation: metadata.annotations?.[conversionDataAnnotation],
    };
    if (fromVersion !== hub) converted = up(converted, versionOf(fromVersion), context(fromVersion));
    if (toVersion !== hub) converted = down(converted, versionOf(toVersion), context(toVersion));
    return {
      apiVersion: formatApiVersion(group, toVersion),
      kind,
      metadata: withAnnotation(metadata, converted.annotation),
      ...converted.body,
    } as UnstructuredObject;
  };
}

interface Stash {
  version: string;
  body: Body;
  /** annotation of the hub object itself */
  annotation: string | undefined;
}

function writeStash(
  { group, kind, version }: { group: string; kind: string; version: string },
  body: Body,
  annotation: string | undefined,
): string {
  const content: JsonObject = { apiVersion: formatApiVersion(group, version), kind, ...body };
  if (annotation !== undefined) content['metadata'] = { annotations: { [conversionDataAnnotation]: annotation } };
  return JSON.stringify(content);
}

/** Reads the annotation. Foreign or invalid content counts as absent, because it must never block a conversion. */
function readStash(annotation: string | undefined): Stash | undefined {
  if (annotation === undefined) return undefined;
  let content: JsonValue;
  try {
    // Clients can write the annotation, so it gets the same strict parser as a body.
    content = parseJsonStrict(annotation).value;
  } catch {
    return undefined;
  }
  if (!isJsonObject(content) || typeof content['apiVersion'] !== 'string') return undefined;
  const { apiVersion, kind: _, metadata, ...body } = content;
  const annotations = isJsonObject(metadata) ? metadata['annotations'] : undefined;
  const inner = isJsonObject(annotations) ? annotations[conversionDataAnnotation] : undefined;
  return {
    version: parseApiVersion(apiVersion as string).version,
    body,
    annotation: typeof inner === 'string' ? inner : undefined,
  };
}

function withAnnotation(metadata: ObjectMeta, annotation: string | undefined): ObjectMeta {
  const present = metadata.annotations?.[conversionDataAnnotation];
  if (present === annotation) return metadata;
  const { [conversionDataAnnotation]: _, ...others } = metadata.annotations ?? {};
  if (annotation !== undefined)
    return { ...metadata, annotations: { ...others, [conversionDataAnnotation]: annotation } };
  const { annotations: __, ...without } = metadata;
  return Object.keys(others).length === 0 ? without : { ...without, annotations: others };
}
