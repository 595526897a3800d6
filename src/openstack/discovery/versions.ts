import { isJsonObject, type JsonObject, type JsonValue } from '../../machinery/index.ts';
import { textUnlessEmpty } from '../resource/read.ts';

/** API versions of a service. */
export interface ApiVersions {
  /** lowest and highest microversion; undefined for services without microversions */
  readonly microversions: { readonly min: string; readonly max: string } | undefined;
  /** all listed versions, such as `v2.26` */
  readonly ids: readonly string[];
}

/** Parses any form of version document: a list, a list below `values`, or a single version. */
export function parseVersions(document: JsonValue | undefined, wanted: RegExp): ApiVersions | undefined {
  const entries = entriesOf(document);
  if (!entries) return undefined;
  const ids = entries.map((entry) => textUnlessEmpty(entry, 'id') ?? '').filter((id) => id !== '');
  const entry =
    entries.find(
      (candidate) => wanted.test(textUnlessEmpty(candidate, 'id') ?? '') && maxOf(candidate) !== undefined,
    ) ?? entries.find((candidate) => maxOf(candidate) !== undefined);
  const max = entry && maxOf(entry);
  const min = entry && textUnlessEmpty(entry, 'min_version');
  return { ids, microversions: max === undefined ? undefined : { min: min ?? max, max } };
}

function maxOf(entry: JsonObject): string | undefined {
  return textUnlessEmpty(entry, 'version') ?? textUnlessEmpty(entry, 'max_version');
}

function entriesOf(document: JsonValue | undefined): JsonObject[] | undefined {
  if (!isJsonObject(document)) return undefined;
  const { version, versions } = document;
  if (isJsonObject(version)) return [version];
  const list = isJsonObject(versions) ? versions['values'] : versions;
  return Array.isArray(list) ? list.filter(isJsonObject) : undefined;
}

/** Negative if `a` is older. */
export function compareVersions(a: string, b: string): number {
  const [majorA, minorA] = parts(a);
  const [majorB, minorB] = parts(b);
  return majorA - majorB || minorA - minorB;
}

function parts(version: string): [major: number, minor: number] {
  const [major, minor] = version.replace(/^v/, '').split('.');
  return [Number(major) || 0, Number(minor) || 0];
}

/** Returns the highest listed version, such as `v2.26` for octavia. */
export function newestVersion(ids: readonly string[]): string | undefined {
  return ids.toSorted(compareVersions).at(-1);
}
