import {
  type Cluster,
  DataStores,
  type KamajiControlPlane,
  type KamajiControlPlaneSpec,
  KamajiControlPlanes,
  type TenantControlPlane,
  TenantControlPlanes,
} from '../../../../api/index.ts';
import { by, type World } from '../../../testing/world.ts';
import type { EtcdTenant } from '../../etcd-client/types.ts';
import type { OpenPlaneEtcd } from '../../plane-driver/index.ts';
import {
  createHostedCluster,
  createHostingWorld,
  type HostingWorld,
} from '../../plane-driver/testing/hosting-world.ts';
import { setupKamajiControllers } from '../setup.ts';

// Test world with the Kamaji controllers and a management API that simulates Pods.

export interface KamajiWorld extends HostingWorld {
  /** tenants of the shared etcd, by user */
  readonly tenants: Map<string, EtcdTenant>;
  /** name of the default DataStore; unique per world, because DataStores are cluster-scoped */
  readonly storeName: string;
  /** makes connections to the shared etcd fail with this message */
  refuse(problem: string | undefined): void;
  controlPlane(): Promise<KamajiControlPlane>;
  tenant(): Promise<TenantControlPlane | undefined>;
}

export { clusterName } from '../../plane-driver/testing/hosting-world.ts';

export const controlPlaneName = 'c1-control-plane';

/** the example of Kamaji's guide */
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
  const tenants = new Map<string, EtcdTenant>();
  let problem: string | undefined;
  let storeName = '';
  const withTenants =
    (open: OpenPlaneEtcd): OpenPlaneEtcd =>
    async (target, signal) => {
      const member = await open(target, signal);
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
  const world = await createHostingWorld({
    extend(manager, parts, etcd) {
      storeName = `store-of-${parts.namespace}`;
      setupKamajiControllers(manager, {
        ...parts,
        etcd: withTenants(({ pod }) => etcd.connect(pod.name)),
        systemNamespace: parts.namespace,
        defaultDataStore: storeName,
      });
    },
  });
  const stop = world.stop;
  return Object.assign(world, {
    tenants,
    storeName,
    refuse(next: string | undefined) {
      problem = next;
    },
    controlPlane: async () => (await world.find(KamajiControlPlanes, controlPlaneName))!,
    tenant: () => world.find(TenantControlPlanes, controlPlaneName),
    async stop() {
      await stop();
      // DataStores are cluster-scoped and would leak into the next world
      for (const { metadata } of await world.list(DataStores)) {
        const key = { name: metadata.name ?? '' };
        await world.client.patch(DataStores, key, 'merge', { metadata: { finalizers: null } } as never, by);
        await world.client.delete(DataStores, key);
      }
    },
  });
}

export function createControlPlane(
  world: World,
  spec: KamajiControlPlaneSpec = guideSpec,
  more: Partial<Cluster['spec']> = {},
): Promise<void> {
  const controlPlane: KamajiControlPlane = {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
    kind: 'KamajiControlPlane',
    metadata: { name: controlPlaneName, namespace: world.namespace },
    spec,
  };
  return createHostedCluster(world, KamajiControlPlanes, controlPlane, more);
}

/** Creates a standalone TenantControlPlane, with the name a KamajiControlPlane would have given it. */
export async function createTenant(
  { client, namespace }: Pick<World, 'client' | 'namespace'>,
  spec: Partial<TenantControlPlane['spec']>,
  name: string = controlPlaneName,
): Promise<void> {
  const tenant: TenantControlPlane = {
    apiVersion: 'kamaji.clastix.io/v1alpha1',
    kind: 'TenantControlPlane',
    metadata: { name, namespace },
    spec: {
      kubernetes: { version: 'v1.33.0', kubelet: {} },
      controlPlane: { service: { serviceType: 'LoadBalancer' } },
      ...spec,
    },
  };
  await client.create(TenantControlPlanes, tenant, by);
}
