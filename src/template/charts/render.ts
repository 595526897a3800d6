import {
  asUnstructured,
  type Clock,
  isJsonObject,
  type JsonObject,
  must,
  type Random,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { failed, type Result, succeeded, TemplateError, valueOrThrow } from '../errors.ts';
import { type CertificateMaker, certificateFunctions } from '../functions/certificates.ts';
import { chartFunctions } from '../functions/charts.ts';
import type { Library } from '../functions/function.ts';
import { TemplateCache } from '../template-cache.ts';
import { parseTemplates, type TemplateFile } from '../template-set.ts';
import { compareStrings, int, isMap, toTemplateValue, type Value, type ValueMap } from '../values/index.ts';
import { type Capabilities, capabilitiesObject, defaultKubeVersion, readKubeVersion } from './capabilities.ts';
import type { Chart } from './chart.ts';
import { chartObject } from './chart-object.ts';
import { coalesceValues } from './coalesce.ts';
import { isCompatible, resolveDependencies } from './dependencies.ts';
import { filesObject } from './files-object.ts';
import { hookOf, type RenderedHook, type RenderedObject } from './hooks.ts';
import { ChartInstance } from './instance.ts';
import { type ChartLimits, defaultChartLimits } from './limits.ts';
import { inInstallOrder, type Manifest, readDefinitions, readManifests } from './manifests.ts';
import { asValues } from './values-object.ts';
import { validateValues } from './values-schema.ts';

export interface Release {
  readonly name: string;
  readonly namespace: string;
  /** default: 1 */
  readonly revision?: number;
  readonly isUpgrade?: boolean;
}

export interface RenderChartOptions {
  readonly chart: Chart;
  /** override the chart's values; merge several files with mergeValues */
  readonly values?: JsonObject;
  readonly release: Release;
  readonly capabilities?: Capabilities;
  /** puts the objects of `crds/` first */
  readonly includeCrds?: boolean;
  /** looks up cluster objects for `lookup`; default: none exist */
  readonly lookup?: LookUp;
  /** creates keys and certificates for functions such as `genCA`, which fail without it */
  readonly certificates?: CertificateMaker;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly limits?: Partial<ChartLimits>;
}

/** Returns an object, a list if the name is empty, or undefined if there is none. */
export type LookUp = (apiVersion: string, kind: string, namespace: string, name: string) => JsonObject | undefined;

export interface RenderedChart {
  /** in Helm's installation order */
  readonly objects: readonly RenderedObject[];
  readonly hooks: readonly RenderedHook[];
  readonly notes?: string;
  readonly warnings: readonly string[];
}

/** Renders a chart like `helm template`, as objects. */
export function renderChart(options: RenderChartOptions): Result<RenderedChart> {
  try {
    return succeeded(new Rendering(options).run());
  } catch (error) {
    if (error instanceof TemplateError) return failed(error);
    // The JavaScript stack is the last limit, because given values may be nested arbitrarily.
    if (error instanceof RangeError) {
      const { name } = options.chart.metadata;
      return failed(new TemplateError(`chart ${name}: values are nested too deep`, { isLimit: true }));
    }
    throw error;
  }
}

const cache = new TemplateCache();
const maxWarnings = 100;
const notesName = 'NOTES.txt';
const noValue = '<no value>';

/** A template with its data. */
interface Renderable {
  readonly file: TemplateFile;
  readonly data: ValueMap;
  readonly basePath: string;
}

class Rendering {
  readonly #options: RenderChartOptions;
  readonly #limits: ChartLimits;
  readonly #warnings = new Set<string>();

  constructor(options: RenderChartOptions) {
    this.#options = options;
    this.#limits = { ...defaultChartLimits, ...options.limits };
  }

  readonly #warn = (message: string): void => {
    if (this.#warnings.size < maxWarnings) this.#warnings.add(message);
  };

  run(): RenderedChart {
    const { chart, capabilities = {}, includeCrds } = this.#options;
    for (const warning of chart.warnings) this.#warn(warning);
    const kubeVersion = valueOrThrow(readKubeVersion(capabilities.kubeVersion ?? defaultKubeVersion));
    if (chart.metadata.type === 'library') throw new TemplateError('library charts are not installable');
    checkPresence(chart);
    const root = ChartInstance.of(chart);
    const given = toTemplateValue(this.#options.values ?? {});
    if (!isMap(given)) throw new TemplateError('values are no mapping');
    resolveDependencies(root, given, this.#limits.charts, this.#warn);
    const values = coalesceValues(root, given, 'delete', this.#warn);
    validateValues(root, values, this.#warn);
    const { kubeVersion: wanted } = chart.metadata;
    if (wanted !== '' && !isCompatible(wanted, kubeVersion)) {
      throw new TemplateError(
        `chart requires kubeVersion: ${wanted} which is incompatible with Kubernetes ${kubeVersion}`,
      );
    }
    const shared: ValueMap = new Map([
      ['Release', this.#release()],
      ['Capabilities', capabilitiesObject(kubeVersion, capabilities.apiVersions ?? [])],
    ]);
    const files = this.#renderFiles(this.#renderables(root, shared, values));
    const notes = files.get(`${root.name}/templates/${notesName}`);
    const crds = includeCrds ? crdObjects(root) : [];
    const { objects, hooks } = this.#sort(files);
    return {
      objects: [...crds, ...objects],
      hooks,
      ...(notes === undefined ? {} : { notes }),
      warnings: [...this.#warnings],
    };
  }

  #release(): ValueMap {
    const { name, namespace, revision = 1, isUpgrade = false } = this.#options.release;
    return new Map<string, Value>([
      ['Name', name],
      ['Namespace', namespace],
      ['IsUpgrade', isUpgrade],
      ['IsInstall', !isUpgrade],
      ['Revision', int(revision)],
      ['Service', 'Helm'],
    ]);
  }

  #renderables(root: ChartInstance, shared: ValueMap, values: ValueMap): Renderable[] {
    const renderables = new Map<string, Renderable>();
    const visit = (chart: ChartInstance, own: ValueMap): ValueMap => {
      const subcharts: ValueMap = new Map();
      const { path } = chart;
      const data: ValueMap = new Map<string, Value>([
        ['Chart', chartObject(chart)],
        ['Files', filesObject(chart.chart.files)],
        ['Release', shared.get('Release')],
        ['Capabilities', shared.get('Capabilities')],
        ['Values', asValues(own)],
        ['Subcharts', subcharts],
      ]);
      for (const subchart of chart.subcharts) {
        const inner = own.get(subchart.name);
        subcharts.set(subchart.name, visit(subchart, isMap(inner) ? inner : new Map()));
      }
      for (const { name, text } of chart.chart.templates) {
        if (chart.isLibrary && !isPartial(name)) continue;
        const full = `${path}/${name}`;
        renderables.set(full, { file: { name: full, text }, data, basePath: `${path}/templates` });
      }
      return data;
    };
    visit(root, values);
    // Templates of outer charts are parsed last, so that their definitions override those of subcharts.
    return [...renderables.values()].sort((a, b) => byDepth(b.file.name, a.file.name));
  }

  #renderFiles(renderables: readonly Renderable[]): Map<string, string> {
    const { lookup, certificates, clock, random } = this.#options;
    const set = parseTemplates(
      renderables.map(({ file }) => file),
      { functions: chartFunctions, cache },
    );
    if (!set.ok) throw parseError(set.error);
    const session = set.value.session({
      limits: this.#limits,
      missingKey: 'zero',
      ...(clock ? { clock } : {}),
      ...(random ? { random } : {}),
      functions: {
        ...(certificates ? certificateFunctions(certificates) : {}),
        ...(lookup ? { lookup: lookupFunction(lookup) } : {}),
      },
    });
    const rendered = new Map<string, string>();
    for (const { file, data, basePath } of renderables) {
      if (isPartial(file.name)) continue;
      data.set(
        'Template',
        asValues(
          new Map<string, Value>([
            ['Name', file.name],
            ['BasePath', basePath],
          ]),
        ),
      );
      const result = session.render(file.name, asValues(data));
      if (!result.ok) throw executionError(result.error);
      rendered.set(file.name, result.value.replaceAll(noValue, ''));
    }
    return rendered;
  }

  #sort(files: ReadonlyMap<string, string>): { objects: RenderedObject[]; hooks: RenderedHook[] } {
    const manifests: Manifest[] = [];
    for (const [path, text] of [...files].sort(([a], [b]) => compareStrings(a, b))) {
      if (path.endsWith(notesName)) continue;
      manifests.push(...readManifests(path, text));
      if (manifests.length > this.#limits.documents) {
        throw new TemplateError(`chart renders more than ${this.#limits.documents} documents`, { isLimit: true });
      }
    }
    const objects: RenderedObject[] = [];
    const hooks: RenderedHook[] = [];
    for (const manifest of inInstallOrder(manifests)) {
      const object = asObject(manifest.value);
      const hook = hookOf(manifest, object);
      if (hook === 'unknown') this.#warn(`${manifest.source}: skipping unknown hook`);
      else if (hook) hooks.push(hook);
      else objects.push({ source: manifest.source, object });
    }
    return { objects, hooks };
  }
}

const isPartial = (path: string): boolean => path.slice(path.lastIndexOf('/') + 1).startsWith('_');

const depthOf = (path: string): number => path.split('/').length;
const byDepth = (a: string, b: string): number => depthOf(a) - depthOf(b) || compareStrings(a, b);

function lookupFunction(lookup: LookUp): Library[string] {
  const text = (value: Value): string => (typeof value === 'string' ? value : '');
  return {
    ...must(chartFunctions['lookup'], 'lookup'),
    call: (args) => {
      const [apiVersion, kind, namespace, name] = args.map(text) as [string, string, string, string];
      return toTemplateValue(lookup(apiVersion, kind, namespace, name) ?? {});
    },
  };
}

/** Helm refuses to render if a dependency is missing, even a disabled one. */
function checkPresence({ metadata, subcharts }: Chart): void {
  const present = new Set(subcharts.map((subchart) => subchart.metadata.name));
  const missing = metadata.dependencies.map(({ name }) => name).filter((name) => !present.has(name));
  if (missing.length === 0) return;
  throw new TemplateError(
    `chart ${metadata.name}: found in Chart.yaml, but missing in charts/ directory: ${missing.join(', ')}`,
  );
}

/** apiVersion and kind were checked before. */
function asObject(value: JsonObject): UnstructuredObject {
  const { metadata } = value;
  return asUnstructured(isJsonObject(metadata) ? value : { ...value, metadata: {} });
}

/** Formats as `parse error at (chart/templates/x.yaml:3): …`. */
function parseError(error: TemplateError): TemplateError {
  const parts = error.message.split(': ');
  if (parts.length === 1 || error.isLimit) return error;
  return new TemplateError(`parse error at (${parts[1]}): ${parts.at(-1)}`, error.place ? { place: error.place } : {});
}

/** Messages of `fail` and `required` are shown without the template locations. */
function executionError(error: TemplateError): TemplateError {
  if (error.said === undefined || error.place === undefined) return error;
  return new TemplateError(`execution error at (${error.place}): ${error.said}`, {
    place: error.place,
    said: error.said,
  });
}

const manifestName = /\.(?:ya?ml|json)$/i;

/** Returns the objects of `crds/` in a chart and its subcharts. They are not templates. */
function crdObjects(chart: ChartInstance): RenderedObject[] {
  const objects: RenderedObject[] = [];
  for (const [path, bytes] of chart.chart.files) {
    if (!path.startsWith('crds/') || !manifestName.test(path)) continue;
    const source = `${chart.path}/${path}`;
    const text = Buffer.from(bytes).toString('utf8');
    for (const { value } of readDefinitions(source, text)) objects.push({ source, object: asObject(value) });
  }
  return [...objects, ...chart.subcharts.flatMap(crdObjects)];
}
