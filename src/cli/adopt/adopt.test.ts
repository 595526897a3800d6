import { beforeEach, describe, expect, it } from 'vitest';
import {
  Clusters,
  CustomResourceDefinitions,
  Deployments,
  HostedControlPlanes,
  Leases,
  MutatingWebhookConfigurations,
  OpenStackClusterIdentities,
  Providers,
} from '../../api/index.ts';
import { type KubeObject, type Resource, seededRandom } from '../../machinery/index.ts';
import type { MemoryClient } from '../../runtime/testkit/index.ts';
import { type AdoptOptions, beginAdoption, carryOutAdoption } from './adopt.ts';
import { readAdoption } from './record.ts';
import { releaseAdoption } from './release.ts';
import { type Survey, takeSurvey } from './survey.ts';
import { smallInstallation, type UpstreamWorld, upstreamWorld } from './testing/upstream-world.ts';

const { signal } = new AbortController();
const installation = smallInstallation();
let world: UpstreamWorld;
let before: string[];

const begin = async (): Promise<void> => {
  world = upstreamWorld();
  before = await world.snapshot();
};
beforeEach(begin);

const optionsFor = (client: MemoryClient): AdoptOptions => ({
  client,
  mapper: world.mapper,
  clock: world.clock,
  signal,
  installation,
  withControllers: true,
  onProgress: () => {},
});
const survey = (client: MemoryClient = world.client): Promise<Survey> =>
  takeSurvey({ client, mapper: world.mapper }, installation, { clock: world.clock, random: seededRandom(1), signal });

/** Runs the steps of the command, from the start or from the recorded step. */
async function adopt(client: MemoryClient = world.client): Promise<void> {
  const options = optionsFor(client);
  const record = (await readAdoption(client, signal)) ?? (await beginAdoption(options, await survey(client)));
  if (record.phase !== 'adopted') await carryOutAdoption(options, record);
}

async function release(client: MemoryClient = world.client): Promise<void> {
  const record = await readAdoption(client, signal);
  if (record) await releaseAdoption(optionsFor(client), installation, record);
}

const replicas = async (): Promise<(number | undefined)[]> =>
  (await world.client.list(Deployments)).items
    .filter(({ metadata }) => metadata.namespace !== 'capstan-system')
    .map(({ spec }) => spec.replicas);

async function expectAdopted(): Promise<void> {
  const { client } = world;
  expect((await readAdoption(client, signal))?.phase).toBe('adopted');
  expect(await replicas()).toEqual([0, 0]);
  const { metadata, spec } = await client.get(CustomResourceDefinitions, { name: 'clusters.cluster.x-k8s.io' });
  expect(metadata.annotations?.['cert-manager.io/inject-ca-from']).toBeUndefined();
  expect(metadata.labels?.['app.kubernetes.io/part-of']).toBe('capstan');
  expect(spec.conversion).toMatchObject({
    webhook: {
      clientConfig: { service: { namespace: 'capstan-system', name: 'capstan-webhooks' }, caBundle: 'b3Vycw==' },
    },
  });
  const upstreams = await client.get(MutatingWebhookConfigurations, { name: 'cluster-api-webhook-configuration' });
  expect(upstreams.metadata.annotations).toEqual({});
  // Webhooks of other programs stay.
  expect(upstreams.webhooks?.map(({ name }) => name)).toEqual(['of.somebody.else']);
  await client.get(MutatingWebhookConfigurations, { name: 'capstan-webhooks' });
  const providers = (await client.list(Providers)).items;
  expect(providers.every((entry) => entry.metadata.namespace === 'capstan-system')).toBe(true);
}

async function expectReleased(): Promise<void> {
  expect(await world.snapshot()).toEqual(before);
}

describe('adopting an upstream installation', () => {
  it('stops the managers and takes over kinds, webhooks and inventory', async () => {
    await adopt();
    await expectAdopted();
    // Added by the adoption, because upstream did not have it.
    await world.client.get(CustomResourceDefinitions, { name: 'clusterstacks.clusterstack.x-k8s.io' });
  });

  it('records on shared identities until when upstream worked', async () => {
    const identity = {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
      kind: 'OpenStackClusterIdentity',
      metadata: { name: 'shared' },
      spec: { secretRef: { name: 'clouds', namespace: 'platform' } },
    };
    const annotations = async () =>
      (await world.client.get(OpenStackClusterIdentities, { name: 'shared' })).metadata.annotations ?? {};
    await world.client.create(OpenStackClusterIdentities, identity, { fieldManager: 'test' });
    await adopt();
    const until = (await annotations())['infrastructure.cluster.x-k8s.io/begun-by-upstream-until'] ?? '';
    expect(Math.abs(Date.parse(until) - world.clock.now())).toBeLessThan(60_000);
    await release();
    expect(await annotations()).toEqual({});
  });

  it('surveys the installation without changing it', async () => {
    const { managers, configurations, kinds, obstacles } = await survey();
    expect(managers.map(({ known, version }) => `${known.provider} ${version}`)).toEqual([
      'cluster-api v1.14.2',
      'infrastructure-openstack v0.14.1',
    ]);
    expect(configurations.flatMap(({ stopped }) => stopped.map(({ name }) => name))).toHaveLength(4);
    expect(kinds).toHaveLength(2);
    expect(obstacles).toEqual([]);
    expect(world.client.writes()).toEqual([]);
  });

  it('continues after a kill at any write', { timeout: 120_000 }, async () => {
    const whole = world.mortal(Number.POSITIVE_INFINITY);
    await adopt(whole.client);
    expect(whole.writes()).toBeGreaterThan(20);
    for (let at = 1; at <= whole.writes(); at++) {
      await begin();
      await expect(adopt(world.mortal(at).client), `write ${at}`).rejects.toThrow('killed');
      await adopt();
      await expectAdopted();
    }
  });

  it('is undone by a release after a kill at any write', { timeout: 120_000 }, async () => {
    const whole = world.mortal(Number.POSITIVE_INFINITY);
    await adopt(whole.client);
    for (let at = 1; at <= whole.writes(); at++) {
      await begin();
      await expect(adopt(world.mortal(at).client), `write ${at}`).rejects.toThrow('killed');
      await release();
      await expectReleased();
    }
  });

  it('waits for a manager that runs outside of the cluster', async () => {
    const spec = { holderIdentity: 'laptop_1', leaseDurationSeconds: 15, renewTime: '1970-01-01T00:00:00.000000Z' };
    const metadata = { namespace: 'capi-system', name: 'controller-leader-election-capi' };
    world.client.seed(Leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec });
    const adopting = adopt();
    let isDone = false;
    void adopting.then(() => {
      isDone = true;
    });
    for (let second = 0; second < 14; second++) {
      for (let turn = 0; turn < 50; turn++) await Promise.resolve();
      await world.clock.advance(1000);
    }
    expect(isDone).toBe(false);
    while (!isDone) {
      await new Promise((resolve) => setImmediate(resolve));
      await world.clock.advance(1000);
    }
    await expectAdopted();
  });
});

describe('releasing to upstream', () => {
  it('restores everything as it was', async () => {
    await adopt();
    await release();
    await expectReleased();
  });

  it('waits for each of our instances outside of the cluster, whatever its lease is called', async () => {
    await adopt();
    const spec = { holderIdentity: 'laptop', leaseDurationSeconds: 4, renewTime: '1970-01-01T01:00:00.000000Z' };
    const metadata = { namespace: 'capstan-system', name: 'capstan-share-1' };
    world.client.seed(Leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec });
    const releasing = release().catch((error: unknown) => error);
    let isDone = false;
    void releasing.then(() => {
      isDone = true;
    });
    while (!isDone) {
      await new Promise((resolve) => setImmediate(resolve));
      await world.clock.advance(1000);
    }
    expect(String(await releasing)).toContain('laptop still holds the lease capstan-system/capstan-share-1');
    expect(await replicas()).toEqual([0, 0]);
  });

  it('continues after a kill at any write', { timeout: 120_000 }, async () => {
    await adopt();
    const whole = world.mortal(Number.POSITIVE_INFINITY);
    await release(whole.client);
    for (let at = 1; at <= whole.writes(); at++) {
      await begin();
      await adopt();
      await expect(release(world.mortal(at).client), `write ${at}`).rejects.toThrow('killed');
      await release();
      await expectReleased();
    }
  });

  it('stores objects again in a version that upstream knows', async () => {
    const name = 'openstackclusters.infrastructure.cluster.x-k8s.io';
    const older = await world.client.get(CustomResourceDefinitions, { name });
    const versions = older.spec.versions
      .filter((version) => version.name !== 'v1beta2')
      .map((version) => ({ ...version, storage: version.name === 'v1beta1' }));
    world.client.seed(CustomResourceDefinitions, {
      ...older,
      spec: { ...older.spec, versions },
      status: { ...older.status, storedVersions: ['v1beta1'] },
    });
    before = await world.snapshot();
    await adopt();
    const status = { storedVersions: ['v1beta1', 'v1beta2'] };
    await world.client.patch(
      CustomResourceDefinitions,
      { name },
      'merge',
      { status },
      { fieldManager: 'test', subresource: 'status' },
    );
    await release();
    await expectReleased();
    expect((await world.client.get(CustomResourceDefinitions, { name })).status?.storedVersions).toEqual(['v1beta1']);
  });
});

describe('obstacles of an adoption', () => {
  const put = <T extends KubeObject>(resource: Resource<T>, object: object): void => {
    const apiVersion = `${resource.group}/${resource.version}`;
    world.client.seed(resource, { apiVersion, kind: resource.kind, ...object } as never);
  };
  const obstacles = async (): Promise<string> => (await survey()).obstacles.join('\n');

  it.each([
    ['v1.10.4', 'upgrade it to 1.11 or newer first'],
    ['v1.15.0', 'newer than this program knows'],
  ])('include a manager of version %s', async (coreVersion, words) => {
    world = upstreamWorld({ coreVersion });
    expect(await obstacles()).toContain(words);
  });

  it('include machines that would be replaced', async () => {
    const metadata = { namespace: 'default', name: 'one' };
    const controlPlaneRef = { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'KubeadmControlPlane', name: 'one' };
    put(Clusters, { metadata, spec: { controlPlaneRef } });
    const { KubeadmControlPlanes, Machines } = await import('../../api/index.ts');
    const infrastructureRef = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackMachine', name: 'm' };
    put(KubeadmControlPlanes, {
      metadata: { ...metadata },
      spec: { version: 'v1.34.0', machineTemplate: { spec: { infrastructureRef } } },
    });
    const plane = await world.client.get(KubeadmControlPlanes, metadata);
    const ownerReferences = [{ kind: plane.kind, name: 'one', uid: plane.metadata.uid, apiVersion: plane.apiVersion }];
    put(Machines, {
      metadata: { namespace: 'default', name: 'm', ownerReferences },
      spec: { clusterName: 'one', version: 'v1.33.0', bootstrap: {}, infrastructureRef },
    });
    expect(await obstacles()).toContain('1 machines would be rolled, among them m (Version v1.33.0, v1.34.0 required)');
  });

  it('include a topology that a disabled feature gate keeps inactive', async () => {
    world = upstreamWorld({ coreArgs: ['--leader-elect', '--feature-gates=MachinePool=true,ClusterTopology=false'] });
    const topology = { classRef: { name: 'missing' }, version: 'v1.34.0' };
    put(Clusters, { metadata: { namespace: 'default', name: 'asleep' }, spec: { topology } });
    expect(await obstacles()).toContain('Capstan would start to act on it');
  });

  it('include control planes that run as Pods of another provider', async () => {
    put(HostedControlPlanes, { metadata: { namespace: 'default', name: 'plane' }, spec: {} });
    const { group, plural, kind } = HostedControlPlanes;
    put(CustomResourceDefinitions, {
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural, kind },
        versions: [{ name: HostedControlPlanes.version, served: true, storage: true }],
      },
    });
    put(Deployments, {
      metadata: {
        namespace: 'hcp',
        name: 'manager',
        labels: { 'cluster.x-k8s.io/provider': 'control-plane-hosted-control-plane' },
      },
      spec: { selector: {}, template: { spec: { containers: [] } } },
    });
    expect(await obstacles()).toContain(
      'default/plane of hostedcontrolplanes.controlplane.cluster.x-k8s.io run as Pods',
    );
  });

  it('include objects stored in a version that is no longer known', async () => {
    const name = 'clusters.cluster.x-k8s.io';
    const present = await world.client.get(CustomResourceDefinitions, { name });
    world.client.seed(CustomResourceDefinitions, {
      ...present,
      status: { ...present.status, storedVersions: ['v1alpha1', 'v1beta2'] },
    });
    expect(await obstacles()).toContain('may be stored as v1alpha1');
  });

  it('include an installation with nothing to adopt', async () => {
    world = { ...world, ...upstreamWorld() };
    const { client } = world;
    for (const { metadata } of (await client.list(Deployments)).items) {
      await client.delete(Deployments, { namespace: metadata.namespace ?? '', name: metadata.name ?? '' });
    }
    for (const { metadata } of (await client.list(CustomResourceDefinitions)).items) {
      await client.delete(CustomResourceDefinitions, { name: metadata.name ?? '' });
    }
    expect(await obstacles()).toContain('nothing of upstream was found here');
  });

  it('do not include an unknown provider, which is left unchanged', async () => {
    put(Deployments, {
      metadata: {
        namespace: 'capd',
        name: 'manager',
        labels: { 'cluster.x-k8s.io/provider': 'infrastructure-docker' },
      },
      spec: { replicas: 1, selector: {}, template: { spec: { containers: [] } } },
    });
    const { staying, managers } = await survey();
    expect(staying).toEqual([{ provider: 'infrastructure-docker', where: 'capd/manager' }]);
    expect(managers).toHaveLength(2);
  });
});
