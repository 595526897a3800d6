import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Node, Nodes, type Pod, Pods, type Service, Services } from '../../../api/index.ts';
import type { KubeObject } from '../../../machinery/index.ts';
import { uninitializedTaint } from '../../../simkube/index.ts';
import { type NodeInCloud, nodeInCloud } from './testing/node-in-cloud.ts';

const account = 'cloud-controller-manager';
const image = 'registry.k8s.io/provider-os/openstack-cloud-controller-manager:v1.33.1';
const everywhere = [{ operator: 'Exists' }];

/** RBAC of the manager, as in its chart. */
const manager: KubeObject[] = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace: 'kube-system' } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: account },
    rules: [
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
      { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch', 'update'] },
      { apiGroups: [''], resources: ['nodes'], verbs: ['*'] },
      { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
      { apiGroups: [''], resources: ['services'], verbs: ['list', 'patch', 'update', 'watch'] },
      { apiGroups: [''], resources: ['services/status'], verbs: ['patch'] },
    ],
  } as KubeObject,
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: account },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: account },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: 'kube-system' }],
  } as KubeObject,
  {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'openstack-cloud-controller-manager', namespace: 'kube-system' },
    spec: {
      selector: { matchLabels: { app: 'ccm' } },
      template: {
        metadata: { labels: { app: 'ccm' } },
        spec: {
          serviceAccountName: account,
          hostNetwork: true,
          tolerations: everywhere,
          containers: [
            {
              name: 'ccm',
              image,
              args: [
                '/bin/openstack-cloud-controller-manager',
                '--cloud-config=/etc/config/cloud.conf',
                '--cluster-name=test',
                '--cloud-provider=openstack',
                '--use-service-account-credentials=false',
              ],
              volumeMounts: [{ name: 'config', mountPath: '/etc/config' }],
            },
          ],
          volumes: [{ name: 'config', secret: { secretName: 'cloud-config' } }],
        },
      },
    },
  } as KubeObject,
];

let world: NodeInCloud;
beforeAll(async () => {
  world = await nodeInCloud();
});
afterAll(() => world.close());

const node = (): Promise<Node> => world.client.get(Nodes, { name: 'node-1' });
const pod = async (): Promise<Pod | undefined> =>
  (await world.client.list(Pods, { labelSelector: 'app=ccm' })).items[0];
const balancers = async (): Promise<{ id: string; name: string; provisioning_status: string }[]> =>
  world.tenant.read(await world.tenant.user.request('GET', '/load-balancer/v2/lbaas/loadbalancers'), 'loadbalancers');
const floatingIps = async (): Promise<{ floating_ip_address: string; description: string }[]> =>
  world.tenant.read(await world.tenant.user.request('GET', '/network/v2.0/floatingips'), 'floatingips');

describe('a cloud controller manager', () => {
  it('does not start without the Secret of its credentials', async () => {
    await world.create(...manager);
    await world.until('its Pod waits for the Secret', async () => {
      const [status] = (await pod())?.status?.containerStatuses ?? [];
      return status?.state?.waiting?.reason === 'ContainerCreating';
    });
    expect((await node()).spec?.taints?.map(({ key }) => key)).toContain(uninitializedTaint);
  });

  it('crashes with credentials the cloud does not know', async () => {
    await world.addCredentials(world.cloudConf().replace('"secret"', '"wrong"'));
    await world.until('its container ends', async () => {
      const [status] = (await pod())?.status?.containerStatuses ?? [];
      return status?.lastState?.terminated?.exitCode === 255 && status.state?.waiting?.reason === 'CrashLoopBackOff';
    });
  });

  it('initializes the node once its account is allowed to', async () => {
    await world.client.patch(
      { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true },
      { namespace: 'kube-system', name: 'cloud-config' },
      'merge',
      { stringData: { 'cloud.conf': world.cloudConf() } },
      { fieldManager: 'test' },
    );
    await world.until('the taint is gone', async () => {
      const { spec } = await node();
      return !(spec?.taints ?? []).some(({ key }) => key === uninitializedTaint);
    });
    const { metadata, spec, status } = await node();
    expect(spec?.providerID).toBe(`openstack:///${world.serverId}`);
    expect(metadata.labels).toMatchObject({
      'topology.kubernetes.io/zone': 'nova',
      'topology.kubernetes.io/region': 'RegionOne',
      'node.kubernetes.io/instance-type': 'large',
    });
    expect(status?.addresses?.map(({ type }) => type)).toEqual(['InternalIP', 'ExternalIP', 'Hostname']);
  });

  it('removes a Node whose server is gone', async () => {
    const gone = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'gone-1' },
      spec: { providerID: 'openstack:///00000000-0000-4000-8000-000000000000' },
      status: { conditions: [{ type: 'Ready', status: 'Unknown' }] },
    };
    await world.create(gone as KubeObject);
    await world.until('the Node is gone', async () => (await world.client.list(Nodes)).items.length === 1);
  });

  const service = (): Promise<Service> => world.client.get(Services, { namespace: 'default', name: 'web' });

  it('gives a Service an octavia load balancer with an address that answers', async () => {
    // kubeadm excludes control-plane nodes from load balancers, and this cluster has no other nodes.
    const label = 'node.kubernetes.io/exclude-from-external-load-balancers';
    const metadata = { labels: { [label]: null } };
    await world.client.patch(Nodes, { name: 'node-1' }, 'merge', { metadata }, { fieldManager: 'test' });
    await world.create(
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'web', namespace: 'default', labels: { app: 'web' } },
        spec: {
          tolerations: everywhere,
          containers: [{ name: 'web', image: 'nginx:1', ports: [{ containerPort: 80 }] }],
        },
      } as KubeObject,
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'web', namespace: 'default' },
        spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 8080, targetPort: 80 }] },
      } as KubeObject,
    );
    const address = async (): Promise<string | undefined> => (await service()).status?.loadBalancer?.ingress?.[0]?.ip;
    await world.until('the Service has an address', async () => (await address()) !== undefined);
    expect((await balancers()).map(({ name }) => name)).toEqual(['kube_service_test_default_web']);
    expect((await floatingIps()).map(({ description }) => description)).toContain(
      'Floating IP for Kubernetes external service default/web from cluster test',
    );
    const ip = (await address())!;
    await world.until('the address answers', () => {
      try {
        return world.tenant.cloud.network.dial(ip, 8080).get !== undefined;
      } catch {
        return false;
      }
    });
    const answer = await world.tenant.cloud.network.dial(ip, 8080).get!('/');
    expect(answer).toMatchObject({ status: 200, body: expect.stringContaining('nginx:1') as string });
  });

  it('follows a changed Service and deletes its resources with it', async () => {
    await world.client.patch(
      Services,
      { namespace: 'default', name: 'web' },
      'merge',
      { spec: { ports: [{ name: 'http', port: 9090, targetPort: 80 }] } },
      { fieldManager: 'test' },
    );
    const listening = async (): Promise<number[]> =>
      world.tenant
        .read<{ protocol_port: number }[]>(
          await world.tenant.user.request('GET', '/load-balancer/v2/lbaas/listeners'),
          'listeners',
        )
        .map(({ protocol_port: port }) => port);
    await world.until('only the new port is served', async () => (await listening()).join() === '9090');
    await world.client.delete(Services, { namespace: 'default', name: 'web' });
    await world.until('the balancer is gone', async () => (await balancers()).length === 0);
    await world.until('the Service is gone', async () =>
      (await world.client.list(Services, { namespace: 'default' })).items.every(
        ({ metadata }) => metadata.name !== 'web',
      ),
    );
    expect(await floatingIps()).toHaveLength(1);
  });
});
