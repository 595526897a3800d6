import { OpenStackClusters, OpenStackMachines, OpenStackServers } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import type { KubeObject, Resource } from '../../../machinery/index.ts';
import type { SimulatedCloud } from '../../../simulator/index.ts';
import { by, type InfrastructureWorld } from './world.ts';

const ownAnnotations = [
  'infrastructure.cluster.x-k8s.io/owner-mark',
  'infrastructure.cluster.x-k8s.io/api-floating-ip-id',
  'infrastructure.cluster.x-k8s.io/bastion-floating-ip-id',
  'infrastructure.cluster.x-k8s.io/server-seen-in',
];

/**
 * Makes existing resources look created by upstream's provider, without marks in the cloud and on objects. Without
 * status, an object looks as after `clusterctl move`. The controllers must be stopped.
 */
export async function lookAsMadeByUpstream(
  { client, cloud, namespace }: InfrastructureWorld,
  { withoutStatus = false }: { withoutStatus?: boolean } = {},
): Promise<void> {
  unmarkCloud(cloud);
  const kinds: readonly Resource<KubeObject>[] = [OpenStackClusters, OpenStackMachines, OpenStackServers];
  for (const resource of kinds) await unmarkObjects(client, resource, namespace, withoutStatus);
}

async function unmarkObjects(
  client: Client,
  resource: Resource<KubeObject>,
  namespace: string,
  withoutStatus: boolean,
): Promise<void> {
  for (const { metadata } of (await client.list(resource, { namespace })).items) {
    const key = { namespace, name: metadata.name ?? '' };
    const annotations = Object.fromEntries(ownAnnotations.map((name) => [name, null]));
    await client.patch(resource, key, 'merge', { metadata: { annotations } }, by);
    if (withoutStatus) await client.patch(resource, key, 'merge', { status: null }, { ...by, subresource: 'status' });
  }
}

interface MarkedRow {
  readonly id: string;
  readonly description?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
}

function unmarkCloud({ core }: SimulatedCloud): void {
  core.state.transact(() => {
    for (const table of core.state.tables()) {
      for (const row of [...table.all()] as MarkedRow[]) {
        const { description, metadata } = row;
        const changes: { description?: string; metadata?: Record<string, string> } = {};
        if (typeof description === 'string' && description.includes(' [owner ')) {
          // upstream's provider sets no description on networks
          changes.description = table.name === 'network.networks' ? '' : description.replace(/ \[owner .*\]$/, '');
        }
        if (metadata?.['capstan-owner'] !== undefined) {
          const { 'capstan-owner': _, ...others } = metadata;
          changes.metadata = others;
        }
        if (Object.keys(changes).length > 0) table.update(row.id, changes as object);
      }
    }
  });
}
