import { asJson, errorMessage, isAlreadyExists, sleep, type UnstructuredObject } from '../../../machinery/index.ts';
import type { ChartSource } from '../../options.ts';
import type { SimulatedProcess } from '../../process.ts';
import { reconcileCharts } from './charts.ts';
import { type K0sConfig, k0sConfigOf, objectAt } from './config.ts';
import { ClusterConfigs, k0sDefinitions } from './definitions.ts';
import { applyManifests } from './manifests.ts';
import { applyObject, fieldManager, type ObjectWriter, resourceOfKind } from './objects.ts';
import { k0sStacks } from './stacks.ts';

export interface DeployOptions {
  readonly writer: ObjectWriter;
  readonly config: K0sConfig;
  /** version of k0s, such as v1.32.6+k0s.0 */
  readonly version: string;
  /** disabled components */
  readonly disabled: ReadonlySet<string>;
  /** follow the configuration in the cluster instead of the file */
  readonly isDynamic: boolean;
  /** source of extension charts */
  readonly charts: ChartSource;
}

const key = { namespace: 'kube-system', name: 'k0s' };
const retryMs = 2_000;
const definitionMs = 50;

/**
 * Applies what k0s contains until the program ends: stacks, manifests and charts, configured by the file or, if
 * dynamic, by the object in the cluster.
 */
export async function deploy(process: SimulatedProcess, options: DeployOptions): Promise<void> {
  const applied = new Map<string, string>();
  await again(process, () => prepare(process, options));
  if (!options.isDynamic) {
    await again(process, () => apply(process, options, options.config, applied));
    return;
  }
  for (;;) {
    try {
      const watch = options.writer.client.watch(ClusterConfigs, {
        namespace: key.namespace,
        fieldSelector: `metadata.name=${key.name}`,
        signal: process.signal,
      });
      for await (const { type, object } of watch) {
        if (type === 'DELETED' || type === 'BOOKMARK') continue;
        await again(process, () => apply(process, options, merged(options.config, object), applied));
      }
    } catch (error) {
      if (process.signal.aborted) throw error;
      say(process, 'failed to watch the cluster configuration', error);
    }
    await process.pass(retryMs);
  }
}

/** Creates the kinds of k0s, and the configuration if it does not exist yet. */
async function prepare(process: SimulatedProcess, { writer, config, isDynamic }: DeployOptions): Promise<void> {
  for (const definition of k0sDefinitions()) await applyObject(writer, definition);
  while (
    !resourceOfKind(writer.server, 'k0s.k0sproject.io/v1beta1', 'ClusterConfig') ||
    !resourceOfKind(writer.server, 'helm.k0sproject.io/v1beta1', 'Chart')
  ) {
    await sleep(process.clock, definitionMs, process.signal);
  }
  if (!isDynamic) return;
  const { storage: _storage, ...spec } = objectAt(config.document, 'spec');
  const object: UnstructuredObject = {
    apiVersion: 'k0s.k0sproject.io/v1beta1',
    kind: 'ClusterConfig',
    metadata: key,
    spec,
  };
  try {
    await writer.client.create(ClusterConfigs, object, { fieldManager });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Settings of the control plane node stay as in its file. */
function merged(config: K0sConfig, object: UnstructuredObject): K0sConfig {
  const ofCluster = asJson(object);
  const own = objectAt(config.document, 'spec');
  const spec = { ...objectAt(ofCluster, 'spec') };
  if (own['storage'] !== undefined) spec['storage'] = own['storage'];
  if (own['api'] !== undefined) spec['api'] = own['api'];
  return k0sConfigOf({ ...config.document, spec });
}

async function apply(
  process: SimulatedProcess,
  { writer, version, disabled, charts }: DeployOptions,
  config: K0sConfig,
  applied: Map<string, string>,
): Promise<void> {
  for (const [name, objects] of k0sStacks(config, version, disabled)) {
    const text = JSON.stringify(objects);
    if (applied.get(name) === text) continue;
    for (const object of objects) await applyObject(writer, object);
    applied.set(name, text);
  }
  await applyManifests(process, writer, applied);
  if (disabled.has('helm')) return;
  const kubeVersion = version.replace(/\+.*$/, '');
  await reconcileCharts(writer, config.helm, { charts, kubeVersion, now: process.clock.now() });
}

/** Retries until it succeeds, or the program must exit. */
async function again(process: SimulatedProcess, work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (process.signal.aborted) throw error;
      say(process, 'failed to apply', error);
    }
    await process.pass(retryMs);
  }
}

function say(process: SimulatedProcess, what: string, error: unknown): void {
  process.log(`level=error msg="${what}" component=applier-manager error="${errorMessage(error)}"`);
}
