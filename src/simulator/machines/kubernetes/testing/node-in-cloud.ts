import { type Node, Nodes } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import type { KubeObject, Resource } from '../../../../machinery/index.ts';
import { smallWorld } from '../../../testing/small-world.ts';
import { type TestTenant, testTenant } from '../../../testing/test-tenant.ts';
import { connectInProcess } from '../../in-process.ts';
import type { CniRule } from '../options.ts';

/** A cluster of one server in a simulated cloud on a manual clock. Its node expects an external cloud provider. */
export interface NodeInCloud {
  readonly tenant: TestTenant;
  readonly serverId: string;
  readonly client: Client;
  /** cloud.conf for the server's project */
  cloudConf(more?: string): string;
  /** creates the Secret with cloud.conf in kube-system */
  addCredentials(text?: string): Promise<void>;
  create(...objects: readonly KubeObject[]): Promise<void>;
  until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void>;
  close(): Promise<void>;
}

const image = { name: 'ubuntu', properties: { os_distro: 'ubuntu', kubernetes_version: 'v1.33.6' } };
const writes = { fieldManager: 'test' };

const userData = (endpoint: string): string => `## template: jinja
#cloud-config
write_files:
  - path: /run/kubeadm/kubeadm.yaml
    content: |
      apiVersion: kubeadm.k8s.io/v1beta4
      kind: ClusterConfiguration
      clusterName: c
      kubernetesVersion: v1.33.6
      controlPlaneEndpoint: ${endpoint}
      ---
      apiVersion: kubeadm.k8s.io/v1beta4
      kind: InitConfiguration
      nodeRegistration:
        name: '{{ local_hostname }}'
        taints: []
        kubeletExtraArgs: [{name: cloud-provider, value: external}]
runcmd:
  - kubeadm init --config /run/kubeadm/kubeadm.yaml
`;

export async function nodeInCloud({ cni = 'builtin' }: { cni?: CniRule } = {}): Promise<NodeInCloud> {
  const tenant = await testTenant({ world: { ...smallWorld, images: [image] }, machines: { cni } });
  const { user, read, cloud, clock, networkId, subnetId } = tenant;
  const network = async (method: string, path: string, body?: unknown, part = ''): Promise<string> =>
    read(await user.request(method, `/network/v2.0${path}`, body), part);
  const external = await network('GET', '/networks?router:external=true', undefined, 'networks.0.id');
  const gateway = { router: { external_gateway_info: { network_id: external } } };
  const router = await network('POST', '/routers', gateway, 'router.id');
  await network('PUT', `/routers/${router}/add_router_interface`, { subnet_id: subnetId });
  const group = await network('GET', '/security-groups', undefined, 'security_groups.0.id');
  await network('POST', '/security-group-rules', {
    security_group_rule: { security_group_id: group, direction: 'ingress', protocol: 'tcp' },
  });
  const port = await network('POST', '/ports', { port: { network_id: networkId } }, 'port.id');
  const floating = { floatingip: { floating_network_id: external, port_id: port } };
  const address = await network('POST', '/floatingips', floating, 'floatingip.floating_ip_address');
  const serverId = await tenant.makeServer({
    name: 'node-1',
    flavorRef: tenant.largeFlavorId,
    networks: [{ port }],
    user_data: Buffer.from(userData(`${address}:6443`)).toString('base64'),
  });

  const until: NodeInCloud['until'] = async (what, isSo) => {
    for (let i = 0; i < 4_000; i++) {
      if (await isSo()) return;
      await clock.advance(250);
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error(`it never came to this: ${what}`);
  };
  const kubeconfig = (): string | undefined =>
    cloud.machines?.running(serverId)?.disk.read('/etc/kubernetes/admin.conf');
  await until('the control plane is initialized', () => kubeconfig() !== undefined);
  const { client } = await connectInProcess(cloud.network)(kubeconfig()!);
  await until('the node has registered', async () => {
    const [node] = (await client.list(Nodes).catch(() => undefined))?.items ?? [];
    return (cni === 'required' && node !== undefined) || (node !== undefined && isReady(node));
  });
  const cloudConf: NodeInCloud['cloudConf'] = (more = '') => `[Global]
auth-url=http://cloud.test/identity/v3
username=p-user
password="secret"
user-domain-id=default
tenant-name=p
tenant-domain-id=default
region=RegionOne
${more}`;
  const create: NodeInCloud['create'] = async (...objects) => {
    for (const object of objects) await client.create(resourceOf(object), object, writes);
  };
  return {
    tenant,
    serverId,
    client,
    until,
    cloudConf,
    create,
    addCredentials: (text = cloudConf()) =>
      create({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'cloud-config', namespace: 'kube-system' },
        stringData: { 'cloud.conf': text },
      } as KubeObject),
    close: () => cloud.close(),
  };
}

export function isReady({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
}

const plurals: Readonly<Record<string, string>> = { StorageClass: 'storageclasses' };

function resourceOf({ apiVersion = 'v1', kind = '', metadata }: KubeObject): Resource<KubeObject> {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const plural = plurals[kind] ?? `${kind.toLowerCase()}s`;
  return { group, version, kind, plural, namespaced: metadata.namespace !== undefined };
}
