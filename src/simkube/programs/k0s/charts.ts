import { createHash } from 'node:crypto';
import {
  ApiServices,
  ClusterRoleBindings,
  ClusterRoles,
  ConfigMaps,
  CsiDrivers,
  DaemonSets,
  Deployments,
  Namespaces,
  RoleBindings,
  Roles,
  Secrets,
  ServiceAccounts,
  Services,
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
  must,
  type Resource,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import type { ChartSource } from '../../options.ts';
import { chartContent, helmSelector, isOfRelease } from './chart-content.ts';
import type { HelmChart, HelmExtensions } from './config.ts';
import { Charts } from './definitions.ts';
import { applyObject, fieldManager, type ObjectWriter, resourceOfKind } from './objects.ts';

const namespace = 'kube-system';
const finalizer = 'helm.k0sproject.io/uninstall-helm-release';
const beginning = 'k0s-addon-chart-';

export interface ChartsContext {
  readonly charts: ChartSource;
  readonly kubeVersion: string;
  readonly now: number;
}

/** Installs, upgrades and uninstalls charts until they match the configuration. */
export async function reconcileCharts(
  writer: ObjectWriter,
  helm: HelmExtensions,
  context: ChartsContext,
): Promise<void> {
  const { items } = await writer.client.list(Charts, { namespace });
  const wanted = new Set(helm.charts.map(({ name }) => beginning + name));
  for (const chart of items) {
    if (!wanted.has(chart.metadata.name ?? '')) await uninstall(writer, chart);
  }
  for (const chart of helm.charts) {
    const before = items.find(({ metadata }) => metadata.name === beginning + chart.name);
    await install(writer, helm, chart, before, context);
  }
}

async function install(
  writer: ObjectWriter,
  helm: HelmExtensions,
  chart: HelmChart,
  before: UnstructuredObject | undefined,
  { charts, kubeVersion, now }: ChartsContext,
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
  let appVersion = '';
  try {
    const content = chartContent(chart, { charts, repository: locate(helm, chart), kubeVersion });
    appVersion = content.appVersion;
    await ensureNamespace(writer, chart.namespace);
    const namespaced = content.objects.map((object) => inNamespace(writer, object, chart.namespace));
    for (const object of namespaced) await applyObject(writer, object);
    await removeReleased(writer, { name: chart.name, namespace: chart.namespace }, namespaced);
  } catch (cause) {
    error = errorMessage(cause);
    if (known['error'] === error) return;
  }
  const next: JsonObject =
    error === undefined
      ? {
          releaseName: chart.name,
          version,
          appVersion,
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

/** Repository URL of a chart, if any. Charts of unconfigured repositories are not found. */
function locate({ repositories }: HelmExtensions, { chartName }: HelmChart): string | undefined {
  if (chartName.startsWith('oci://') || chartName.startsWith('/') || !chartName.includes('/')) return undefined;
  const repository = chartName.slice(0, chartName.indexOf('/'));
  if (!repositories.has(repository)) {
    throw new Error(`can't locate chart \`${chartName}\`: repo ${repository} not found`);
  }
  return repository;
}

/** Helm puts objects without a namespace into the namespace of the release. */
function inNamespace({ server }: ObjectWriter, object: KubeObject, ofRelease: string): KubeObject {
  const { metadata } = object;
  const isNamespaced = resourceOfKind(server, object.apiVersion ?? '', object.kind ?? '')?.namespaced ?? false;
  if (!isNamespaced || metadata.namespace !== undefined) return object;
  return { ...object, metadata: { ...metadata, namespace: ofRelease } };
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
  ApiServices,
  Services,
  ConfigMaps,
  Secrets,
  ClusterRoleBindings,
  ClusterRoles,
  RoleBindings,
  Roles,
  ServiceAccounts,
];

/** Deletes objects of a release that it no longer contains. */
async function removeReleased(
  { client }: ObjectWriter,
  release: { readonly name: string; readonly namespace: string },
  kept: readonly KubeObject[],
): Promise<void> {
  const id = ({ kind = '', metadata }: KubeObject): string => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
  const keeps = new Set(kept.map(id));
  for (const resource of releasedKinds) {
    const { items } = await client.list(resource, { labelSelector: helmSelector });
    for (const item of items) {
      const { metadata } = item;
      if (!isOfRelease(item, release) || keeps.has(id({ ...item, kind: resource.kind }))) continue;
      const where = {
        name: must(metadata.name, 'metadata.name'),
        ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      };
      await client.delete(resource, where);
    }
  }
}

async function uninstall(writer: ObjectWriter, chart: UnstructuredObject): Promise<void> {
  const { client } = writer;
  const name = chart.metadata.name ?? '';
  const spec = isJsonObject(chart['spec']) ? chart['spec'] : {};
  const release = typeof spec['releaseName'] === 'string' ? spec['releaseName'] : '';
  const where = typeof spec['namespace'] === 'string' ? spec['namespace'] : '';
  if (release !== '') await removeReleased(writer, { name: release, namespace: where }, []);
  await client.delete(Charts, { namespace, name });
  try {
    await client.patch(Charts, { namespace, name }, 'merge', { metadata: { finalizers: null } }, { fieldManager });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
