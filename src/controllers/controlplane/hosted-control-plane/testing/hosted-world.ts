import { type HostedControlPlane, type HostedControlPlaneSpec, HostedControlPlanes } from '../../../../api/index.ts';
import type { Resource, UnstructuredObject } from '../../../../machinery/index.ts';
import { by, type World } from '../../../testing/world.ts';
import {
  createHostedCluster,
  createHostingWorld,
  type HostingWorld,
} from '../../plane-driver/testing/hosting-world.ts';
import { hostedControlPlaneController } from '../controller.ts';

// Test world with the HostedControlPlane controller and a management API that simulates Pods.

export interface HostedWorld extends HostingWorld {
  controlPlane(): Promise<HostedControlPlane>;
}

export { clusterName } from '../../plane-driver/testing/hosting-world.ts';

export const controlPlaneName = 'c1-cp';

export const Gateways: Resource<UnstructuredObject> = {
  group: 'gateway.networking.k8s.io',
  version: 'v1',
  kind: 'Gateway',
  plural: 'gateways',
  namespaced: true,
};

export const TlsRoutes: Resource<UnstructuredObject> = {
  ...Gateways,
  version: 'v1alpha2',
  kind: 'TLSRoute',
  plural: 'tlsroutes',
};

export async function createHostedWorld(): Promise<HostedWorld> {
  const world = await createHostingWorld({
    extend: (manager, parts) => manager.add(hostedControlPlaneController(parts)),
  });
  return Object.assign(world, {
    controlPlane: async () => (await world.find(HostedControlPlanes, controlPlaneName))!,
  });
}

/** Creates a Gateway with TLS passthrough for a domain. */
export async function createGateway({ client, namespace }: Pick<World, 'client' | 'namespace'>): Promise<void> {
  const gateway: UnstructuredObject = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'planes', namespace },
    spec: {
      gatewayClassName: 'capstan',
      listeners: [
        {
          name: 'planes',
          port: 443,
          protocol: 'TLS',
          hostname: '*.planes.example.org',
          tls: { mode: 'Passthrough' },
          allowedRoutes: { namespaces: { from: 'All' } },
        },
      ],
    },
  };
  await client.create(Gateways, gateway, by);
  const status = {
    addresses: [{ type: 'IPAddress', value: '127.65.9.9' }],
    conditions: [
      {
        type: 'Programmed',
        status: 'True',
        reason: 'Programmed',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  };
  const key = { namespace, name: 'planes' };
  await client.patch(Gateways, key, 'merge', { status } as never, { ...by, subresource: 'status' });
}

export const baseSpec = (namespace: string): HostedControlPlaneSpec => ({
  version: 'v1.33.6',
  replicas: 3,
  gateway: { namespace, name: 'planes' },
  certificates: { rootCaCertificateDuration: '87600h', caCertificateDuration: '87600h' },
});

export function createControlPlane(world: World, spec: Partial<HostedControlPlaneSpec> = {}): Promise<void> {
  const { namespace } = world;
  return createHostedCluster(world, HostedControlPlanes, {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
    kind: 'HostedControlPlane',
    metadata: { name: controlPlaneName, namespace },
    spec: { ...baseSpec(namespace), ...spec },
  });
}
