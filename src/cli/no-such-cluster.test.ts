import { afterEach, beforeEach, expect, it } from 'vitest';
import { Clusters, LatticeClusters, Namespaces } from '../api/index.ts';
import { managementAnnotation } from '../controllers/index.ts';
import { type MemoryApi, startMemoryApi } from './memory-api.ts';
import { located, noSuchCluster } from './no-such-cluster.ts';

const by = { fieldManager: 'test' };
const { signal } = new AbortController();

let api: MemoryApi;
beforeEach(async () => {
  api = await startMemoryApi();
});
afterEach(() => api.close());

const hintFor = async (...names: string[]): Promise<unknown> => {
  const error = await located(noSuchCluster(names, 'default'), api.connection.client, signal);
  expect(error).toMatchObject({ code: 'CAP_CLUSTER_NOT_FOUND' });
  return (error as { hint?: string }).hint;
};

async function lattice(name: string, stage?: string): Promise<void> {
  const openstack = { externalNetworkId: 'public', cpFlavor: 'f', workerFlavor: 'f', imageName: 'i', sshKeyName: 'k' };
  await api.connection.client.create(
    LatticeClusters,
    {
      apiVersion: 'lattice.dev/v1alpha1',
      kind: 'LatticeCluster',
      metadata: { name, ...(stage !== undefined && { annotations: { [managementAnnotation]: stage } }) },
      spec: {
        provider: { kubernetes: { version: '1.32.0' }, config: { openstack } },
        nodes: { controlPlane: 1, workerPools: {} },
        endpoints: {},
      },
    } as never,
    by,
  );
}

it('lists where to look for an unknown cluster', async () => {
  expect(await hintFor('nowhere')).toContain('capstan get clusters -A');
});

it('names the namespaces that have a cluster of that name', async () => {
  const { client } = api.connection;
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } }, by);
  const metadata = { name: 'blue', namespace: 'team' };
  await client.create(
    Clusters,
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata,
      spec: {
        infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackCluster', name: 'blue' },
      },
    },
    by,
  );
  expect(await hintFor('blue')).toBe('there is one in team: choose it with --namespace');
  expect(await hintFor('nowhere', 'blue')).toBe('there is one in team: choose it with --namespace');
});

it('leads into a cluster that manages itself', async () => {
  await lattice('north', 'self');
  expect(await hintFor('north')).toMatch(
    /^LatticeCluster north manages itself.*get kubeconfig north -n lattice-system > north\.kubeconfig`, then add --kubeconfig north\.kubeconfig -n capi-north$/,
  );
});

it('says that a LatticeCluster has no Cluster yet', async () => {
  await lattice('south');
  expect(await hintFor('south')).toContain('`capstan why south` says what it waits for');
});

it('leaves other errors alone', async () => {
  const error = new Error('something else');
  expect(await located(error, api.connection.client, signal)).toBe(error);
});
