import {
  type Cluster,
  clusters,
  type K0smotronCluster,
  type K0smotronClusterSpec,
  type K0smotronControlPlane,
  k0smotronClusters,
  k0smotronControlPlanes,
} from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { workloadControllers } from '../../../../housekeeping/index.ts';
import { fakeClusters, infrastructureGroup } from '../../../testing/provider-kinds.ts';
import { by, createWorld, type World } from '../../../testing/world.ts';
import { FakePlaneEtcd } from '../../hosting/testing/fake-etcd.ts';
import { type FakeHost, fakeHost } from '../../hosting/testing/fake-kubelet.ts';
import { setupK0smotronControllers } from '../setup.ts';

// The controllers of k0smotron's kinds, on a management API whose Pods are played.

export interface K0smotronWorld extends World {
  readonly host: FakeHost;
  readonly etcd: FakePlaneEtcd;
  controlPlane(): Promise<K0smotronControlPlane>;
  plane(): Promise<K0smotronCluster | undefined>;
}

/** of the Cluster and of the plane */
export const clusterName = 'c1';
/** of the control plane, which has another name in the guides */
export const controlPlaneName = 'c1-cp';

export async function createK0smotronWorld(options: { balances?: boolean } = {}): Promise<K0smotronWorld> {
  const etcd = new FakePlaneEtcd();
  const host: FakeHost = { etcd, broken: '', balances: options.balances ?? true, nextAddress: 1 };
  let workload: Client | undefined;
  const world = await createWorld({
    providers: (parts) => {
      workload = parts.workload;
      return [...workloadControllers({ parts: ['deployments', 'statefulSets'], events: false }), ...fakeHost(host)];
    },
    extend(manager, { externals, workloads }) {
      setupK0smotronControllers(manager, {
        cache: manager.reader,
        workloads,
        externals,
        connectPod: () => Promise.reject(new Error('no Pod can be reached here')),
        etcd: etcd.open,
        connectWorkload: async () => ({
          client: workload!,
          probe: async () => {},
          portForward: () => Promise.reject(new Error('nothing is forwarded here')),
          close: () => {},
        }),
      });
    },
  });
  return Object.assign(world, {
    host,
    etcd,
    controlPlane: async () => (await world.find(k0smotronControlPlanes, controlPlaneName))!,
    plane: () => world.find(k0smotronClusters, clusterName),
  });
}

export const guideSpec: K0smotronClusterSpec = {
  image: 'ghcr.io/k0sproject/k0s:v1.32.6-k0s.0',
  replicas: 1,
  service: { type: 'LoadBalancer', apiPort: 6443, konnectivityPort: 8132 },
  controlPlaneFlags: ['--enable-cloud-provider=true', '--debug=true'],
  storage: {
    type: 'etcd',
    etcd: { image: 'quay.io/k0sproject/etcd:v3.5.13', persistence: { size: '1Gi' }, autoDeletePVCs: false },
  },
  k0sConfig: {
    apiVersion: 'k0s.k0sproject.io/v1beta1',
    kind: 'ClusterConfig',
    metadata: { name: 'k0s' },
    spec: {
      network: {
        provider: 'calico',
        calico: { mode: 'vxlan' },
        podCIDR: '10.244.0.0/16',
        serviceCIDR: '10.96.0.0/12',
        clusterDomain: 'cluster.local',
      },
    },
  },
};

export async function createControlPlane(
  { client, namespace }: World,
  spec: K0smotronClusterSpec = guideSpec,
  more: Partial<Cluster['spec']> = {},
): Promise<void> {
  const infrastructure = { apiGroup: infrastructureGroup, kind: 'FakeCluster', name: clusterName };
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
    k0smotronControlPlanes,
    {
      apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
      kind: 'K0smotronControlPlane',
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
        infrastructureRef: infrastructure,
        controlPlaneRef: {
          apiGroup: k0smotronControlPlanes.group,
          kind: k0smotronControlPlanes.kind,
          name: controlPlaneName,
        },
        ...more,
      },
    },
    by,
  );
}

export async function createPlane({ client, namespace }: World, spec: K0smotronClusterSpec): Promise<void> {
  await client.create(
    k0smotronClusters,
    { apiVersion: 'k0smotron.io/v1beta2', kind: 'Cluster', metadata: { name: clusterName, namespace }, spec },
    by,
  );
}
