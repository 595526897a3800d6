import { begunUntilAnnotation, ConfigMaps, OpenStackClusterIdentities } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { ignoreNotFound, isNotFound } from '../../machinery/index.ts';
import { systemNamespace } from '../controller-identity.ts';
import { adoptionManager } from './owners.ts';

// Several namespaces share the credentials of an OpenStackClusterIdentity. Resources of upstream's provider are
// identified only by name, and every user of these namespaces could choose such a name. So only objects that existed
// when the provider stopped count as its own.

const by = { fieldManager: adoptionManager };

/** Records the time at which upstream's managers stopped. */
export async function noteEndOfUpstream(client: Client, signal: AbortSignal): Promise<void> {
  await annotate(client, await serverTime(client, signal), signal);
}

export async function forgetEndOfUpstream(client: Client, signal: AbortSignal): Promise<void> {
  await annotate(client, null, signal);
}

async function annotate(client: Client, value: string | null, signal: AbortSignal): Promise<void> {
  const list = await client.list(OpenStackClusterIdentities, { signal }).catch((error: unknown) => {
    // The provider is missing, or too old for this kind.
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

/** Reads the clock of the API server, which also sets creation timestamps. */
async function serverTime(client: Client, signal: AbortSignal): Promise<string> {
  const probe = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: systemNamespace, generateName: 'capstan-time-' },
  };
  const { metadata } = await client.create(ConfigMaps, probe, { ...by, dryRun: true, signal });
  return metadata.creationTimestamp ?? '';
}
