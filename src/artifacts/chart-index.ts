import { errorMessage, isJsonObject, type JsonValue, parseYaml } from '../machinery/index.ts';
import { Version, versionFits } from '../template/index.ts';
import { ArtifactError } from './errors.ts';

/** One version of a chart in a repository's index. */
export interface IndexEntry {
  readonly version: string;
  readonly urls: readonly string[];
  /** SHA-256 without its name; empty where the index has none */
  readonly digest: string;
}

/** The versions of a chart in an index.yaml. */
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
 * The part of an index that is about one chart, as an index of its own; undefined: the index is not laid out as helm lays it
 * out. Public indexes have tens of thousands of entries, of which one chart's are wanted.
 */
export function entryText(text: string, chart: string): string | undefined {
  const head = /^entries:[ \t]*\r?$/m.exec(text);
  if (!head || !/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(chart)) return undefined;
  const body = text.slice(head.index);
  const name = chart.replace(/[.]/g, '\\.');
  const start = new RegExp(`^ {2}(?:${name}|"${name}"|'${name}'):[ \\t]*\\r?$`, 'm').exec(body);
  if (!start) return undefined;
  const rest = body.slice(start.index + start[0].length);
  // The next chart, or the next field of the index.
  const end = /^(?: {2}(?![ -])|(?! |\r?$|#)).*/m.exec(rest.slice(1));
  const own = end ? rest.slice(0, end.index + 1) : rest;
  // Anchors may lead out of the part.
  if (/^[^#'"\n]*[:-] [*&]/m.test(own)) return undefined;
  return `entries:\n${start[0]}${own}`;
}

/** The newest version that fits: one version, a range, or nothing for the newest that is no pre-release. */
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
