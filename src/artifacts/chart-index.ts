import { errorMessage, isJsonObject, type JsonValue, parseYaml } from '../machinery/index.ts';
import { Version, versionFits } from '../template/index.ts';
import { ArtifactError } from './errors.ts';

/** One version of a chart in a repository index. */
export interface IndexEntry {
  readonly version: string;
  readonly urls: readonly string[];
  /** SHA-256 without prefix; empty if the index has none */
  readonly digest: string;
}

/** Returns the versions of a chart in an index.yaml. */
export function indexEntries(text: string, chart: string, repository: string): IndexEntry[] {
  let value: JsonValue;
  try {
    ({ value } = parseYaml(entryText(text, chart) ?? text));
  } catch (error) {
    throw new ArtifactError('invalid', `the index of ${repository} cannot be read: ${errorMessage(error)}`, {
      hint: 'check that the address is that of a chart repository',
    });
  }
  const entries = isJsonObject(value) ? value['entries'] : undefined;
  if (!isJsonObject(entries)) {
    throw new ArtifactError('invalid', `the index of ${repository} has no entries`, {
      hint: 'check that the address is that of a chart repository',
    });
  }
  const found = Object.hasOwn(entries, chart) ? entries[chart] : undefined;
  if (!Array.isArray(found)) {
    throw new ArtifactError('notFound', `chart ${chart} is not in ${repository}`, {
      hint: 'check the name of the chart',
    });
  }
  return found.flatMap((entry) => {
    if (!isJsonObject(entry) || typeof entry['version'] !== 'string') return [];
    const urls = Array.isArray(entry['urls']) ? entry['urls'].filter((url) => typeof url === 'string') : [];
    return [{ version: entry['version'], urls, digest: typeof entry['digest'] === 'string' ? entry['digest'] : '' }];
  });
}

/**
 * Extracts the part of an index for one chart as a separate index, because public indexes have tens of thousands of
 * entries. Returns undefined if the layout is not that of helm.
 */
export function entryText(text: string, chart: string): string | undefined {
  const head = /^entries:[ \t]*\r?$/m.exec(text);
  if (!head || !/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(chart)) return undefined;
  const body = text.slice(head.index);
  const name = chart.replace(/[.]/g, '\\.');
  const start = new RegExp(`^ {2}(?:${name}|"${name}"|'${name}'):[ \\t]*\\r?$`, 'm').exec(body);
  if (!start) return undefined;
  const rest = body.slice(start.index + start[0].length);
  // Matches the next chart or the next field of the index.
  const end = /^(?: {2}(?![ -])|(?! |\r?$|#)).*/m.exec(rest.slice(1));
  const own = end ? rest.slice(0, end.index + 1) : rest;
  // YAML anchors may refer to text outside the part.
  if (/^[^#'"\n]*[:-] [*&]/m.test(own)) return undefined;
  return `entries:\n${start[0]}${own}`;
}

/** Returns the newest version that matches a version or range; without either, the newest that is no pre-release. */
export function chooseVersion<T extends { readonly version: string }>(
  entries: readonly T[],
  wanted: string,
): T | undefined {
  const exact = entries.find(({ version }) => version === wanted || version === wanted.replace(/^v/, ''));
  if (exact) return exact;
  let best: { entry: T; version: Version } | undefined;
  for (const entry of entries) {
    const version = readVersion(entry.version);
    if (!version || !isFit(wanted === '' ? '*' : wanted, version)) continue;
    if (!best || version.compare(best.version) > 0) best = { entry, version };
  }
  return best?.entry;
}

function readVersion(text: string): Version | undefined {
  try {
    return new Version(text);
  } catch {
    return undefined;
  }
}

function isFit(constraint: string, version: Version): boolean {
  try {
    return versionFits(constraint, version);
  } catch {
    return false;
  }
}
