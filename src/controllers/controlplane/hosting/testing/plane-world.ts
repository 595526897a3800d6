import { type Cluster, clusters, Pods, Secrets } from '../../../../api/index.ts';
import { hostedNaming, kubernetesImages, type PlaneWish } from '../../../../hosting/index.ts';
import { workloadControllers } from '../../../../housekeeping/index.ts';
import { ignoreNotFound, type JsonObject, type UnstructuredObject } from '../../../../machinery/index.ts';
import { defineController, done, watchMapped, watchObjects } from '../../../../runtime/index.ts';
import { ownerReference } from '../../../shared/index.ts';
import {
  controlPlaneGroup,
  fakeClusters,
  fakeControlPlanes,
  infrastructureGroup,
} from '../../../testing/provider-kinds.ts';
import { createWorld, type World } from '../../../testing/world.ts';
import type { EtcdKey } from '../../etcd/types.ts';
import { createPlaneDriver } from '../driver.ts';
import type { PlaneReport, PlaneRequest, RemovalReport } from '../types.ts';
import { FakePlaneEtcd } from './fake-etcd.ts';
import { type FakeHost, fakeHost } from './fake-kubelet.ts';

export type WishChange = (wish: PlaneWish) => PlaneWish;

/** A plane driven by a controller of a few lines, on a management API whose Pods are played. */
export interface PlaneWorld extends World {
  readonly host: FakeHost;
  readonly etcd: FakePlaneEtcd;
  /** the latest of all reports */
  report(): PlaneReport;
  removal(): RemovalReport | undefined;
  /** what is wanted from now on */
  wish(change: WishChange): Promise<void>;
  /** more of a request than its wish */
  ask(change: Partial<PlaneRequest>): Promise<void>;
  secret(name: string, key: string): Promise<string | undefined>;
  untilSettled(): Promise<void>;
}

const by = { fieldManager: 'test' };
const dayMs = 24 * 3_600_000;
export const clusterName = 'c1';
const finalizer = 'test.example/plane';

export function hostedWish(owner: UnstructuredObject, namespace: string): PlaneWish {
  const version = 'v1.33.1';
  return {
    identity: { namespace, clusterName, owner: ownerReference(owner, fakeControlPlanes, { controller: true }) },
    naming: hostedNaming(clusterName),
    layout: 'apart',
    version,
    replicas: 2,
    images: { ...kubernetesImages(version), etcd: 'registry.k8s.io/etcd:3.6.6-0' },
    components: {},
    pods: {},
    dataStore: { kind: 'own-etcd', members: 3, storage: { size: '1Gi' }, deleteVolumes: true },
    exposure: { type: 'LoadBalancer', apiPort: 6443, sans: [] },
    network: { serviceCidrs: ['10.96.0.0/12'], podCidrs: ['10.244.0.0/16'], domain: 'cluster.local' },
    konnectivity: undefined,
    addons: { kubeadm: true },
    apiServer: { admissionPlugins: ['NodeRestriction'] },
    certificates: {
      authorityDurationMs: 3650 * dayMs,
      leafDurationMs: 365 * dayMs,
      leafRenewBeforeMs: 90 * dayMs,
      authorityRenewBeforeMs: 365 * dayMs,
    },
    patches: [],
  };
}

export async function createPlaneWorld(options: { balances?: boolean; broken?: string } = {}): Promise<PlaneWorld> {
  const etcd = new FakePlaneEtcd();
  const host: FakeHost = { etcd, broken: options.broken ?? '', balances: options.balances ?? true, nextAddress: 1 };
  let change: WishChange = (wish) => wish;
  let more: Partial<PlaneRequest> = {};
  let report: PlaneReport | undefined;
  let removal: RemovalReport | undefined;

  const world = await createWorld({
    providers: () => [
      ...workloadControllers({ parts: ['deployments', 'statefulSets'], events: false }),
      ...fakeHost(host),
    ],
    extend(manager, { externals, workloads, namespace }) {
      const driver = createPlaneDriver({
        cache: manager.reader,
        workloads,
        connectPod: () => Promise.reject(new Error('no Pod can be reached here')),
        etcd: etcd.open,
        metrics: manager.metrics,
        snapshotReaders: [keysOfText],
      });
      const key = { namespace, name: clusterName };
      etcd.programs = () =>
        manager.reader
          .lister(Pods)
          .list({ namespace, filter: ({ metadata }) => metadata.name?.startsWith('c1-api-server') === true }).length;
      const follower = externals.follow(() => [key]);
      manager.add(
        defineController({
          name: 'test-plane',
          for: fakeControlPlanes,
          setup: (informers) => driver.setup(informers),
          watches: [
            watchObjects(fakeControlPlanes),
            watchMapped(clusters, () => [key]),
            ...driver.watches(fakeControlPlanes),
          ],
          sources: [driver.source, follower.source, workloads.connectionSource(() => [key])],
          async reconcile(context, wanted) {
            const owner = context.cache.lister(fakeControlPlanes).get(wanted);
            if (!owner) return done();
            const cluster = context.cache.lister(clusters).get(key);
            const wish = change(hostedWish(owner, namespace));
            if (owner.metadata.deletionTimestamp !== undefined) {
              const store = wish.dataStore;
              const etcdVolumes = store.kind === 'own-etcd' && store.deleteVolumes;
              removal = await driver.remove({
                context,
                owner,
                wish,
                volumes: { etcd: etcdVolumes, controlPlane: false },
                ...(cluster && { cluster }),
              });
              if (removal.isGone && owner.metadata.finalizers?.includes(finalizer)) {
                const finalizers = owner.metadata.finalizers.filter((name) => name !== finalizer);
                await context.client.patch(fakeControlPlanes, wanted, 'merge', { metadata: { finalizers } }, by);
              }
              return removal.result;
            }
            report = await driver.drive({
              context,
              owner,
              wish,
              isInitialized: report?.isFunctional === true,
              follower,
              ...(cluster && { cluster }),
              ...more,
            });
            if (report.error !== undefined) throw report.error;
            return report.result;
          },
        }),
      );
    },
  });
  await createPlane(world);
  const touch = async (): Promise<void> => {
    const annotations = { touched: String(Math.random()) };
    await world.client.patch(
      fakeControlPlanes,
      { namespace: world.namespace, name: clusterName },
      'merge',
      { metadata: { annotations } },
      by,
    );
  };
  await world.until(() => report !== undefined);
  return Object.assign(world, {
    host,
    etcd,
    report: () => {
      if (!report) throw new Error('there is no report yet');
      return report;
    },
    removal: () => removal,
    async wish(next: WishChange) {
      change = next;
      await touch();
    },
    async ask(next: Partial<PlaneRequest>) {
      more = next;
      await touch();
    },
    async secret(name: string, key: string) {
      const secret = await world.client.get(Secrets, { namespace: world.namespace, name }).catch(ignoreNotFound);
      const data = secret?.data?.[key];
      return data === undefined ? undefined : Buffer.from(data, 'base64').toString('utf8');
    },
    async untilSettled() {
      try {
        await world.until(() => report?.isSettled === true);
      } catch (cause) {
        const stages = [...(report?.stages ?? [])].map(
          ([stage, { status, reason, message = '' }]) => `${stage}: ${status} ${reason} ${message}`,
        );
        throw new Error(
          `the plane never settled:\n${stages.join('\n')}\n${JSON.stringify(report?.counts)} ${String(report?.error)}`,
          { cause },
        );
      }
    },
  });
}

/** Backups of these tests: a word, and then keys. */
async function keysOfText(file: Buffer): Promise<EtcdKey[] | undefined> {
  const [word, ...keys] = file.toString('utf8').split(' ');
  return word === 'KEYS' ? keys.map((key) => ({ key: Buffer.from(key), value: Buffer.from('value') })) : undefined;
}

async function createPlane({ client, namespace }: World): Promise<void> {
  const metadata = { name: clusterName, namespace };
  const create = (
    resource: typeof fakeClusters,
    kind: string,
    group: string,
    spec: JsonObject,
    finalizers?: string[],
  ) =>
    client.create(
      resource,
      {
        apiVersion: `${group}/v1`,
        kind,
        metadata: { ...metadata, ...(finalizers && { finalizers }) },
        spec,
      } as UnstructuredObject,
      by,
    );
  await create(fakeClusters, 'FakeCluster', infrastructureGroup, { noEndpoint: true });
  await create(fakeControlPlanes, 'FakeControlPlane', controlPlaneGroup, {}, [finalizer]);
  const cluster: Cluster = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata,
    spec: {
      infrastructureRef: { apiGroup: infrastructureGroup, kind: 'FakeCluster', name: clusterName },
      controlPlaneRef: { apiGroup: controlPlaneGroup, kind: 'FakeControlPlane', name: clusterName },
    },
  };
  await client.create(clusters, cluster, by);
}
