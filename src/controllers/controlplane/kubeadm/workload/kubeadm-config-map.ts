import { parse, stringify } from 'yaml';
import {
  type ConfigMap,
  ConfigMaps,
  type KubeadmClusterConfiguration,
  type KubeadmControlPlane,
} from '../../../../api/index.ts';
import { type Client, withOptimisticLock } from '../../../../client/index.ts';
import { CapstanError, deepEqual, isConflict, isJsonObject, type JsonObject } from '../../../../machinery/index.ts';
import { clusterConfigurationDocument, fieldManager } from '../../../shared/index.ts';
import { featureGatesFor } from '../kubeadm-config.ts';

const key = { namespace: 'kube-system', name: 'kubeadm-config' };
const dataKey = 'ClusterConfiguration';
const maxConflicts = 5;

/** Fields of kubeadm's ClusterConfiguration that follow the spec; all others are fixed at init. */
const steered = [
  'apiServer',
  'controllerManager',
  'scheduler',
  'etcd',
  'featureGates',
  'certificateValidityPeriod',
  'encryptionAlgorithm',
] as const;

/** Updates the ClusterConfiguration stored in the cluster to a version and the spec of the control plane. */
export function upgradedConfiguration(current: JsonObject, controlPlane: KubeadmControlPlane): JsonObject {
  const { version, kubeadmConfigSpec } = controlPlane.spec;
  const configuration = kubeadmConfigSpec?.clusterConfiguration;
  const gates = featureGatesFor(configuration?.featureGates, version);
  const desired: KubeadmClusterConfiguration = { ...configuration, ...(gates && { featureGates: gates }) };
  const timeout = kubeadmConfigSpec?.initConfiguration?.timeouts?.controlPlaneComponentHealthCheckSeconds;
  const { value } = clusterConfigurationDocument(desired, {
    clusterName: String(current['clusterName'] ?? ''),
    kubernetesVersion: version,
    ...(timeout !== undefined && { controlPlaneTimeoutSeconds: timeout }),
  });
  const next: JsonObject = { ...current, apiVersion: value['apiVersion'] ?? '', kubernetesVersion: version };
  if (configuration === undefined) return modernized(next, value['apiVersion']);
  for (const field of steered) {
    const wanted = value[field];
    if (wanted === undefined) delete next[field];
    else next[field] = wanted;
  }
  // if unset, kubeadm has chosen the registry and stored it
  if (configuration.imageRepository !== undefined) next['imageRepository'] = configuration.imageRepository;
  if (next['etcd'] === undefined) next['etcd'] = { local: { dataDir: '/var/lib/etcd', ...localEtcd(current) } };
  return next;
}

function localEtcd(current: JsonObject): JsonObject {
  const etcd = current['etcd'];
  const local = isJsonObject(etcd) ? etcd['local'] : undefined;
  return isJsonObject(local) && typeof local['dataDir'] === 'string' ? { dataDir: local['dataDir'] } : {};
}

/**
 * Converts argument maps to the lists of v1beta4. Drops `timeoutForControlPlane`, which v1beta4 no longer has there.
 */
function modernized(configuration: JsonObject, apiVersion: unknown): JsonObject {
  if (apiVersion !== 'kubeadm.k8s.io/v1beta4') return configuration;
  const next: JsonObject = { ...configuration };
  for (const part of ['apiServer', 'controllerManager', 'scheduler']) {
    const component = next[part];
    if (!isJsonObject(component)) continue;
    const { timeoutForControlPlane: _, ...rest } = component;
    next[part] = withArgumentList(rest);
  }
  const etcd = next['etcd'];
  const local = isJsonObject(etcd) ? etcd['local'] : undefined;
  if (isJsonObject(etcd) && isJsonObject(local)) next['etcd'] = { ...etcd, local: withArgumentList(local) };
  return next;
}

function withArgumentList(component: JsonObject): JsonObject {
  const args = component['extraArgs'];
  if (!isJsonObject(args)) return component;
  const extraArgs = Object.keys(args)
    .sort()
    .map((name) => ({ name, value: args[name] ?? '' }));
  return { ...component, extraArgs };
}

export type ConfigurationChange = (current: JsonObject) => JsonObject;

/** Updates the configuration in the cluster; writes only if it changed. */
export async function updateClusterConfiguration(
  client: Client,
  change: ConfigurationChange,
  signal: AbortSignal,
): Promise<void> {
  for (let conflicts = 0; ; ) {
    const configMap: ConfigMap = await client.get(ConfigMaps, key, { signal });
    const current = read(configMap);
    const next = change(current);
    if (deepEqual(current, next)) return;
    const text = stringify(next, { version: '1.1', lineWidth: 0, singleQuote: true });
    try {
      const patch = withOptimisticLock({ data: { [dataKey]: text } }, configMap);
      await client.patch(ConfigMaps, key, 'merge', patch, { fieldManager, signal });
      return;
    } catch (error) {
      if (!isConflict(error) || ++conflicts > maxConflicts) throw error;
    }
  }
}

function read({ data }: ConfigMap): JsonObject {
  const value: unknown = parse(data?.[dataKey] ?? '');
  if (isJsonObject(value)) return value;
  throw new CapstanError(
    'CAP_KUBEADM_CONFIG',
    `ConfigMap ${key.namespace}/${key.name} of the workload cluster has no ${dataKey}`,
    { hint: 'restore it with `kubeadm init phase upload-config kubeadm` on a control plane machine' },
  );
}
