import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployments, Providers, Services, StorageClasses } from '../../api/index.ts';
import { systemClock } from '../../machinery/index.ts';
import { controllerAreas } from '../controller-areas.ts';
import { ensureControllerIdentity } from '../controller-identity.ts';
import { ensureProviderInventory } from '../provider-inventory.ts';
import { type MemoryApi, startMemoryApi } from '../testing/memory-api.ts';
import { checkManagement } from './management-checks.ts';
import { type ProviderFlags, wantedProviders } from './wanted-providers.ts';

const { signal } = new AbortController();
let laterMs = 0;
let serverVersion = 'v1.34.0+capstan';
let api: MemoryApi;
beforeAll(async () => {
  api = await startMemoryApi();
});
afterAll(() => api.close());

const findings = async (flags: ProviderFlags): Promise<string[]> =>
  (
    await checkManagement(api.connection.client, wantedProviders(flags), {
      serverVersion,
      nowMs: systemClock.now() + laterMs,
      signal,
    })
  ).map(({ check, status, detail }) => `${status} ${check}: ${detail}`);

describe('the checks of capstan init', () => {
  it('report missing providers and missing rights', async () => {
    expect(await findings({ infrastructure: ['openstack'], bootstrap: ['-'], controlPlane: ['-'] })).toEqual([
      'ok kubernetes: v1.34.0+capstan',
      'ok rights: cluster-admin',
      'failed cluster-api: not installed; `capstan up` has built-in providers only; install others with clusterctl',
      'failed infrastructure-openstack: not installed; `capstan up` has built-in providers only; install others with clusterctl',
      'ok cert-manager: not installed, and not needed: Capstan signs certificates itself',
      expect.stringMatching(/^warning storage: there is no default StorageClass; .* set a default class/),
      expect.stringMatching(
        /^warning load balancers: no load balancer implementation was found .* install a cloud controller/,
      ),
    ]);
  });

  it('find the built-in providers, those of hosted control planes too', async () => {
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
      'ok kubernetes: v1.34.0+capstan',
      'ok rights: cluster-admin',
      expect.stringMatching(/^ok cluster-api: v\S+ in capstan-system$/),
      expect.stringMatching(/^ok bootstrap-kubeadm: /),
      expect.stringMatching(/^ok bootstrap-k0sproject-k0smotron: /),
      expect.stringMatching(/^ok control-plane-k0sproject-k0smotron: /),
      expect.stringMatching(/^ok control-plane-kamaji: /),
      expect.stringMatching(/^ok control-plane-hosted-control-plane: /),
      expect.stringMatching(
        /^failed control-plane-rke3: not installed; available: .*kamaji.*; install others with clusterctl/,
      ),
      expect.stringMatching(/^warning infrastructure-openstack: v\S+ in capstan-system, instead of v0\.1\.0$/),
      expect.stringMatching(/^ok cert-manager: not installed/),
      'ok storage: StorageClass standard (default)',
      expect.stringMatching(/^warning load balancers: no load balancer implementation was found/),
    ]);
  });

  it('report whether Services get addresses, and which Service waits for one', async () => {
    const { client } = api.connection;
    const last = async (): Promise<string> => (await findings({ bootstrap: ['-'], controlPlane: ['-'] })).at(-1) ?? '';
    const ports = [{ port: 443 }];
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'lb', namespace: 'default' } };
    const made = await client.create(
      Services,
      { ...service, spec: { type: 'LoadBalancer', ports } },
      { fieldManager: 'test' },
    );
    // The Service was created just now.
    expect(await last()).toMatch(/^warning load balancers: no load balancer implementation was found/);
    laterMs = 10 * 60_000;
    expect(await last()).toBe(
      'warning load balancers: Service default/lb waits for an address: no load balancer implementation was found',
    );
    const labels = { app: 'x' };
    const spec = {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } },
    };
    const metadata = { name: 'openstack-cloud-controller-manager', namespace: 'default' };
    await client.create(
      Deployments,
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec },
      { fieldManager: 'test' },
    );
    expect(await last()).toContain('check a cloud controller manager');
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
    await client.update(Services, { ...made, status }, { fieldManager: 'test', subresource: 'status' });
    expect(await last()).toBe('ok load balancers: a cloud controller manager');
  });

  it('report versions that are too old', async () => {
    const { client } = api.connection;
    serverVersion = 'v1.27.16';
    const [core] = (await client.list(Providers, {})).items.filter(({ type }) => type === 'CoreProvider');
    await client.update(Providers, { ...core!, version: 'v1.9.11' }, { fieldManager: 'test' });
    const labels = { app: 'cert-manager' };
    const containers = [{ name: 'a', image: 'quay.io/jetstack/cert-manager-controller:v1.17.4' }];
    const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
    const metadata = { name: 'cert-manager', namespace: 'default' };
    const deployment = await client.create(
      Deployments,
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec },
      { fieldManager: 'test' },
    );
    const found = await findings({ bootstrap: ['-'], controlPlane: ['-'] });
    expect(found).toContain('failed kubernetes: v1.27.16 is older than v1.28.0; upgrade the management cluster first');
    expect(found).toContainEqual(
      expect.stringMatching(
        /^failed cluster-api: v1\.9\.11 in \S+ is older than v1\.10\.0; upgrade it with clusterctl$/,
      ),
    );
    expect(found).toContainEqual(
      expect.stringMatching(/^warning cert-manager: v1\.17\.4 in default is older than v1\.18\.0/),
    );
    containers[0]!.image = 'quay.io/jetstack/cert-manager-controller:v1.18.2';
    await client.update(Deployments, { ...deployment, spec }, { fieldManager: 'test' });
    expect(await findings({})).toContain('ok cert-manager: v1.18.2 in default');
  });
});
