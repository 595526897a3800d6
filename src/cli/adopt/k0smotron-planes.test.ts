import { beforeEach, describe, expect, it } from 'vitest';
import {
  ConfigMaps,
  type K0smotronCluster,
  type K0smotronClusterSpec,
  K0smotronClusters,
  Pods,
  Secrets,
  type StatefulSet,
  StatefulSets,
} from '../../api/index.ts';
import { appliedAnnotation } from '../../controllers/index.ts';
import { type KubeObject, type OwnerReference, type Resource, seededRandom } from '../../machinery/index.ts';
import type { MemoryClient } from '../../runtime/testkit/index.ts';
import { type AdoptOptions, beginAdoption, carryOutAdoption } from './adopt.ts';
import { readAdoption } from './record.ts';
import { releaseAdoption } from './release.ts';
import { takeSurvey } from './survey.ts';
import { seedManager, smallInstallation, type UpstreamWorld, upstreamWorld } from './testing/upstream-world.ts';

const { signal } = new AbortController();
const installation = smallInstallation();
const namespace = 'teams';
const by = { fieldManager: 'test' };
let world: UpstreamWorld;
let plane: K0smotronCluster;

const put = <T extends KubeObject>(resource: Resource<T>, object: object): T =>
  world.client.seed(resource, {
    apiVersion: resource.group === '' ? resource.version : `${resource.group}/${resource.version}`,
    kind: resource.kind,
    ...object,
  } as T);

const secret = (name: string, data: Record<string, string>): void => {
  put(Secrets, { metadata: { namespace, name }, data });
};

const set = (name: string, container: string, image: string): Partial<StatefulSet> => ({
  metadata: { namespace, name, uid: `uid-${name}`, ownerReferences: [owner()] },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'k0smotron' } },
    template: { spec: { containers: [{ name: container, image }] } },
  },
  status: { replicas: 3, readyReplicas: 3 },
});

const owner = (): OwnerReference => ({
  apiVersion: 'k0smotron.io/v1beta2',
  kind: 'Cluster',
  name: 'shop',
  uid: plane.metadata.uid ?? '',
  controller: true,
});

async function changePlane(spec: Partial<K0smotronClusterSpec>): Promise<void> {
  const patch = JSON.parse(JSON.stringify({ spec })) as object;
  await world.client.patch(K0smotronClusters, { namespace, name: 'shop' }, 'merge', patch as never, by);
}

beforeEach(() => {
  world = upstreamWorld();
  seedManager(world.client, {
    namespace: 'k0smotron',
    name: 'k0smotron-controller-manager',
    provider: 'control-plane-k0sproject-k0smotron',
    image: 'quay.io/k0sproject/k0smotron:v2.1.0',
    args: [],
  });
  plane = put(K0smotronClusters, {
    metadata: { namespace, name: 'shop', labels: { 'cluster.x-k8s.io/cluster-name': 'shop' } },
    spec: {
      replicas: 3,
      version: 'v1.33.1-k0s.0',
      service: { type: 'LoadBalancer', apiPort: 6443, konnectivityPort: 8132 },
      kubeconfigSecretMetadata: { labels: { team: 'shop' } },
      storage: { type: 'etcd', etcd: { image: 'quay.io/k0sproject/etcd:v3.7.1' } },
    },
  });
  put(StatefulSets, set('kmc-shop', 'controller', 'quay.io/k0sproject/k0s:v1.33.1-k0s.0'));
  put(StatefulSets, set('kmc-shop-etcd', 'etcd', 'quay.io/k0sproject/etcd:v3.7.1'));
  for (const part of ['kmc-shop', 'kmc-shop-etcd']) {
    const ownerReferences = [{ ...owner(), kind: 'StatefulSet', name: part, uid: `uid-${part}` }];
    put(Pods, { metadata: { namespace, name: `${part}-0`, ownerReferences }, spec: { containers: [] } });
  }
  for (const end of ['ca', 'sa', 'proxy', 'etcd']) secret(`shop-${end}`, { 'tls.crt': 'eA==', 'tls.key': 'eA==' });
  put(ConfigMaps, { metadata: { namespace, name: 'kmc-shop-etcd-settings', ownerReferences: [owner()] } });
});

const optionsFor = (client: MemoryClient): AdoptOptions => ({
  client,
  mapper: world.mapper,
  clock: world.clock,
  signal,
  installation,
  withControllers: true,
  onProgress: () => {},
});

const survey = () =>
  takeSurvey({ client: world.client, mapper: world.mapper }, installation, {
    clock: world.clock,
    random: seededRandom(1),
    signal,
  });

async function adopt(): Promise<void> {
  const options = optionsFor(world.client);
  await carryOutAdoption(options, await beginAdoption(options, await survey()));
}

/** Marks what controllers here would have applied meanwhile. */
async function continueHere(): Promise<void> {
  const patch = { metadata: { annotations: { [appliedAnnotation]: 'x' } } };
  for (const name of ['kmc-shop', 'kmc-shop-etcd']) {
    await world.client.patch(StatefulSets, { namespace, name }, 'merge', patch, by);
  }
  await world.client.patch(ConfigMaps, { namespace, name: 'kmc-shop-etcd-settings' }, 'merge', patch, by);
}

async function release(client: MemoryClient = world.client): Promise<void> {
  const record = await readAdoption(client, signal);
  if (record) await releaseAdoption(optionsFor(client), installation, record);
}

describe('a take-over of control planes of k0smotron', () => {
  it('says what happens to their Pods', async () => {
    const { obstacles, differences } = await survey();
    expect(obstacles).toEqual([]);
    expect(differences.join('\n')).toContain('control plane teams/shop (k0smotron): its Pods are created again');
  });

  it.each<[string, () => Promise<unknown> | unknown, string]>([
    [
      'another cluster runs their Pods',
      () => changePlane({ remoteHostCluster: { kubeconfigRef: { name: 'a', namespace, key: 'value' } } }),
      'spec.remoteHostCluster',
    ],
    ['they store in NATS', () => changePlane({ storage: { type: 'nats' } }), 'spec.storage'],
    [
      'they are reached through an Ingress',
      () => changePlane({ ingress: { apiHost: 'a.example', konnectivityHost: 'b.example' } }),
      'spec.ingress',
    ],
    ['a minor version would be skipped', () => changePlane({ version: 'v1.35.0-k0s.0' }), 'cannot jump'],
    [
      'etcd would go back',
      () => changePlane({ storage: { type: 'etcd', etcd: { image: 'quay.io/k0sproject/etcd:v3.5.13' } } }),
      'cannot go back',
    ],
    [
      'a member of etcd is not ready',
      () =>
        world.client.patch(
          StatefulSets,
          { namespace, name: 'kmc-shop-etcd' },
          'merge',
          { status: { readyReplicas: 2 } },
          { ...by, subresource: 'status' },
        ),
      'only 2 of 3',
    ],
    [
      'the key of an authority is not there',
      () => world.client.patch(Secrets, { namespace, name: 'shop-ca' }, 'merge', { data: { 'tls.key': null } }, by),
      'Secret shop-ca lacks tls.key',
    ],
    [
      'a StatefulSet belongs to somebody else',
      () =>
        world.client.patch(
          StatefulSets,
          { namespace, name: 'kmc-shop' },
          'merge',
          { metadata: { ownerReferences: null } },
          by,
        ),
      'is not owned by it',
    ],
  ])('is refused if %s', async (_why, change, words) => {
    await change();
    expect((await survey()).obstacles.join('\n')).toContain(words);
  });

  it('gives Pods back to StatefulSets of the old program, after a kill at any write', {
    timeout: 120_000,
  }, async () => {
    await adopt();
    await continueHere();
    for (let at = 1; ; at++) {
      const { client, writes } = world.mortal(at);
      const isDone = await release(client).then(
        () => true,
        () => false,
      );
      if (isDone && writes() < at) break;
    }
    expect((await world.client.list(StatefulSets, { namespace })).items).toEqual([]);
    const labels = Object.fromEntries(
      (await world.client.list(Pods, { namespace })).items.map(({ metadata }) => [metadata.name, metadata.labels]),
    );
    const shared = { app: 'k0smotron', cluster: 'shop', team: 'shop', 'cluster.x-k8s.io/cluster-name': 'shop' };
    expect(labels['kmc-shop-0']).toMatchObject({
      ...shared,
      component: 'cluster',
      'cluster.x-k8s.io/control-plane': 'true',
    });
    expect(labels['kmc-shop-etcd-0']).toMatchObject({ ...shared, component: 'etcd' });
    expect((await world.client.list(ConfigMaps, { namespace })).items).toEqual([]);
  });

  it('leaves StatefulSets that the old program made', async () => {
    await adopt();
    const before = (await world.client.list(StatefulSets, { namespace })).items;
    await release();
    expect((await world.client.list(StatefulSets, { namespace })).items).toEqual(before);
  });

  it('gives nothing back that the old program could not continue', async () => {
    await adopt();
    await changePlane({ replicas: 0 });
    await expect(release()).rejects.toThrow('teams/shop (k0smotron): it is hibernated');
    expect((await world.client.list(StatefulSets, { namespace })).items).toHaveLength(2);
    expect((await readAdoption(world.client, signal))?.phase).toBe('adopted');
  });
});
