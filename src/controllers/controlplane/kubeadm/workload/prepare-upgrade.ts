import { type ConfigMap, ConfigMaps, type KubeadmControlPlane, parseKubernetesVersion } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { ignoreNotFound, isAlreadyExists } from '../../../../machinery/index.ts';
import { fieldManager } from '../../../shared/index.ts';
import { type ControlPlaneScope, clusterKeyOf } from '../../machine-plane/scope.ts';
import { updateClusterConfiguration, upgradedConfiguration } from './kubeadm-config-map.ts';
import { ensureKubeletConfigAccess, ensurePermissions } from './permissions.ts';

/** Last minor version with a versioned kubelet-config ConfigMap name. */
const lastVersionedMinor = 23;

/**
 * Prepares the cluster before the first machine of a new version joins, because joining machines read their
 * configuration from it.
 */
export async function prepareUpgrade(scope: ControlPlaneScope<KubeadmControlPlane>): Promise<void> {
  const { context, controlPlane, dependencies } = scope;
  const client = dependencies.workloads.client(clusterKeyOf(scope));
  const minor = parseKubernetesVersion(controlPlane.spec.version)?.minor ?? 0;
  await ensurePermissions(client, minor, context.signal);
  await ensureKubeletConfig(client, minor, context.signal);
  await updateClusterConfiguration(client, (current) => upgradedConfiguration(current, controlPlane), context.signal);
}

const kubeletConfigName = (minor: number): string =>
  minor <= lastVersionedMinor ? `kubelet-config-1.${minor}` : 'kubelet-config';

/**
 * Copies the kubelet configuration for a new minor version; up to 1.24 kubeadm looks for a ConfigMap with the version
 * in its name.
 */
async function ensureKubeletConfig(client: Client, minor: number, signal: AbortSignal): Promise<void> {
  if (minor > lastVersionedMinor + 1) return;
  const name = kubeletConfigName(minor);
  const keyOf = (configMap: string) => ({ namespace: 'kube-system', name: configMap });
  const existing = await client.get(ConfigMaps, keyOf(name), { signal }).catch(ignoreNotFound);
  if (!existing) {
    const previous = await client
      .get(ConfigMaps, keyOf(kubeletConfigName(minor - 1)), { signal })
      .catch(ignoreNotFound);
    if (!previous) return;
    const copy: ConfigMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: keyOf(name),
      ...(previous.data && { data: previous.data }),
    };
    await client.create(ConfigMaps, copy, { fieldManager, signal }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
  await ensureKubeletConfigAccess(client, name, signal);
}
