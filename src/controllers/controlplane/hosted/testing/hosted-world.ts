import {
  type Cluster,
  clusters,
  type HostedControlPlane,
  type HostedControlPlaneSpec,
  hostedControlPlanes,
} from '../../../../api/index.ts';
import { workloadControllers } from '../../../../housekeeping/index.ts';
import type { Resource, UnstructuredObject } from '../../../../machinery/index.ts';
import { fakeClusters, infrastructureGroup } from '../../../testing/provider-kinds.ts';
import { by, createWorld, type World } from '../../../testing/world.ts';
import { FakePlaneEtcd } from '../../hosting/testing/fake-etcd.ts';
import { type FakeHost, fakeHost } from '../../hosting/testing/fake-kubelet.ts';
import { hostedControlPlaneController } from '../controller.ts';

// The controller of HostedControlPlanes, on a management API whose Pods are played.

export interface HostedWorld extends World {
  readonly host: FakeHost;
  readonly etcd: FakePlaneEtcd;
  controlPlane(): Promise<HostedControlPlane>;
}

export const clusterName = 'c1';
export const controlPlaneName = 'c1-cp';

export const gateways: Resource<UnstructuredObject> = {
  group: 'gateway.networking.k8s.io',
  version: 'v1',
  kind: 'Gateway',
  plural: 'gateways',
  namespaced: true,
};

export const tlsRoutes: Resource<UnstructuredObject> = {
  ...gateways,
  version: 'v1alpha2',
  kind: 'TLSRoute',
  plural: 'tlsroutes',
};

export async function createHostedWorld(): Promise<HostedWorld> {
  const etcd = new FakePlaneEtcd();
  const host: FakeHost = { etcd, broken: '', balances: true, nextAddress: 1 };
  const world = await createWorld({
    providers: () => [
      ...workloadControllers({ parts: ['deployments', 'statefulSets'], events: false }),
      ...fakeHost(host),
    ],
    extend(manager, { externals, workloads }) {
      manager.add(
        hostedControlPlaneController({
          cache: manager.reader,
          workloads,
          externals,
          connectPod: () => Promise.reject(new Error('no Pod can be reached here')),
          etcd: etcd.open,
        }),
      );
    },
  });
  return Object.assign(world, {
    host,
    etcd,
    controlPlane: async () => (await world.find(hostedControlPlanes, controlPlaneName))!,
  });
}

/** Adds a Gateway that passes TLS on for a domain. */
export async function createGateway({ client, namespace }: World): Promise<void> {
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
  await client.create(gateways, gateway, by);
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
  await client.patch(gateways, key, 'merge', { status } as never, { ...by, subresource: 'status' });
}

export const baseSpec = (namespace: string): HostedControlPlaneSpec => ({
  version: 'v1.33.6',
  replicas: 3,
  gateway: { namespace, name: 'planes' },
  certificates: { rootCaCertificateDuration: '87600h', caCertificateDuration: '87600h' },
});

export async function createControlPlane(
  { client, namespace }: World,
  spec: Partial<HostedControlPlaneSpec> = {},
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
    hostedControlPlanes,
    {
      apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
      kind: 'HostedControlPlane',
      metadata: { name: controlPlaneName, namespace },
      spec: { ...baseSpec(namespace), ...spec },
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
          apiGroup: hostedControlPlanes.group,
          kind: hostedControlPlanes.kind,
          name: controlPlaneName,
        },
        ...more,
      },
    },
    by,
  );
}
