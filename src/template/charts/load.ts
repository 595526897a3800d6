import { errorMessage, isJsonObject, type JsonObject, parseYaml } from '../../machinery/index.ts';
import { failed, type Result, succeeded, TemplateError, valueOrThrow } from '../errors.ts';
import { compareStrings } from '../values/index.ts';
import { chartFiles, readArchive } from './archive.ts';
import type { Chart, ChartTemplate } from './chart.ts';
import { IgnoreRules } from './ignore.ts';
import { type ChartLimits, defaultChartLimits } from './limits.ts';
import { readMetadata } from './metadata.ts';

/**
 * Loads a chart from files whose paths are relative to it: `Chart.yaml`, `templates/x.yaml`, `charts/sub/…` or
 * `charts/sub-1.0.tgz`. Files in `.helmignore` are skipped, as in `helm package`.
 */
export function loadChart(files: ReadonlyMap<string, Uint8Array>, limits: Partial<ChartLimits> = {}): Result<Chart> {
  const loader = new Loader({ ...defaultChartLimits, ...limits });
  try {
    return succeeded(loader.load(withoutIgnored(files), 0));
  } catch (error) {
    if (error instanceof TemplateError) return failed(error);
    throw error;
  }
}

function withoutIgnored(files: ReadonlyMap<string, Uint8Array>): ReadonlyMap<string, Uint8Array> {
  const list = files.get('.helmignore');
  const rules = new IgnoreRules(list ? decode(list) : '');
  return new Map([...files].filter(([path]) => !rules.ignores(path)));
}

const decode = (bytes: Uint8Array): string => {
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', isMarked ? 3 : 0);
};

class Loader {
  readonly #limits: ChartLimits;
  #files = 0;
  #bytes = 0;

  constructor(limits: ChartLimits) {
    this.#limits = limits;
  }

  load(files: ReadonlyMap<string, Uint8Array>, depth: number): Chart {
    this.#count(files, depth);
    const chartYaml = files.get('Chart.yaml');
    if (!chartYaml) throw new TemplateError('Chart.yaml file is missing');
    const warnings: string[] = [];
    const requirements = files.get('requirements.yaml');
    const metadata = readMetadata(
      readMap('Chart.yaml', chartYaml),
      requirements && readMap('requirements.yaml', requirements),
    );
    if (requirements && metadata.apiVersion !== 'v1') {
      warnings.push('Dependencies are handled in Chart.yaml since apiVersion "v2": move them there.');
    }
    const values = files.get('values.yaml');
    const schema = files.get('values.schema.json');
    const templates: ChartTemplate[] = [];
    const others = new Map<string, Uint8Array>();
    const packed = new Map<string, Map<string, Uint8Array>>();
    for (const [path, content] of files) {
      if (['Chart.yaml', 'Chart.lock', 'values.yaml', 'values.schema.json'].includes(path)) continue;
      if (path === 'requirements.yaml' || path === 'requirements.lock') {
        if (metadata.apiVersion === 'v1') others.set(path, content);
      } else if (path.startsWith('templates/')) templates.push({ name: path, text: decode(content) });
      else if (!path.startsWith('charts/') || path.endsWith('.prov')) others.set(path, withoutMark(content));
      else {
        const [name = ''] = path.slice('charts/'.length).split('/', 1);
        const own = packed.get(name) ?? new Map<string, Uint8Array>();
        packed.set(name, own.set(path.slice('charts/'.length), content));
      }
    }
    const subcharts: Chart[] = [];
    for (const [name, files] of [...packed].sort(([a], [b]) => compareStrings(a, b))) {
      if (/^[_.]/.test(name)) continue;
      try {
        subcharts.push(this.#subchart(name, files, depth + 1));
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error;
        throw new TemplateError(`error unpacking subchart ${name} in ${metadata.name}: ${error.message}`, {
          isLimit: error.isLimit,
        });
      }
    }
    warnings.push(...subcharts.flatMap((subchart) => subchart.warnings));
    return {
      metadata,
      values: values ? readMap('values.yaml', values) : {},
      schema: schema && decode(schema),
      templates,
      files: others,
      subcharts,
      warnings,
    };
  }

  #count(files: ReadonlyMap<string, Uint8Array>, depth: number): void {
    const { chartDepth, files: maxFiles, fileBytes, unpackedBytes } = this.#limits;
    const limit = (message: string): TemplateError => new TemplateError(message, { isLimit: true });
    if (depth > chartDepth) throw limit(`charts are nested more than ${chartDepth} deep`);
    // Files of unpacked subcharts were already counted with their parent.
    if (depth > 0) return;
    this.#add(files, maxFiles, unpackedBytes);
    for (const [path, content] of files) {
      if (content.length > fileBytes)
        throw limit(`chart file ${JSON.stringify(path)} is larger than ${fileBytes} bytes`);
    }
  }

  #add(files: ReadonlyMap<string, Uint8Array>, maxFiles: number, unpackedBytes: number): void {
    this.#files += files.size;
    for (const content of files.values()) this.#bytes += content.length;
    if (this.#files > maxFiles) throw new TemplateError(`chart has more than ${maxFiles} files`, { isLimit: true });
    if (this.#bytes > unpackedBytes) {
      throw new TemplateError(`chart is larger than ${unpackedBytes} bytes`, { isLimit: true });
    }
  }

  #subchart(name: string, files: ReadonlyMap<string, Uint8Array>, depth: number): Chart {
    if (!name.endsWith('.tgz')) {
      const own = new Map<string, Uint8Array>();
      for (const [path, content] of files) {
        if (path.includes('/')) own.set(path.slice(path.indexOf('/') + 1), content);
      }
      return this.load(own, depth);
    }
    const archive = files.get(name);
    if (!archive) throw new TemplateError(`expected ${name}, got ${[...files.keys()][0]}`);
    const unpacked = valueOrThrow(chartFiles(valueOrThrow(readArchive(archive, this.#limits))));
    this.#add(unpacked, this.#limits.files, this.#limits.unpackedBytes);
    return this.load(unpacked, depth);
  }
}

const withoutMark = (bytes: Uint8Array): Uint8Array =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;

/** Parses a file with a mapping, or an empty one. */
function readMap(file: string, bytes: Uint8Array): JsonObject {
  let value: unknown;
  try {
    ({ value } = parseYaml(decode(bytes), { largeIntegers: 'keep' }));
  } catch (error) {
    throw new TemplateError(`cannot load ${file}: error converting YAML to JSON: ${errorMessage(error)}`);
  }
  if (value === null) return {};
  if (isJsonObject(value)) return value;
  throw new TemplateError(
    `cannot load ${file}: it holds ${Array.isArray(value) ? 'a list' : 'one value'}, not a mapping`,
  );
}
