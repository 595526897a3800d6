import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  ClusterRoles,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  OpenStackClusterIdentities,
  type OpenStackClusterIdentity,
  type Provider,
  Providers,
  type Secret,
  Secrets,
} from '../api/index.ts';
import { onlyMember, publishCloudCredentials, simulatedCloudName } from './cloud-credentials.ts';
import { type ControllerArea, controllerAreas } from './controller-areas.ts';
import { controllersUser, ensureControllerIdentity, systemNamespace } from './controller-identity.ts';
import { ensureMachinePoolKind } from './machine-pool-kind.ts';
import { ensureProviderInventory } from './provider-inventory.ts';
import { type MemoryApi, startMemoryApi } from './testing/memory-api.ts';

let api: MemoryApi;
const { signal } = new AbortController();
beforeAll(async () => {
  api = await startMemoryApi();
});
afterAll(() => api.close());

/** Runs the work again and returns how many revisions it added. */
async function writesOf(work: () => Promise<void>): Promise<number> {
  await work();
  const before = api.revision();
  await work();
  return api.revision() - before;
}

describe('the identity of the controllers', () => {
  it('is not written again at the next start', async () => {
    expect(await writesOf(() => ensureControllerIdentity(api.connection.client, signal))).toBe(0);
  });

  it.each([
    ['create', 'cluster.x-k8s.io', 'machines', true],
    ['patch', 'infrastructure.cluster.x-k8s.io', 'openstackservers', true],
    ['create', '', 'secrets', true],
    ['create', '', 'events', true],
    ['get', 'apiextensions.k8s.io', 'customresourcedefinitions', true],
    ['delete', 'apiextensions.k8s.io', 'customresourcedefinitions', false],
    ['create', '', 'pods', false],
    ['create', '', 'namespaces', true],
    ['delete', '', 'namespaces', false],
    ['escalate', 'rbac.authorization.k8s.io', 'clusterroles', false],
  ])('may %s %s/%s: %s', async (verb, group, resource, allowed) => {
    await ensureControllerIdentity(api.connection.client, signal);
    const { decision } = api.server.access.authorizer.authorize({
      user: controllersUser,
      verb,
      group,
      version: 'v1',
      resource,
      subresource: '',
      namespace: 'default',
      name: '',
      path: '',
      resourceRequest: true,
    });
    expect(decision === 'allow').toBe(allowed);
  });
});

describe('the permissions of the controllers', () => {
  it('are checked in the same process too, and a refusal names the missing rule', async () => {
    const { client } = api.connection;
    await ensureControllerIdentity(client, signal);
    const controllers = api.server.localClient(controllersUser);
    const read = (): Promise<unknown> => controllers.list(Secrets, { namespace: 'default' });
    await read();
    const name = 'capstan-controllers';
    const { rules = [] } = await client.get(ClusterRoles, { name });
    const without = rules?.filter(({ resources }) => !resources?.includes('secrets')) ?? [];
    await client.patch(ClusterRoles, { name }, 'merge', { rules: without } as never, { fieldManager: 'test' });
    await expect(read()).rejects.toMatchObject({
      code: 403,
      message: `secrets is forbidden: User "${controllersUser.name}" cannot list resource "secrets" in API group "" in the namespace "default"`,
    });
    // The next start restores the required permissions.
    await ensureControllerIdentity(client, signal);
    await read();
  });

  it('include kinds of other providers with an aggregation label', async () => {
    const { client } = api.connection;
    await ensureControllerIdentity(client, signal);
    const controllers = api.server.localClient(controllersUser);
    const kinds = { group: 'theirs.example.com', version: 'v1', kind: 'Thing', plural: 'things', namespaced: true };
    await expect(controllers.list(kinds)).rejects.toMatchObject({ code: 403 });
    await client.create(
      ClusterRoles,
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'theirs', labels: { 'cluster.x-k8s.io/aggregate-to-manager': 'true' } },
        rules: [{ apiGroups: ['theirs.example.com'], resources: ['things'], verbs: ['list'] }],
      },
      { fieldManager: 'test' },
    );
    await vi.waitFor(async () => expect(controllers.list(kinds)).rejects.toMatchObject({ code: 404 }));
  });
});

describe('the clusterctl inventory', () => {
  const entries = async (): Promise<string[]> =>
    (await api.connection.client.list<Provider>(Providers)).items.map(
      ({ metadata, type }) => `${metadata.namespace}/${metadata.name} ${type}`,
    );
  const ensure = (areas: readonly ControllerArea[] = controllerAreas): Promise<void> =>
    ensureProviderInventory(api.connection.client, new Set(areas), signal);

  beforeEach(async () => {
    const { client } = api.connection;
    await ensureControllerIdentity(client, signal);
    for (const namespace of [systemNamespace, 'default']) await client.deleteCollection(Providers, { namespace });
  });

  it('lists the providers whose controllers run, and is written once', async () => {
    expect(await writesOf(() => ensure())).toBe(0);
    expect(await entries()).toEqual([
      `${systemNamespace}/bootstrap-k0sproject-k0smotron BootstrapProvider`,
      `${systemNamespace}/bootstrap-kubeadm BootstrapProvider`,
      `${systemNamespace}/bootstrap-rke2 BootstrapProvider`,
      `${systemNamespace}/cluster-api CoreProvider`,
      `${systemNamespace}/control-plane-hosted-control-plane ControlPlaneProvider`,
      `${systemNamespace}/control-plane-k0sproject-k0smotron ControlPlaneProvider`,
      `${systemNamespace}/control-plane-kamaji ControlPlaneProvider`,
      `${systemNamespace}/control-plane-kubeadm ControlPlaneProvider`,
      `${systemNamespace}/control-plane-rke2 ControlPlaneProvider`,
      `${systemNamespace}/infrastructure-openstack InfrastructureProvider`,
    ]);
  });

  it('leaves a provider alone that was installed elsewhere', async () => {
    const foreign: Provider = {
      apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
      kind: 'Provider',
      metadata: { name: 'bootstrap-kubeadm', namespace: 'default' },
      providerName: 'kubeadm',
      type: 'BootstrapProvider',
      version: 'v1.13.0',
    };
    await api.connection.client.create(Providers, foreign, { fieldManager: 'test' });
    await ensure(['cluster', 'bootstrap']);
    expect(await entries()).toEqual([
      `${systemNamespace}/bootstrap-k0sproject-k0smotron BootstrapProvider`,
      `${systemNamespace}/bootstrap-rke2 BootstrapProvider`,
      `${systemNamespace}/cluster-api CoreProvider`,
      'default/bootstrap-kubeadm BootstrapProvider',
    ]);
  });
});

describe('the kind MachinePool', () => {
  it('is served, and not changed again once somebody changed it', async () => {
    const { client } = api.connection;
    const name = 'machinepools.cluster.x-k8s.io';
    await ensureMachinePoolKind(client, signal);
    const pools = {
      group: 'cluster.x-k8s.io',
      version: 'v1beta2',
      kind: 'MachinePool',
      plural: 'machinepools',
      namespaced: true,
    };
    await vi.waitFor(async () => expect((await client.list(pools)).items).toEqual([]));
    const metadata = { labels: { theirs: '' } };
    const read = (): Promise<CustomResourceDefinition> => client.get(CustomResourceDefinitions, { name });
    await client.patch(CustomResourceDefinitions, { name }, 'merge', { metadata }, { fieldManager: 'test' });
    await ensureMachinePoolKind(client, signal);
    expect((await read()).metadata.labels).toMatchObject(metadata.labels);
  });
});

describe('the credentials of the simulated cloud', () => {
  const cloudsYaml = [
    'clouds:',
    '  openstack: {auth: {auth_url: "http://127.0.0.1:1/identity/v3", username: demo, password: "007"}}',
    '  admin: {auth: {username: admin, password: secret}}',
  ].join('\n');

  it('are stored in a Secret with the move label and in an identity for all namespaces', async () => {
    const { client } = api.connection;
    expect(await writesOf(() => publishCloudCredentials(client, { cloudsYaml, signal }))).toBe(0);
    const secret = await client.get<Secret>(Secrets, { namespace: 'default', name: simulatedCloudName });
    expect(secret.metadata.labels).toEqual({ 'clusterctl.cluster.x-k8s.io/move': 'true' });
    const text = Buffer.from(secret.data?.['clouds.yaml'] ?? '', 'base64').toString();
    expect(text).toBe(onlyMember(cloudsYaml));
    const identity = await client.get<OpenStackClusterIdentity>(OpenStackClusterIdentities, {
      name: simulatedCloudName,
    });
    expect(identity.spec).toEqual({ secretRef: { name: simulatedCloudName, namespace: 'default' } });
  });

  it('contain only the member user, with unchanged values', () => {
    const text = onlyMember(cloudsYaml);
    expect(text).not.toContain('admin');
    expect(text).toContain('password: "007"');
  });
});
