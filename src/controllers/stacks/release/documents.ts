import { errorMessage, isJsonObject, type JsonObject, type JsonValue, parseYaml } from '../../../machinery/index.ts';
import { StackReleaseError } from './release-error.ts';

/** Files of a release by relative path. */
export type ReleaseFiles = ReadonlyMap<string, Uint8Array>;

export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Parses a document of a release, which must be a mapping. */
export function readMapping(file: string, text: string): JsonObject {
  let value: JsonValue;
  try {
    value = parseYaml(text).value;
  } catch (error) {
    throw new StackReleaseError(`${file}: ${errorMessage(error)}`, { cause: error });
  }
  if (!isJsonObject(value)) throw new StackReleaseError(`${file}: must be a mapping`);
  return value;
}

export function readText(file: string, mapping: JsonObject, ...path: readonly string[]): string | undefined {
  let value: JsonValue | undefined = mapping;
  for (const step of path) value = isJsonObject(value) ? value[step] : undefined;
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw new StackReleaseError(`${file}: ${path.join('.')} must be text`);
  return value;
}
