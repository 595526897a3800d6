import { describe, expect, it } from 'vitest';
import { Nodes } from '../../api/index.ts';
import { smallWorld } from '../testing/small-world.ts';
import { type TestTenant, testTenant } from '../testing/test-tenant.ts';
import { connectInProcess } from './in-process.ts';

const image = { name: 'ubuntu', properties: { os_distro: 'ubuntu', kubernetes_version: 'v1.34.4' } };

/** Advances the clock until the condition holds, and yields to work that runs outside of the clock. */
async function until({ clock }: TestTenant, what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 4000; i++) {
    if (await isSo()) return;
    await clock.advance(250);
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error(`it never came to this: ${what}`);
}

async function consoleOf({ nova, read }: TestTenant, id: string): Promise<string> {
  const answer = await nova('POST', `/servers/${id}/action`, { 'os-getConsoleOutput': {} });
  // A server that is being built has no console.
  return read<string | undefined>(answer, 'output') ?? '';
}

const initConfig = (endpoint: string): string => `## template: jinja
#cloud-config
write_files:
  - path: /run/kubeadm/kubeadm.yaml
    permissions: '0640'
    content: |
      apiVersion: kubeadm.k8s.io/v1beta4
      kind: ClusterConfiguration
      clusterName: c
      kubernetesVersion: v1.34.4
      controlPlaneEndpoint: ${endpoint}
      ---
      apiVersion: kubeadm.k8s.io/v1beta4
      kind: InitConfiguration
      bootstrapTokens: [{token: abcdef.0123456789abcdef, ttl: 24h}]
      nodeRegistration:
        name: '{{ local_hostname }}'
        kubeletExtraArgs: [{name: provider-id, value: 'openstack:///{{ instance_id }}'}]
runcmd:
  - kubeadm init --config /run/kubeadm/kubeadm.yaml && echo success > /run/cluster-api/bootstrap-success.complete
`;

const joinConfig = (endpoint: string): string => `#cloud-config
write_files:
  - path: /run/kubeadm/join.yaml
    content: |
      apiVersion: kubeadm.k8s.io/v1beta4
      kind: JoinConfiguration
      discovery:
        bootstrapToken:
          token: abcdef.0123456789abcdef
          apiServerEndpoint: ${endpoint}
          unsafeSkipCAVerification: true
runcmd: [kubeadm join --config /run/kubeadm/join.yaml]
`;

describe('servers with kubeadm in their user data', () => {
  it('become nodes of a cluster that answers at its floating IP', async () => {
    const tenant = await testTenant({ world: { ...smallWorld, images: [image] }, machines: {} });
    const { user, read, cloud, makeServer, subnetId, networkId, largeFlavorId } = tenant;
    const external = read(await user.request('GET', '/network/v2.0/networks?router:external=true'), 'networks.0.id');
    const router = read(
      await user.request('POST', '/network/v2.0/routers', {
        router: { external_gateway_info: { network_id: external } },
      }),
      'router.id',
    );
    await user.request('PUT', `/network/v2.0/routers/${router}/add_router_interface`, { subnet_id: subnetId });
    const group = read(await user.request('GET', '/network/v2.0/security-groups'), 'security_groups.0.id');
    await user.request('POST', '/network/v2.0/security-group-rules', {
      security_group_rule: { security_group_id: group, direction: 'ingress', protocol: 'tcp' },
    });
    const port = read(
      await user.request('POST', '/network/v2.0/ports', { port: { network_id: networkId } }),
      'port.id',
    );
    const address = read(
      await user.request('POST', '/network/v2.0/floatingips', {
        floatingip: { floating_network_id: external, port_id: port },
      }),
      'floatingip.floating_ip_address',
    );
    const boot = (name: string, userData: string, desired: Record<string, unknown> = {}): Promise<string> =>
      makeServer({ name, flavorRef: largeFlavorId, user_data: Buffer.from(userData).toString('base64'), ...desired });
    const isBooted = async (id: string): Promise<boolean> => (await consoleOf(tenant, id)).endsWith(' login: ');

    const first = await boot('cp-1', initConfig(`${address}:6443`), { networks: [{ port }] });
    await until(tenant, 'cp-1 has booted', () => isBooted(first));
    expect(await consoleOf(tenant, first)).toContain('Your Kubernetes control-plane has initialized successfully!');
    const { disk } = cloud.machines!.running(first)!;
    expect(disk.read('/run/cluster-api/bootstrap-success.complete')).toBe('success\n');

    const worker = await boot('worker-1', joinConfig(`${address}:6443`));
    await until(tenant, 'worker-1 has booted', () => isBooted(worker));
    const api = await connectInProcess(cloud.network)(disk.read('/etc/kubernetes/admin.conf')!);
    await api.probe(new AbortController().signal);
    const nodes = async (): Promise<Record<string, string | undefined>> =>
      Object.fromEntries(
        (await api.client.list(Nodes)).items.map(({ metadata, status }) => [
          metadata.name,
          status?.conditions?.find(({ type }) => type === 'Ready')?.status,
        ]),
      );
    await until(tenant, 'both nodes are ready', async () => {
      const found = await nodes();
      return found['cp-1'] === 'True' && found['worker-1'] === 'True';
    });

    cloud.operator.deleteServer(worker);
    await until(tenant, 'the node of the deleted server is lost', async () => (await nodes())['worker-1'] !== 'True');
    cloud.operator.stopServer(first);
    await expect(api.probe(new AbortController().signal)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    await expect(api.client.list(Nodes)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    cloud.operator.startServer(first);
    await until(tenant, 'the API answers again', () =>
      api.probe(new AbortController().signal).then(
        () => true,
        () => false,
      ),
    );
    await cloud.close();
  });
});
