import { Clusters, type IdentityReference, OpenStackClusters, Pods, Secrets } from '../../../../api/index.ts';
import { hostedNaming, kubernetesImages, type PlaneSpec } from '../../../../hosting/index.ts';
import { ignoreNotFound, type UnstructuredObject } from '../../../../machinery/index.ts';
import { defineController, done, watchMapped, watchObjects } from '../../../../runtime/index.ts';
import { ownerReference } from '../../../shared/index.ts';
import { controlPlaneGroup, FakeControlPlanes } from '../../../testing/provider-kinds.ts';
import type { World } from '../../../testing/world.ts';
import type { EtcdKey } from '../../etcd-client/types.ts';
import { createPlaneDriver } from '../driver.ts';
import type { PlaneReport, PlaneRequest, RemovalReport } from '../types.ts';
import { clusterName, createHostedCluster, createHostingWorld, type HostingWorld } from './hosting-world.ts';

export type SpecChange = (desired: PlaneSpec) => PlaneSpec;

/** Test world with a minimal controller that drives one plane. */
export interface PlaneWorld extends HostingWorld {
  /** latest report */
  report(): PlaneReport;
  /** all reports, oldest first */
  reports(): readonly PlaneReport[];
  removal(): RemovalReport | undefined;
  /** changes the spec */
  desired(change: SpecChange): Promise<void>;
  /** changes request fields besides the spec */
  ask(change: Partial<PlaneRequest>): Promise<void>;
  secret(name: string, key: string): Promise<string | undefined>;
  untilSettled(): Promise<void>;
}

const by = { fieldManager: 'test' };
const dayMs = 24 * 3_600_000;
const finalizer = 'test.example/plane';

export { clusterName };

export function hostedPlaneSpec(owner: UnstructuredObject, namespace: string): PlaneSpec {
  const version = 'v1.33.1';
  return {
    identity: { namespace, clusterName, owner: ownerReference(owner, FakeControlPlanes, { controller: true }) },
    naming: hostedNaming(clusterName),
    layout: 'hardened',
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

export interface PlaneWorldOptions {
  balances?: boolean;
  broken?: string;
  backupDirectory?: string;
  /** initial spec */
  desired?: SpecChange;
  request?: Partial<PlaneRequest>;
  /** OpenStack identity of the workers; default: no known cloud */
  identity?: IdentityReference;
}

export async function createPlaneWorld({
  identity,
  backupDirectory,
  desired: firstRequest,
  request,
  ...options
}: PlaneWorldOptions = {}): Promise<PlaneWorld> {
  let change: SpecChange = firstRequest ?? ((desired) => desired);
  let more: Partial<PlaneRequest> = request ?? {};
  let report: PlaneReport | undefined;
  const reports: PlaneReport[] = [];
  let removal: RemovalReport | undefined;

  const world = await createHostingWorld({
    ...options,
    extend(manager, parts, etcd) {
      const { externals, workloads, namespace } = parts;
      const driver = createPlaneDriver({
        ...parts,
        metrics: manager.metrics,
        snapshotReaders: [keysOfText],
        ...(backupDirectory !== undefined && { backupDirectory }),
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
          for: FakeControlPlanes,
          setup: (informers) => driver.setup(informers),
          watches: [
            watchObjects(FakeControlPlanes),
            watchMapped(Clusters, () => [key]),
            ...driver.watches(FakeControlPlanes),
          ],
          sources: [driver.source, follower.source, workloads.connectionSource(() => [key])],
          async reconcile(context, wanted) {
            const owner = context.cache.lister(FakeControlPlanes).get(wanted);
            if (!owner) return done();
            const cluster = context.cache.lister(Clusters).get(key);
            const desired = change(hostedPlaneSpec(owner, namespace));
            if (owner.metadata.deletionTimestamp !== undefined) {
              const store = desired.dataStore;
              const etcdVolumes = store.kind === 'own-etcd' && store.deleteVolumes;
              removal = await driver.remove({
                context,
                owner,
                desired,
                volumes: { etcd: etcdVolumes, controlPlane: false },
                ...(cluster && { cluster }),
              });
              if (removal.isGone && owner.metadata.finalizers?.includes(finalizer)) {
                const finalizers = owner.metadata.finalizers.filter((name) => name !== finalizer);
                await context.client.patch(FakeControlPlanes, wanted, 'merge', { metadata: { finalizers } }, by);
              }
              return removal.result;
            }
            report = await driver.drive({
              context,
              owner,
              desired,
              isInitialized: report?.isFunctional === true,
              follower,
              ...(cluster && { cluster }),
              ...more,
            });
            reports.push(report);
            if (report.error !== undefined) throw report.error;
            return report.result;
          },
        }),
      );
    },
  });
  await createPlane(world, identity);
  const touch = async (): Promise<void> => {
    const annotations = { touched: String(Math.random()) };
    await world.client.patch(
      FakeControlPlanes,
      { namespace: world.namespace, name: clusterName },
      'merge',
      { metadata: { annotations } },
      by,
    );
  };
  await world.until(() => report !== undefined);
  return Object.assign(world, {
    reports: () => reports,
    report: () => {
      if (!report) throw new Error('there is no report yet');
      return report;
    },
    removal: () => removal,
    async desired(next: SpecChange) {
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

/** Backup format of these tests: a word, followed by keys. */
async function keysOfText(file: Buffer): Promise<EtcdKey[] | undefined> {
  const [word, ...keys] = file.toString('utf8').split(' ');
  return word === 'KEYS' ? keys.map((key) => ({ key: Buffer.from(key), value: Buffer.from('value') })) : undefined;
}

async function createPlane(world: World, identity: IdentityReference | undefined): Promise<void> {
  const { namespace, client } = world;
  const controlPlane: UnstructuredObject = {
    apiVersion: `${controlPlaneGroup}/v1`,
    kind: 'FakeControlPlane',
    metadata: { name: clusterName, namespace, finalizers: [finalizer] },
    spec: {},
  };
  if (!identity) return await createHostedCluster(world, FakeControlPlanes, controlPlane);
  const { group, version, kind } = OpenStackClusters;
  await client.create(
    OpenStackClusters,
    {
      apiVersion: `${group}/${version}`,
      kind,
      metadata: { name: clusterName, namespace },
      spec: { identityRef: identity, apiServer: { enableFloatingIP: false } },
    },
    by,
  );
  const status = { initialization: { provisioned: true } };
  const key = { namespace, name: clusterName };
  await client.patch(OpenStackClusters, key, 'merge', { status }, { ...by, subresource: 'status' });
  const infrastructureRef = { apiGroup: group, kind, name: clusterName };
  await createHostedCluster(world, FakeControlPlanes, controlPlane, { infrastructureRef });
}
