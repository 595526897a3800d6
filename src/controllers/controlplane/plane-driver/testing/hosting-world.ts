import { afterEach } from 'vitest';
import { type Cluster, Clusters } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { workloadControllers } from '../../../../housekeeping/index.ts';
import type { KubeObject, Resource } from '../../../../machinery/index.ts';
import type { Manager } from '../../../../runtime/index.ts';
import type { ClusterControllers } from '../../../cluster/index.ts';
import type { ConnectWorkload } from '../../../shared/index.ts';
import { FakeClusters, infrastructureGroup } from '../../../testing/provider-kinds.ts';
import { by, type ControllerParts, createWorld, type World } from '../../../testing/world.ts';
import { FakeEtcd } from '../../etcd-client/testing/fake-etcd.ts';
import type { ProviderDependencies } from '../../plane-reconcile.ts';
import { EtcdInPods } from './etcd-in-pods.ts';
import { type FakeHost, fakeHost } from './fake-kubelet.ts';

/** Test world with a management API that simulates Pods. */
export interface HostingWorld extends World {
  readonly host: FakeHost;
  readonly etcd: FakeEtcd;
}

/** Dependencies of hosted control plane controllers in tests. */
export interface HostingParts extends ProviderDependencies, ControllerParts {
  readonly connectWorkload: ConnectWorkload;
}

export interface HostingWorldOptions {
  /** whether load balancers get addresses; default yes */
  balances?: boolean;
  /** exit message of components other than etcd; default: they run */
  broken?: string;
  /** adds the controllers under test */
  extend(manager: Manager, parts: HostingParts, etcd: FakeEtcd): void;
}

/** Name of the Cluster in worlds with one control plane. */
export const clusterName = 'c1';

export async function createHostingWorld(options: HostingWorldOptions): Promise<HostingWorld> {
  const etcd = new FakeEtcd();
  const etcdInPods = new EtcdInPods(etcd);
  const host: FakeHost = {
    etcd,
    etcdInPods,
    broken: options.broken ?? '',
    balances: options.balances ?? true,
    nextAddress: 1,
  };
  let workload: Client | undefined;
  const world = await createWorld({
    providers: (parts) => {
      workload = parts.workload;
      return [...workloadControllers({ parts: ['deployments', 'statefulSets'], events: false }), ...fakeHost(host)];
    },
    extend(manager, { client, clock, random, namespace, externals, workloads }: ClusterControllers & ControllerParts) {
      const parts: HostingParts = {
        client,
        clock,
        random,
        namespace,
        cache: manager.reader,
        workloads,
        externals,
        connectPod: () => Promise.reject(new Error('no Pod can be reached here')),
        etcd: ({ pod }) => etcd.connect(pod.name),
        connectWorkload: async () => ({
          client: workload!,
          probe: async () => {},
          portForward: () => Promise.reject(new Error('nothing is forwarded here')),
          close: () => {},
        }),
      };
      options.extend(manager, parts, etcd);
    },
  });
  return Object.assign(world, { host, etcd });
}

/** Creates a Cluster whose infrastructure has no endpoint, and its control plane. */
export async function createHostedCluster<T extends KubeObject>(
  { client, namespace }: World,
  resource: Resource<T>,
  controlPlane: T,
  more: Partial<Cluster['spec']> = {},
): Promise<void> {
  const metadata = { name: clusterName, namespace };
  const infrastructure = { apiVersion: `${infrastructureGroup}/v1`, kind: 'FakeCluster' };
  await client.create(FakeClusters, { ...infrastructure, metadata, spec: { noEndpoint: true } }, by);
  await client.create(resource, controlPlane, by);
  await client.create(
    Clusters,
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata,
      spec: {
        infrastructureRef: { apiGroup: infrastructureGroup, kind: 'FakeCluster', name: clusterName },
        controlPlaneRef: { apiGroup: resource.group, kind: resource.kind, name: controlPlane.metadata.name ?? '' },
        ...more,
      },
    },
    by,
  );
}

/** Returns a function that creates worlds and disposes of them after the test. */
export function worldsOfTests<W extends World, O extends unknown[]>(
  create: (...options: O) => Promise<W>,
): (...options: O) => Promise<W> {
  const worlds: W[] = [];
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.stop();
  });
  return async (...options) => {
    const world = await create(...options);
    worlds.push(world);
    return world;
  };
}
