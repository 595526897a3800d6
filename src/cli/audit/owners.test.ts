import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LatticeClusters, Namespaces, OpenStackClusters, Secrets } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import {
  accessName,
  accessNamespace,
  latticeParentConfigKey,
  managementAnnotation,
  parentAnnotation,
} from '../../controllers/index.ts';
import { type MemoryApi, startMemoryApi } from '../testing/memory-api.ts';
import { type OpenApi, ownersOf } from './owners.ts';

const by = { fieldManager: 'test' };
const { signal } = new AbortController();

let parent: MemoryApi;
let child: MemoryApi;
beforeEach(async () => {
  [parent, child] = await Promise.all([startMemoryApi(), startMemoryApi()]);
});
afterEach(async () => {
  await Promise.all([parent.close(), child.close()]);
});

const namesOf = (objects: readonly { metadata: { name?: string } }[]): (string | undefined)[] =>
  objects.map(({ metadata }) => metadata.name);

async function infrastructure({ connection: { client } }: MemoryApi, name: string): Promise<void> {
  await client.create(
    OpenStackClusters,
    {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
      kind: 'OpenStackCluster',
      metadata: { name, namespace: 'default' },
      spec: { identityRef: { name: 'cloud', cloudName: 'openstack' } },
    },
    by,
  );
}

/** Creates a LatticeCluster that manages itself, and its kubeconfig. */
async function manages(client: Client, name: string, kubeconfig: string): Promise<void> {
  const openstack = { externalNetworkId: 'public', cpFlavor: 'f', workerFlavor: 'f', imageName: 'i', sshKeyName: 'k' };
  await client.create(
    LatticeClusters,
    {
      apiVersion: 'lattice.dev/v1alpha1',
      kind: 'LatticeCluster',
      metadata: { name, annotations: { [managementAnnotation]: 'self' } },
      spec: {
        provider: { kubernetes: { version: '1.32.0' }, config: { openstack } },
        nodes: { controlPlane: 1, workerPools: {} },
        endpoints: {},
      },
    } as never,
    by,
  );
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: accessNamespace } }, by);
  const data = { value: Buffer.from(kubeconfig).toString('base64') };
  const metadata = { name: accessName(name), namespace: accessNamespace };
  await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data }, by);
}

describe('the owners a management API knows', () => {
  it('are also those in clusters that manage themselves', async () => {
    await infrastructure(parent, 'here');
    await infrastructure(child, 'inside');
    await manages(parent.connection.client, 'selfish', 'way to the child');
    const ways: string[] = [];
    const open: OpenApi = (kubeconfig) => {
      ways.push(kubeconfig);
      return { client: child.connection.client, close: async () => {} };
    };
    const owners = await ownersOf(parent.connection.client, { open, signal });
    expect(new Set(namesOf(owners.objects))).toEqual(new Set(['here', 'inside']));
    expect(namesOf(owners.users)).toEqual(['here']);
    expect(owners.unasked).toEqual([]);
    expect(ways).toEqual(['way to the child']);
  });

  it('are not all known where such a cluster does not answer, or nobody knows the way', async () => {
    await infrastructure(parent, 'here');
    await manages(parent.connection.client, 'selfish', 'way to nowhere');
    const open: OpenApi = () => {
      throw new Error('nobody there');
    };
    const { objects, unasked } = await ownersOf(parent.connection.client, { open, signal });
    expect(new Set(namesOf(objects))).toEqual(new Set(['here']));
    expect(unasked).toEqual([expect.stringMatching(/LatticeCluster selfish, .*: nobody there/)]);
    await parent.connection.client.delete(Secrets, { namespace: accessNamespace, name: accessName('selfish') });
    expect((await ownersOf(parent.connection.client, { open, signal })).unasked).toEqual([
      expect.stringMatching(/LatticeCluster selfish, .*lattice-system\/selfish-kubeconfig/),
    ]);
  });

  it('are not all known in a cluster that has a parent', async () => {
    const { client } = child.connection;
    await manages(client, 'selfish', 'way to itself');
    const own = {
      metadata: { annotations: { [managementAnnotation]: null, [parentAnnotation]: 'uid of the parent' } },
    };
    await client.patch(LatticeClusters, { name: 'selfish' }, 'merge', own, by);
    expect(await ownersOf(client, { signal })).not.toHaveProperty('childOfParent');
    await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: latticeParentConfigKey, data: {} }, by);
    expect(await ownersOf(client, { signal })).toMatchObject({ childOfParent: 'selfish' });
  });

  it('are asked for once where two clusters name each other', async () => {
    await manages(parent.connection.client, 'one', 'to the child');
    await manages(child.connection.client, 'two', 'to the parent');
    const open: OpenApi = (kubeconfig) => ({
      client: (kubeconfig === 'to the child' ? child : parent).connection.client,
      close: async () => {},
    });
    expect((await ownersOf(parent.connection.client, { open, signal })).unasked).toEqual([]);
  });
});
