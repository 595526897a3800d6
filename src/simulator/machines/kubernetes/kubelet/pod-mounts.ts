import { ConfigMaps, type Pod, Secrets } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { isNotFound } from '../../../../machinery/index.ts';

/** What a Pod waits for before its containers can start: a Secret or a ConfigMap that is to be mounted and is not there. */
export async function missingMount(client: Client, { metadata, spec }: Pod): Promise<string | undefined> {
  const namespace = metadata.namespace ?? '';
  for (const { name: volume, secret, configMap } of spec.volumes ?? []) {
    const wanted =
      secret?.secretName && !secret.optional
        ? { kind: 'secret', name: secret.secretName }
        : configMap?.name && !configMap.optional
          ? { kind: 'configmap', name: configMap.name }
          : undefined;
    if (!wanted) continue;
    const { kind, name } = wanted;
    try {
      await (kind === 'secret'
        ? client.get(Secrets, { namespace, name })
        : client.get(ConfigMaps, { namespace, name }));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return `MountVolume.SetUp failed for volume "${volume}" : ${kind} "${name}" not found`;
    }
  }
  return undefined;
}
