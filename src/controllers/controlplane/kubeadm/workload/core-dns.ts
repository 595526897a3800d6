import {
  ConfigMaps,
  type Deployment,
  Deployments,
  type KubeadmControlPlane,
  type PodSpec,
  skipCoreDnsAnnotation,
} from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { CapstanError, ignoreNotFound, type JsonObject, trimTrailing } from '../../../../machinery/index.ts';
import { fieldManager } from '../../../shared/index.ts';
import { isOlder, migrateCorefile, tagVersion } from './corefile.ts';
import { formatImage, type ImageName, parseImage } from './image.ts';
import { updateClusterConfiguration } from './kubeadm-config-map.ts';
import { patchPodTemplate, withImage } from './pod-template.ts';

const key = { namespace: 'kube-system', name: 'coredns' };
const corefileKey = 'Corefile';
const backupKey = 'Corefile-backup';
/** CoreDNS version whose image moved to a subdirectory, at the default registry only. */
const nestedSince = [1, 8, 0] as const;

/**
 * Upgrades CoreDNS to the requested image. The Corefile is migrated first, and the old one is kept until the new Pods
 * run.
 */
export async function updateCoreDns(
  client: Client,
  controlPlane: KubeadmControlPlane,
  signal: AbortSignal,
): Promise<void> {
  const configuration = controlPlane.spec.kubeadmConfigSpec?.clusterConfiguration;
  if (!configuration || controlPlane.metadata.annotations?.[skipCoreDnsAnnotation] !== undefined) return;
  const deployment = await client.get(Deployments, key, { signal }).catch(ignoreNotFound);
  const image = deployment?.spec.template?.spec?.containers.find(({ name }) => name === key.name)?.image;
  if (!deployment || image === undefined) return;
  const current = parseImage(image);
  const wanted = wantedImage(current, configuration);
  const target = formatImage(wanted);
  if (target === image) return;
  const from = tagVersion(current.tag);
  const to = tagVersion(wanted.tag);
  if (!from || !to) throw unusable(`the tags ${current.tag} and ${wanted.tag} must be versions`);
  if (isOlder(to, from)) throw unusable(`version ${wanted.tag} is lower than ${current.tag}, which runs`);
  await updateClusterConfiguration(client, (config) => withDns(config, configuration.dns), signal);
  const prepared = await migrate(client, deployment, (corefile) => migrateCorefile(corefile, from, to), signal);
  await patchPodTemplate(
    client,
    Deployments,
    prepared,
    (pod) => ({ ...withImage(pod, key.name, target), ...withCorefile(pod, corefileKey) }),
    signal,
  );
}

function unusable(problem: string): CapstanError {
  return new CapstanError('CAP_COREDNS', `CoreDNS cannot be updated: ${problem}`, {
    hint: 'correct spec.kubeadmConfigSpec.clusterConfiguration.dns.imageTag, or annotate the control plane to leave CoreDNS alone',
  });
}

type Configuration = NonNullable<NonNullable<KubeadmControlPlane['spec']['kubeadmConfigSpec']>['clusterConfiguration']>;

export function wantedImage(current: ImageName, { dns, imageRepository }: Configuration): ImageName {
  const repository = trimTrailing(dns?.imageRepository ?? imageRepository ?? current.repository, '/');
  const tag = dns?.imageTag ?? current.tag;
  const version = tagVersion(tag);
  const official = repository === 'registry.k8s.io' || repository === 'k8s.gcr.io';
  const nested = official && current.name === 'coredns' && version !== undefined && !isOlder(version, nestedSince);
  // an image name in the default registry may contain the subdirectory already
  if (nested && !current.repository.endsWith('/coredns'))
    return { repository: `${repository}/coredns`, name: 'coredns', tag };
  return { repository, name: current.name, tag };
}

function withDns(config: JsonObject, dns: Configuration['dns']): JsonObject {
  const next = { ...config };
  if (dns) next['dns'] = { ...dns };
  return next;
}

/** Migrates the Corefile. CoreDNS reads a backup copy meanwhile. */
async function migrate(
  client: Client,
  deployment: Deployment,
  change: (corefile: string) => string,
  signal: AbortSignal,
): Promise<Deployment> {
  const configMap = await client.get(ConfigMaps, key, { signal }).catch(ignoreNotFound);
  const corefile = configMap?.data?.[corefileKey];
  if (corefile === undefined) return deployment;
  const migrated = change(corefile);
  if (migrated === corefile) return deployment;
  const write = (data: JsonObject): Promise<unknown> =>
    client.patch(ConfigMaps, key, 'merge', { data }, { fieldManager, signal });
  await write({ [backupKey]: corefile });
  const switched = await patchPodTemplate(
    client,
    Deployments,
    deployment,
    (pod) => withCorefile(pod, backupKey),
    signal,
  );
  await write({ [corefileKey]: migrated, [backupKey]: corefile });
  return switched;
}

/** Selects the ConfigMap key from which CoreDNS reads its configuration. */
function withCorefile({ volumes = [] }: PodSpec, from: string): Pick<PodSpec, 'volumes'> {
  return {
    volumes: volumes.map((volume) =>
      volume.name === 'config-volume' && volume.configMap
        ? {
            ...volume,
            configMap: {
              ...volume.configMap,
              items: (volume.configMap.items ?? []).map((item) =>
                item.key === corefileKey || item.key === backupKey ? { ...item, key: from } : item,
              ),
            },
          }
        : volume,
    ),
  };
}
