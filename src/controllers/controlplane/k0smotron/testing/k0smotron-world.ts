import {
  type Cluster,
  type K0smotronCluster,
  type K0smotronClusterSpec,
  K0smotronClusters,
  type K0smotronControlPlane,
  K0smotronControlPlanes,
} from '../../../../api/index.ts';
import { by, type World } from '../../../testing/world.ts';
import {
  clusterName,
  createHostedCluster,
  createHostingWorld,
  type HostingWorld,
} from '../../plane-driver/testing/hosting-world.ts';
import { setupK0smotronControllers } from '../setup.ts';

// Test world with the k0smotron controllers and a management API that simulates Pods.

export interface K0smotronWorld extends HostingWorld {
  controlPlane(): Promise<K0smotronControlPlane>;
  plane(): Promise<K0smotronCluster | undefined>;
}

/** name of the Cluster and the plane */
export { clusterName };
/** name of the control plane; differs from the Cluster's, as in the guides */
export const controlPlaneName = 'c1-cp';

export async function createK0smotronWorld(options: { balances?: boolean } = {}): Promise<K0smotronWorld> {
  const world = await createHostingWorld({ ...options, extend: setupK0smotronControllers });
  return Object.assign(world, {
    controlPlane: async () => (await world.find(K0smotronControlPlanes, controlPlaneName))!,
    plane: () => world.find(K0smotronClusters, clusterName),
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

export function createControlPlane(
  world: World,
  spec: K0smotronClusterSpec = guideSpec,
  more: Partial<Cluster['spec']> = {},
): Promise<void> {
  const controlPlane: K0smotronControlPlane = {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
    kind: 'K0smotronControlPlane',
    metadata: { name: controlPlaneName, namespace: world.namespace },
    spec,
  };
  return createHostedCluster(world, K0smotronControlPlanes, controlPlane, more);
}

export async function createPlane({ client, namespace }: World, spec: K0smotronClusterSpec): Promise<void> {
  await client.create(
    K0smotronClusters,
    { apiVersion: 'k0smotron.io/v1beta2', kind: 'Cluster', metadata: { name: clusterName, namespace }, spec },
    by,
  );
}
