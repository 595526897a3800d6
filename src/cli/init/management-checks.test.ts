import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StorageClasses } from '../../api/index.ts';
import { controllerAreas } from '../controller-areas.ts';
import { ensureControllerIdentity } from '../controller-identity.ts';
import { ensureProviderInventory } from '../provider-inventory.ts';
import { type MemoryApi, startMemoryApi } from '../testing/memory-api.ts';
import { checkManagement } from './management-checks.ts';
import { type ProviderFlags, wantedProviders } from './wanted-providers.ts';

const { signal } = new AbortController();
let api: MemoryApi;
beforeAll(async () => {
  api = await startMemoryApi();
});
afterAll(() => api.close());

const findings = async (flags: ProviderFlags): Promise<string[]> =>
  (await checkManagement(api.connection.client, wantedProviders(flags), signal)).map(
    ({ check, status, detail }) => `${status} ${check}: ${detail}`,
  );

describe('an API that shall be a management cluster', () => {
  it('is told what it lacks', async () => {
    expect(await findings({ infrastructure: ['openstack'], bootstrap: ['-'], controlPlane: ['-'] })).toEqual([
      'ok rights: cluster-admin',
      'failed cluster-api: not installed here; the API of `capstan up` has those it is made of, clusterctl installs others',
      'failed infrastructure-openstack: not installed here; the API of `capstan up` has those it is made of, clusterctl installs others',
      expect.stringMatching(/^warning storage: no StorageClass is the default one; .* make one the default/),
    ]);
  });

  it('has the built-in providers, those of hosted control planes too', async () => {
    const { client } = api.connection;
    await ensureControllerIdentity(client, signal);
    await ensureProviderInventory(client, new Set(controllerAreas), signal);
    const metadata = { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } };
    await client.create(
      StorageClasses,
      { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata, provisioner: 'example.org/any' },
      { fieldManager: 'test' },
    );
    expect(
      await findings({
        infrastructure: ['openstack:v0.1.0'],
        bootstrap: ['kubeadm,k0sproject-k0smotron'],
        controlPlane: ['k0sproject-k0smotron', 'kamaji', 'hosted-control-plane', 'rke3'],
      }),
    ).toEqual([
      'ok rights: cluster-admin',
      expect.stringMatching(/^ok cluster-api: v\S+ in capstan-system$/),
      expect.stringMatching(/^ok bootstrap-kubeadm: /),
      expect.stringMatching(/^ok bootstrap-k0sproject-k0smotron: /),
      expect.stringMatching(/^ok control-plane-k0sproject-k0smotron: /),
      expect.stringMatching(/^ok control-plane-kamaji: /),
      expect.stringMatching(/^ok control-plane-hosted-control-plane: /),
      expect.stringMatching(/^failed control-plane-rke3: not installed here; there is .*kamaji.*, clusterctl installs/),
      expect.stringMatching(/^warning infrastructure-openstack: v\S+ in capstan-system, instead of v0\.1\.0$/),
      'ok storage: StorageClass standard (default)',
    ]);
  });
});
