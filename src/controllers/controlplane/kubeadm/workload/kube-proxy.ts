import { DaemonSets, type KubeadmControlPlane, skipKubeProxyAnnotation } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { ignoreNotFound, trimTrailing } from '../../../../machinery/index.ts';
import { formatImage, parseImage, versionTag } from './image.ts';
import { patchPodTemplate, withImage } from './pod-template.ts';

const key = { namespace: 'kube-system', name: 'kube-proxy' };

/** Upgrades kube-proxy to the version of the control plane; clusters without kube-proxy stay without it. */
export async function updateKubeProxy(
  client: Client,
  { metadata, spec }: KubeadmControlPlane,
  signal: AbortSignal,
): Promise<void> {
  if (metadata.annotations?.[skipKubeProxyAnnotation] !== undefined) return;
  const daemonSet = await client.get(DaemonSets, key, { signal }).catch(ignoreNotFound);
  const container = daemonSet?.spec.template?.spec?.containers.find(({ name }) => name === key.name);
  if (!daemonSet || !container?.image) return;
  const repository = spec.kubeadmConfigSpec?.clusterConfiguration?.imageRepository;
  const image = formatImage({
    ...parseImage(container.image),
    tag: versionTag(spec.version),
    ...(repository !== undefined && { repository: trimTrailing(repository, '/') }),
  });
  if (image === container.image) return;
  await patchPodTemplate(client, DaemonSets, daemonSet, (pod) => withImage(pod, key.name, image), signal);
}
