import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { CapstanError, isJsonObject, type JsonObject, type JsonValue } from '../machinery/index.ts';
import { mergeValues } from '../template/index.ts';

/** The files of a chart, keyed by path. */
export type ChartFileMap = ReadonlyMap<string, Uint8Array>;

interface Release {
  readonly version: string;
  readonly appVersion: string;
  readonly values: readonly JsonObject[];
}

const versionsFile = 'versions.yaml';

/** Returns the names of the charts that ship with the program. */
export function builtInChartNames(): string[] {
  const root = chartsDirectory();
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(root, entry.name, versionsFile)))
    .map(({ name }) => name)
    .sort();
}

/** Returns the versions of a chart, oldest first; empty for unknown charts. */
export function builtInChartVersions(name: string): string[] {
  return isBuiltIn(name) ? releasesOf(name).map(({ version }) => version) : [];
}

/** Returns the app version of the newest chart release with this version prefix; undefined if there is none. */
export function builtInAppVersion(name: string, versionPrefix: string): string | undefined {
  return releasesOf(name).findLast(({ version }) => version.startsWith(versionPrefix))?.appVersion;
}

/**
 * Returns a built-in chart, by default in its newest release. The differences of an older release are a row of
 * versions.yaml (charts/README.md), which is applied here.
 */
export function builtInChart(name: string, version?: string): ChartFileMap {
  if (!isBuiltIn(name)) {
    throw new CapstanError('CAP_CHART_MISSING', `Capstan does not include a chart ${name}`, {
      hint: `available charts: ${builtInChartNames().join(', ')}`,
    });
  }
  const releases = releasesOf(name);
  const release =
    version === undefined || version === '' ? releases.at(-1) : releases.find((row) => row.version === version);
  if (!release) {
    throw new CapstanError('CAP_CHART_MISSING', `Capstan does not include version ${version} of the chart ${name}`, {
      hint: `available versions: ${releases.map((row) => row.version).join(', ')}`,
    });
  }
  const files = new Map(readFiles(name));
  const metadata = { ...mapping(files, 'Chart.yaml'), version: release.version, appVersion: release.appVersion };
  files.set('Chart.yaml', bytes(stringify(metadata)));
  const values = release.values.reduce((base, over) => mergeValues(base, over), mapping(files, 'values.yaml'));
  files.set('values.yaml', bytes(stringify(values)));
  return files;
}

function isBuiltIn(name: string): boolean {
  return builtInChartNames().includes(name);
}

function* readFiles(name: string): Generator<[string, Uint8Array]> {
  const root = join(chartsDirectory(), name);
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name === versionsFile) continue;
    const file = join(entry.parentPath, entry.name);
    yield [relative(root, file).split(sep).join('/'), readFileSync(file)];
  }
}

function releasesOf(name: string): Release[] {
  const rows = parse(readFileSync(join(chartsDirectory(), name, versionsFile), 'utf8')) as JsonValue;
  if (!Array.isArray(rows)) throw new TypeError(`charts/${name}/${versionsFile} is no list`);
  return rows.filter(isJsonObject).map((row) => {
    const { values = [] } = row;
    return {
      version: String(row['version']),
      appVersion: String(row['appVersion']),
      values: (Array.isArray(values) ? values : [values]).filter(isJsonObject),
    };
  });
}

function mapping(files: ReadonlyMap<string, Uint8Array>, path: string): JsonObject {
  const parsed = parse(Buffer.from(files.get(path) ?? []).toString('utf8')) as JsonValue;
  return isJsonObject(parsed) ? parsed : {};
}

function bytes(text: string): Uint8Array {
  return Buffer.from(text, 'utf8');
}

/** Finds the directory for both source and bundle layouts. */
function chartsDirectory(): string {
  for (let directory = dirname(fileURLToPath(import.meta.url)); ; directory = dirname(directory)) {
    const found = join(directory, 'charts');
    if (existsSync(join(found, 'cilium', versionsFile))) return found;
    if (dirname(directory) === directory) {
      throw new CapstanError('CAP_CHART_MISSING', 'the charts of add-ons are missing in the installation of Capstan', {
        hint: 'reinstall Capstan, or use a clone of its repository',
      });
    }
  }
}
