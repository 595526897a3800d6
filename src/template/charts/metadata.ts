import { isJsonObject, type JsonObject, type JsonValue } from '../../machinery/index.ts';
import { TemplateError } from '../errors.ts';
import { formatFloat } from '../format/index.ts';
import { Version } from '../functions/version.ts';
import type { ChartDependency, ChartMetadata, Maintainer } from './chart.ts';

const fields = new Set([
  ...['name', 'home', 'sources', 'version', 'description', 'keywords', 'maintainers', 'icon', 'apiVersion'],
  ...['condition', 'tags', 'appVersion', 'deprecated', 'annotations', 'kubeVersion', 'dependencies', 'type'],
]);

/** Parses Chart.yaml, and requirements.yaml of v1 charts, with the types of Helm's Go structs. */
export function readMetadata(chart: JsonObject, requirements: JsonObject | undefined): ChartMetadata {
  // encoding/json matches field names case-insensitively.
  const data: JsonObject = {};
  for (const source of [chart, requirements ?? {}]) {
    for (const [key, value] of Object.entries(source)) {
      const field = fields.has(key) ? key : [...fields].find((name) => name.toLowerCase() === key.toLowerCase());
      if (field !== undefined && value !== undefined && value !== null) data[field] = value;
    }
  }
  const read = new FieldReader('Chart.yaml');
  const text = (field: string): string => clean(read.text(data[field], field));
  const metadata: ChartMetadata = {
    name: text('name'),
    home: text('home'),
    sources: read.texts(data['sources'], 'sources').map(clean),
    version: read.text(data['version'], 'version'),
    description: text('description'),
    keywords: read.texts(data['keywords'], 'keywords').map(clean),
    maintainers: read.items(data['maintainers'], 'maintainers').map((item) => maintainer(item, read)),
    icon: text('icon'),
    apiVersion: read.text(data['apiVersion'], 'apiVersion') || 'v1',
    condition: text('condition'),
    tags: text('tags'),
    appVersion: text('appVersion'),
    deprecated: read.flag(data['deprecated'], 'deprecated'),
    annotations: read.textMap(data['annotations'], 'annotations'),
    kubeVersion: text('kubeVersion'),
    dependencies: read.items(data['dependencies'], 'dependencies').map((item) => dependency(item, read)),
    type: read.text(data['type'], 'type'),
  };
  check(metadata);
  return metadata;
}

function maintainer(item: JsonValue, read: FieldReader): Maintainer {
  if (item === null) throw invalid('maintainers must not contain empty or null nodes');
  const data = read.object(item, 'maintainers');
  const text = (field: string): string => clean(read.text(data[field], `maintainers.${field}`));
  return { name: text('name'), email: text('email'), url: text('url') };
}

function dependency(item: JsonValue, read: FieldReader): ChartDependency {
  if (item === null) throw invalid('dependencies must not contain empty or null nodes');
  const data = read.object(item, 'dependencies');
  const text = (field: string): string => clean(read.text(data[field], `dependencies.${field}`));
  const result: ChartDependency = {
    name: text('name'),
    version: text('version'),
    repository: text('repository'),
    condition: text('condition'),
    tags: read.texts(data['tags'], 'dependencies.tags').map(clean),
    importValues: read.items(data['import-values'], 'dependencies.import-values'),
    alias: read.text(data['alias'], 'dependencies.alias'),
  };
  if (result.alias !== '' && !/^[a-zA-Z0-9_-]+$/.test(result.alias)) {
    throw invalid(`dependency ${JSON.stringify(result.name)} has disallowed characters in the alias`);
  }
  return result;
}

function check(metadata: ChartMetadata): void {
  if (metadata.name === '') throw invalid('chart.metadata.name is required');
  // The name becomes part of paths.
  if (metadata.name.includes('/') || metadata.name === '.' || metadata.name === '..') {
    throw invalid(`chart.metadata.name ${JSON.stringify(metadata.name)} is invalid`);
  }
  if (metadata.version === '') throw invalid('chart.metadata.version is required');
  try {
    new Version(metadata.version);
  } catch {
    throw invalid(`chart.metadata.version ${JSON.stringify(metadata.version)} is invalid`);
  }
  if (!['', 'application', 'library'].includes(metadata.type)) {
    throw invalid('chart.metadata.type must be application or library');
  }
  const names = new Set<string>();
  for (const { name, alias } of metadata.dependencies) {
    const key = alias || name;
    if (names.has(key)) throw invalid(`more than one dependency with name or alias ${JSON.stringify(key)}`);
    names.add(key);
  }
}

const invalid = (what: string): TemplateError => new TemplateError(`validation: ${what}`);

/** Replaces white space with blanks and removes unprintable characters. */
const clean = (text: string): string => text.replace(/\s/gu, ' ').replace(/[\p{C}\u2028\u2029]/gu, '');

const kindOf = (value: JsonValue): string => {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'bigint' ? 'number' : typeof value;
};

/** Reads fields with their Go types. Refuses other types with Go's messages. */
export class FieldReader {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  text(value: JsonValue | undefined, field: string): string {
    if (value === undefined || value === null) return '';
    // sigs.k8s.io/yaml converts numbers to string fields: `appVersion: 1.0` becomes "1"
    if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : formatFloat(value, 'g', -1);
    if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
    return typeof value === 'string' ? value : this.#wrong(value, field, 'string');
  }

  flag(value: JsonValue | undefined, field: string): boolean {
    if (value === undefined || value === null) return false;
    return typeof value === 'boolean' ? value : this.#wrong(value, field, 'bool');
  }

  items(value: JsonValue | undefined, field: string): readonly JsonValue[] {
    if (value === undefined || value === null) return [];
    return Array.isArray(value) ? value : this.#wrong(value, field, 'list');
  }

  texts(value: JsonValue | undefined, field: string): string[] {
    return this.items(value, field).map((item) => this.text(item, field));
  }

  object(value: JsonValue | undefined, field: string): JsonObject {
    return isJsonObject(value) ? value : this.#wrong(value ?? null, field, 'object');
  }

  textMap(value: JsonValue | undefined, field: string): Record<string, string> {
    if (value === undefined || value === null) return {};
    const entries = Object.entries(this.object(value, field));
    return Object.fromEntries(entries.map(([key, item]) => [key, this.text(item, `${field}.${key}`)]));
  }

  #wrong(value: JsonValue, field: string, wanted: string): never {
    throw new TemplateError(
      `cannot load ${this.#file}: cannot unmarshal ${kindOf(value)} into field ${field} of type ${wanted}`,
    );
  }
}
