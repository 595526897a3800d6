import {
  type Cluster,
  clusters,
  dataStores,
  type KamajiControlPlane,
  type KamajiControlPlaneSpec,
  kamajiControlPlanes,
  type TenantControlPlane,
  tenantControlPlanes,
} from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { workloadControllers } from '../../../../housekeeping/index.ts';
import { fakeClusters, infrastructureGroup } from '../../../testing/provider-kinds.ts';
import { by, createWorld, type World } from '../../../testing/world.ts';
import type { EtcdTenant } from '../../etcd/types.ts';
import type { OpenPlaneEtcd } from '../../hosting/index.ts';
import { FakePlaneEtcd } from '../../hosting/testing/fake-etcd.ts';
import { type FakeHost, fakeHost } from '../../hosting/testing/fake-kubelet.ts';
import { setupKamajiControllers } from '../setup.ts';

// The controllers of Kamaji's kinds, on a management API whose Pods are played.

export interface KamajiWorld extends World {
  readonly host: FakeHost;
  readonly etcd: FakePlaneEtcd;
  /** those who are let into the shared etcd, by user */
  readonly tenants: Map<string, EtcdTenant>;
  /** the DataStore of whoever names none, which all worlds would share otherwise */
  readonly storeName: string;
  /** what opening the shared etcd fails with, when it does */
  refuse(problem: string | undefined): void;
  controlPlane(): Promise<KamajiControlPlane>;
  tenant(): Promise<TenantControlPlane | undefined>;
}

export const clusterName = 'c1';
export const controlPlaneName = 'c1-control-plane';

/** as the guide has it */
export const guideSpec: KamajiControlPlaneSpec = {
  replicas: 1,
  version: '1.28.10',
  addons: { coreDNS: {}, kubeProxy: {}, konnectivity: {} },
  kubelet: { preferredAddressTypes: ['InternalIP', 'ExternalIP', 'Hostname'] },
  network: {
    serviceType: 'LoadBalancer',
    serviceAnnotations: { 'service.beta.kubernetes.io/openstack-internal-load-balancer': 'false' },
  },
  controllerManager: { extraArgs: ['--cloud-provider=external'] },
  apiServer: { extraArgs: ['--cloud-provider=external'] },
};

export async function createKamajiWorld(): Promise<KamajiWorld> {
  const etcd = new FakePlaneEtcd();
  const host: FakeHost = { etcd, broken: '', balances: true, nextAddress: 1 };
  const tenants = new Map<string, EtcdTenant>();
  let problem: string | undefined;
  let workload: Client | undefined;
  let storeName = '';
  const open: OpenPlaneEtcd = async (target, signal) => {
    const member = await etcd.open(target, signal);
    const attempt = (): void => {
      if (problem !== undefined) throw new Error(problem);
    };
    return {
      ...member,
      tenants: {
        ensure: async (tenant) => {
          attempt();
          tenants.set(tenant.user, tenant);
        },
        drop: async ({ user }) => {
          attempt();
          tenants.delete(user);
        },
        enforce: async () => attempt(),
      },
    };
  };
  const world = await createWorld({
    providers: (parts) => {
      workload = parts.workload;
      return [...workloadControllers({ parts: ['deployments', 'statefulSets'], events: false }), ...fakeHost(host)];
    },
    extend(manager, { externals, workloads, clock, namespace }) {
      storeName = `store-of-${namespace}`;
      setupKamajiControllers(manager, {
        cache: manager.reader,
        clock,
        workloads,
        externals,
        connectPod: () => Promise.reject(new Error('no Pod can be reached here')),
        etcd: open,
        systemNamespace: namespace,
        defaultDataStore: storeName,
        connectWorkload: async () => ({
          client: workload!,
          probe: async () => {},
          portForward: () => Promise.reject(new Error('nothing is forwarded here')),
          close: () => {},
        }),
      });
    },
  });
  const stop = world.stop;
  return Object.assign(world, {
    host,
    etcd,
    tenants,
    storeName,
    refuse(next: string | undefined) {
      problem = next;
    },
    controlPlane: async () => (await world.find(kamajiControlPlanes, controlPlaneName))!,
    tenant: () => world.find(tenantControlPlanes, controlPlaneName),
    async stop() {
      await stop();
      // DataStores belong to no namespace: the next world must not find them
      for (const { metadata } of await world.list(dataStores)) {
        const key = { name: metadata.name ?? '' };
        await world.client.patch(dataStores, key, 'merge', { metadata: { finalizers: null } } as never, by);
        await world.client.delete(dataStores, key);
      }
    },
  });
}

export async function createControlPlane(
  { client, namespace }: World,
  spec: KamajiControlPlaneSpec = guideSpec,
  more: Partial<Cluster['spec']> = {},
): Promise<void> {
  await client.create(
    fakeClusters,
    {
      apiVersion: `${infrastructureGroup}/v1`,
      kind: 'FakeCluster',
      metadata: { name: clusterName, namespace },
      spec: { noEndpoint: true },
    },
    by,
  );
  await client.create(
    kamajiControlPlanes,
    {
      apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
      kind: 'KamajiControlPlane',
      metadata: { name: controlPlaneName, namespace },
      spec,
    },
    by,
  );
  await client.create(
    clusters,
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { name: clusterName, namespace },
      spec: {
        infrastructureRef: { apiGroup: infrastructureGroup, kind: 'FakeCluster', name: clusterName },
        controlPlaneRef: {
          apiGroup: kamajiControlPlanes.group,
          kind: kamajiControlPlanes.kind,
          name: controlPlaneName,
        },
        ...more,
      },
    },
    by,
  );
}
