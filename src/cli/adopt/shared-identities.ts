import { begunUntilAnnotation, ConfigMaps, OpenStackClusterIdentities } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { ignoreNotFound, isNotFound } from '../../machinery/index.ts';
import { systemNamespace } from '../controller-identity.ts';
import { adoptionManager } from './owners.ts';

// Several namespaces share the credentials of an OpenStackClusterIdentity. What upstream's provider made is known by names alone, which everybody in these
// namespaces can give to an object of theirs: only objects that were there when it stopped count as begun by it.

const by = { fieldManager: adoptionManager };

/** Upstream's managers have stopped: from now on nothing is begun by them. */
export async function noteEndOfUpstream(client: Client, signal: AbortSignal): Promise<void> {
  await annotate(client, await serverTime(client, signal), signal);
}

export async function forgetEndOfUpstream(client: Client, signal: AbortSignal): Promise<void> {
  await annotate(client, null, signal);
}

async function annotate(client: Client, value: string | null, signal: AbortSignal): Promise<void> {
  const list = await client.list(OpenStackClusterIdentities, { signal }).catch((error: unknown) => {
    // that provider is not there, or an old one without this kind
    if (isNotFound(error)) return { items: [] };
    throw error;
  });
  for (const { metadata } of list.items) {
    if (value === null && metadata.annotations?.[begunUntilAnnotation] === undefined) continue;
    const patch = { metadata: { annotations: { [begunUntilAnnotation]: value } } };
    const key = { name: metadata.name ?? '' };
    await client.patch(OpenStackClusterIdentities, key, 'merge', patch, { ...by, signal }).catch(ignoreNotFound);
  }
}

/** By the clock that dates objects. */
async function serverTime(client: Client, signal: AbortSignal): Promise<string> {
  const probe = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: systemNamespace, generateName: 'capstan-time-' },
  };
  const { metadata } = await client.create(ConfigMaps, probe, { ...by, dryRun: true, signal });
  return metadata.creationTimestamp ?? '';
}
