import { parse } from 'yaml';
import { isJsonObject, type JsonObject, type JsonValue, type KubeObject } from '../../../machinery/index.ts';
import { loadChart, renderChart } from '../../../template/index.ts';
import type { ChartSource } from '../../options.ts';
import type { HelmChart } from './config.ts';
import { deployment } from './workloads.ts';

export interface ChartContent {
  readonly objects: readonly KubeObject[];
  readonly version: string;
  readonly appVersion: string;
}

const managedBy = 'app.kubernetes.io/managed-by';
const releaseName = 'meta.helm.sh/release-name';
const releaseNamespace = 'meta.helm.sh/release-namespace';

/** Label selector for objects that Helm installed. */
export const helmSelector = 'app.kubernetes.io/managed-by=Helm';

/** Reports whether an object belongs to a release, by Helm's labels and annotations. */
export function isOfRelease(
  { metadata }: KubeObject,
  release: { readonly name: string; readonly namespace: string },
): boolean {
  const { annotations = {} } = metadata;
  return annotations[releaseName] === release.name && annotations[releaseNamespace] === release.namespace;
}

/** Renders the objects of a chart. Throws in Helm's words if it is not found or cannot be rendered. */
export function chartContent(
  chart: HelmChart,
  options: { readonly charts: ChartSource; readonly repository?: string | undefined; readonly kubeVersion: string },
): ChartContent {
  const values = parseValues(chart.values);
  const name = chart.chartName.slice(chart.chartName.lastIndexOf('/') + 1);
  const files = options.charts({ repository: options.repository, name, version: chart.version });
  if (!files) return standIn(chart, name);
  const loaded = loadChart(files);
  if (!loaded.ok) throw loaded.error;
  const { metadata } = loaded.value;
  const rendered = renderChart({
    chart: loaded.value,
    values,
    release: { name: chart.name, namespace: chart.namespace },
    capabilities: { kubeVersion: options.kubeVersion },
    includeCrds: true,
  });
  if (!rendered.ok) throw rendered.error;
  return {
    objects: rendered.value.objects.map(({ object }) => marked(object, chart)),
    version: metadata.version,
    appVersion: metadata.appVersion,
  };
}

/** Builds placeholder content for unknown charts: a workload with their name. */
function standIn(chart: HelmChart, kind: string): ChartContent {
  const name = chart.name.includes(kind) ? chart.name : `${chart.name}-${kind}`;
  const labels = { 'app.kubernetes.io/name': kind, 'app.kubernetes.io/instance': chart.name };
  const image = `${kind}:${chart.version || 'latest'}`;
  const object = deployment({ name, namespace: chart.namespace, image, labels });
  return { objects: [marked(object, chart)], version: chart.version, appVersion: chart.version };
}

function marked(object: KubeObject, { name, namespace }: HelmChart): KubeObject {
  const { metadata } = object;
  return {
    ...object,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, [managedBy]: 'Helm' },
      annotations: { ...metadata.annotations, [releaseName]: name, [releaseNamespace]: namespace },
    },
  };
}

function parseValues(text: string): JsonObject {
  const values = (text === '' ? {} : parse(text)) as JsonValue;
  if (!isJsonObject(values)) throw new Error(`can't parse values: they are no object`);
  return values;
}
