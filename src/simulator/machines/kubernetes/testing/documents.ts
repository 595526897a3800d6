import { type Node, Nodes, type Pod, Pods } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { isNotFound, ManualClock } from '../../../../machinery/index.ts';
import { caCertHash } from '../../../../pki/index.ts';
import { readKubeconfig, serverAddress } from '../../../../simkube/index.ts';
import { connectTo } from '../connect.ts';
import type { Lab, LabMachine } from './lab.ts';

export const endpointAddress = '127.64.0.10';
export const token = 'abcdef.0123456789abcdef';
export const configPath = '/run/kubeadm/kubeadm.yaml';

/** Returns the config that Cluster API's kubeadm bootstrap provider writes for the first control-plane machine. */
export const initDocuments = ({ more = '', port = 6443 }: { more?: string; port?: number } = {}): string => `---
apiServer: {}
apiVersion: kubeadm.k8s.io/v1beta4
clusterName: demo
controlPlaneEndpoint: ${endpointAddress}:${port}
controllerManager:
  extraArgs:
  - name: cloud-provider
    value: external
dns: {}
etcd: {}
kind: ClusterConfiguration
kubernetesVersion: v1.33.1
networking:
  dnsDomain: cluster.local
  podSubnet: 192.168.0.0/16
scheduler: {}
---
apiVersion: kubeadm.k8s.io/v1beta4
bootstrapTokens:
- token: ${token}
kind: InitConfiguration
localAPIEndpoint:
  bindPort: ${port}
nodeRegistration:
  imagePullPolicy: IfNotPresent
  kubeletExtraArgs:
  - name: provider-id
    value: openstack:///'server-cp-0'
  name: cp-0
  taints: null
${more}`;

export function joinDocument(
  hash: string,
  options: { controlPlane?: boolean; token?: string; labels?: string; more?: string } = {},
): string {
  return `---
apiVersion: kubeadm.k8s.io/v1beta4
${options.controlPlane ? 'controlPlane:\n  localAPIEndpoint: {}\n' : ''}discovery:
  bootstrapToken:
    apiServerEndpoint: ${endpointAddress}:6443
    caCertHashes:
    - ${hash}
    token: ${options.token ?? token}
  tlsBootstrapToken: ${options.token ?? token}
kind: JoinConfiguration
nodeRegistration:
  imagePullPolicy: IfNotPresent
  kubeletExtraArgs:
  - name: node-labels
    value: ${options.labels ?? 'node.cluster.x-k8s.io/pool=a'}
${options.controlPlane ? '' : '  taints: []\n'}${options.more ?? ''}`;
}

/** Creates an initialized cluster with one control-plane machine. */
export async function initialized(lab: Lab, documents: string = initDocuments()): Promise<LabMachine> {
  const machine = lab.machine('cp-0');
  lab.endpoint(endpointAddress, machine);
  machine.disk.write(configPath, documents);
  const code = await finished(lab, machine.run('kubeadm', 'init', '--config', configPath));
  if (code !== 0) throw new Error(`kubeadm init failed:\n${machine.console()}`);
  return machine;
}

/** Runs a program to its end while the clock advances. */
export async function finished(lab: Lab, program: Promise<number>): Promise<number> {
  let result: { code: number } | { error: unknown } | undefined;
  program.then(
    (code) => {
      result = { code };
    },
    (error: unknown) => {
      result = { error };
    },
  );
  if (lab.clock instanceof ManualClock) await lab.until(() => result !== undefined);
  else await program.catch(() => undefined);
  if (result && 'error' in result) throw result.error;
  return (result as { code: number }).code;
}

export function authorityHash(machine: LabMachine): string {
  return caCertHash(machine.disk.read('/etc/kubernetes/pki/ca.crt')!);
}

/** Copies the files shared by control planes, as their user data does. */
export function shareAuthorities(from: LabMachine, to: LabMachine): void {
  for (const name of [
    'ca.crt',
    'ca.key',
    'front-proxy-ca.crt',
    'front-proxy-ca.key',
    'sa.key',
    'sa.pub',
    'etcd/ca.crt',
    'etcd/ca.key',
  ]) {
    const content = from.disk.read(`/etc/kubernetes/pki/${name}`);
    if (content !== undefined) to.disk.write(`/etc/kubernetes/pki/${name}`, content);
  }
}

/** Builds the administrator's client for the cluster's endpoint. */
export function admin(lab: Lab, machine: LabMachine): Client {
  const facts = readKubeconfig(machine.disk.read('/etc/kubernetes/admin.conf')!, machine.disk)!;
  const { host, port } = serverAddress(facts.server);
  return connectTo(lab.dial(host, port).api!, { ...facts, serverName: host });
}

export async function nodeReady(client: Client, name: string): Promise<string | undefined> {
  const node = await findNode(client, name);
  return node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
}

export async function findNode(client: Client, name: string): Promise<Node | undefined> {
  return client.get(Nodes, { name }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

export async function pods(client: Client, namespace = 'kube-system'): Promise<Pod[]> {
  return (await client.list(Pods, { namespace })).items;
}

export async function joined(
  lab: Lab,
  first: LabMachine,
  name: string,
  options: Parameters<typeof joinDocument>[1] = {},
): Promise<LabMachine> {
  const machine = lab.machine(name);
  if (options.controlPlane) shareAuthorities(first, machine);
  machine.disk.write(configPath, joinDocument(authorityHash(first), options));
  const code = await finished(lab, machine.run('kubeadm', 'join', '--config', configPath));
  if (code !== 0) throw new Error(`kubeadm join failed:\n${machine.console()}`);
  return machine;
}
