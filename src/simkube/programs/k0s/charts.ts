import { createHash } from 'node:crypto';
import {
  ClusterRoleBindings,
  ClusterRoles,
  CsiDrivers,
  DaemonSets,
  Deployments,
  Namespaces,
  ServiceAccounts,
  StorageClasses,
} from '../../../api/index.ts';
import {
  deepEqual,
  errorMessage,
  formatTime,
  isAlreadyExists,
  isJsonObject,
  isNotFound,
  type JsonObject,
  type KubeObject,
  type Resource,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import { chartContent, releaseLabel } from './chart-content.ts';
import type { HelmChart, HelmExtensions } from './config.ts';
import { Charts } from './definitions.ts';
import { applyObject, fieldManager, type ObjectWriter } from './objects.ts';

const namespace = 'kube-system';
const finalizer = 'helm.k0sproject.io/uninstall-helm-release';
const beginning = 'k0s-addon-chart-';

/** Installs, upgrades and uninstalls charts until they are as the configuration says. */
export async function reconcileCharts(writer: ObjectWriter, helm: HelmExtensions, now: number): Promise<void> {
  const { items } = await writer.client.list(Charts, { namespace });
  const wanted = new Set(helm.charts.map(({ name }) => beginning + name));
  for (const chart of items) {
    if (!wanted.has(chart.metadata.name ?? '')) await uninstall(writer, chart);
  }
  for (const chart of helm.charts) {
    const before = items.find(({ metadata }) => metadata.name === beginning + chart.name);
    await install(writer, helm, chart, before, now);
  }
}

async function install(
  writer: ObjectWriter,
  helm: HelmExtensions,
  chart: HelmChart,
  before: UnstructuredObject | undefined,
  now: number,
): Promise<void> {
  const name = beginning + chart.name;
  const { chartName, values, version, order, timeout, forceUpgrade } = chart;
  const spec = {
    chartName,
    releaseName: chart.name,
    values,
    version,
    namespace: chart.namespace,
    order,
    timeout,
    forceUpgrade,
  };
  if (!before || !deepEqual((before['spec'] ?? {}) as JsonObject, spec)) {
    const desired = {
      apiVersion: 'helm.k0sproject.io/v1beta1',
      kind: 'Chart',
      metadata: { name, namespace, finalizers: [finalizer] },
      spec,
    } as UnstructuredObject;
    await writer.client.apply(Charts, desired, { fieldManager, force: true });
  }
  const status = before?.['status'];
  const known: JsonObject = isJsonObject(status) ? status : {};
  const valuesHash = createHash('sha256').update(values).digest('hex');
  const isInstalled =
    known['error'] === undefined &&
    known['version'] === version &&
    known['valuesHash'] === valuesHash &&
    known['namespace'] === chart.namespace;
  if (isInstalled) return;
  let error: string | undefined;
  try {
    locate(helm, chart);
    await ensureNamespace(writer, chart.namespace);
    for (const object of chartContent(chart)) await applyObject(writer, object);
  } catch (cause) {
    error = errorMessage(cause);
    if (known['error'] === error) return;
  }
  const next: JsonObject =
    error === undefined
      ? {
          releaseName: chart.name,
          version,
          appVersion: version,
          revision: Number(known['revision'] ?? 0) + 1,
          namespace: chart.namespace,
          valuesHash,
          updated: formatTime(now),
          error: null,
        }
      : { error, updated: formatTime(now) };
  await writer.client.patch(
    Charts,
    { namespace, name },
    'merge',
    { status: next },
    { fieldManager, subresource: 'status' },
  );
}

/** Charts of a repository nobody configured are not found. */
function locate({ repositories }: HelmExtensions, { chartName }: HelmChart): void {
  if (chartName.startsWith('oci://') || chartName.startsWith('/') || !chartName.includes('/')) return;
  const repository = chartName.slice(0, chartName.indexOf('/'));
  if (!repositories.has(repository)) {
    throw new Error(`can't locate chart \`${chartName}\`: repo ${repository} not found`);
  }
}

async function ensureNamespace({ client }: ObjectWriter, name: string): Promise<void> {
  try {
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, { fieldManager });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

const releasedKinds: readonly Resource<KubeObject>[] = [
  DaemonSets,
  Deployments,
  CsiDrivers,
  StorageClasses,
  ClusterRoleBindings,
  ClusterRoles,
  ServiceAccounts,
];

async function uninstall({ client }: ObjectWriter, chart: UnstructuredObject): Promise<void> {
  const name = chart.metadata.name ?? '';
  const spec = chart['spec'];
  const release = isJsonObject(spec) && typeof spec['releaseName'] === 'string' ? spec['releaseName'] : '';
  if (release !== '') {
    for (const resource of releasedKinds) {
      const { items } = await client.list(resource, { labelSelector: `${releaseLabel}=${release}` });
      for (const { metadata } of items) {
        const key = {
          name: metadata.name!,
          ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
        };
        await client.delete(resource, key);
      }
    }
  }
  await client.delete(Charts, { namespace, name });
  try {
    await client.patch(Charts, { namespace, name }, 'merge', { metadata: { finalizers: null } }, { fieldManager });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
