import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatYaml } from '../../src/machinery/index.ts';
import type { RealKubernetes } from '../conformance/real-kubernetes.ts';
import { kubectlOn } from '../support/kubectl.ts';
import { pauseImage } from './images.ts';
import { nodeAddress, nodeName, podRange } from './network.ts';
import { command, type Processes } from './processes.ts';
import type { RealityPrograms } from './programs.ts';

export interface NodeOptions {
  readonly directory: string;
  readonly programs: RealityPrograms;
  readonly kubernetes: RealKubernetes;
  readonly processes: Processes;
  /** URL of the image registry */
  readonly registry: string;
}

const pluginDirectory = '/usr/lib/cni';

/**
 * Starts containerd, kubelet, kube-proxy, a scheduler and DNS, which add Pods and Services to a control plane without
 * nodes.
 */
export async function startNode(options: NodeOptions): Promise<void> {
  const { processes, programs, kubernetes } = options;
  const { kubeconfig } = kubernetes;
  await startContainerd(options);
  const loopback = ['--bind-address=127.0.0.1', '--leader-elect=false', `--kubeconfig=${kubeconfig}`];
  await processes.start('kube-scheduler', programs.host['kube-scheduler'], loopback);
  await startDns(options);
  await startKubelet(options);
  await startProxy(options);
  await isReady(options);
}

async function isReady({ processes, kubernetes, directory }: NodeOptions): Promise<void> {
  const kubectl = kubectlOn(kubernetes.kubeconfig, directory);
  await processes.until('kubelet', async () => {
    await kubectl('wait', `node/${nodeName}`, '--for=condition=Ready', '--timeout=1s');
  });
}

/** Kills all containers with kubelet and containerd, as a loss of power does, and starts the node again. */
export async function crashNode(options: NodeOptions): Promise<void> {
  const { processes } = options;
  const kubeletAgain = await processes.kill('kubelet');
  const containerdAgain = await processes.kill('containerd');
  for (const pid of await containerProcesses()) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended with another one.
    }
  }
  await containerdAgain();
  await containerdAnswers(options);
  await kubeletAgain();
  await isReady(options);
}

/** Returns the shims of containerd and everything that they started. */
async function containerProcesses(): Promise<number[]> {
  const rows = (await command('ps', '-eo', 'pid=,ppid=,comm=')).trimEnd().split('\n');
  const found = new Set<number>();
  // A parent has started before its children, but may have the larger number, so one pass is not enough.
  for (let before = -1; found.size > before; ) {
    before = found.size;
    for (const row of rows) {
      const [pid = '', parent = '', name = ''] = row.trim().split(/\s+/);
      if (name.startsWith('containerd-shim') || found.has(Number(parent))) found.add(Number(pid));
    }
  }
  return [...found];
}

export const containerdSocket = (directory: string): string => join(directory, 'containerd.sock');
const socketOf = ({ directory }: NodeOptions): string => containerdSocket(directory);

async function startContainerd(options: NodeOptions): Promise<void> {
  const { directory, processes, registry } = options;
  const networks = join(directory, 'cni');
  const hosts = join(directory, 'registries');
  await mkdir(networks);
  await mkdir(join(hosts, 'registry.k8s.io'), { recursive: true });
  await writeFile(
    join(hosts, 'registry.k8s.io', 'hosts.toml'),
    `server = "https://registry.k8s.io"\n\n[host."${registry}"]\ncapabilities = ["pull", "resolve"]\n`,
  );
  const bridge = {
    type: 'bridge',
    bridge: 'pods0',
    isGateway: true,
    hairpinMode: true,
    ipMasq: true,
    ipam: {
      type: 'host-local',
      dataDir: join(directory, 'addresses'),
      ranges: [[{ subnet: podRange }]],
      routes: [{ dst: '0.0.0.0/0' }],
    },
  };
  const list = { cniVersion: '1.0.0', name: 'reality', plugins: [bridge] };
  await writeFile(join(networks, '10-reality.conflist'), JSON.stringify(list));
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  const config = [
    'version = 2',
    `root = "${join(directory, 'containerd')}"`,
    `state = "${join(directory, 'containerd-state')}"`,
    `[grpc]\naddress = "${socketOf(options)}"`,
    // On some machines root cannot lower oom_score_adj.
    `[${cri}]\nsandbox_image = "${pauseImage}"\nrestrict_oom_score_adj = true`,
    `[${cri}.cni]\nbin_dir = "${pluginDirectory}"\nconf_dir = "${networks}"`,
    `[${cri}.registry]\nconfig_path = "${hosts}"`,
    `[${cri}.containerd.runtimes.runc]\nruntime_type = "io.containerd.runc.v2"`,
  ];
  const file = join(directory, 'containerd.toml');
  await writeFile(file, `${config.join('\n')}\n`);
  await processes.start('containerd', 'containerd', ['--config', file]);
  await containerdAnswers(options);
}

async function containerdAnswers(options: NodeOptions): Promise<void> {
  const ask = async (): Promise<void> => void (await command('ctr', '-a', socketOf(options), 'version'));
  await options.processes.until('containerd', ask);
}

async function startDns({ directory, processes, programs, kubernetes }: NodeOptions): Promise<void> {
  const file = join(directory, 'Corefile');
  await writeFile(
    file,
    [
      '.:53 {',
      `  bind ${nodeAddress}`,
      '  errors',
      '  ready 127.0.0.1:8181',
      '  kubernetes cluster.local in-addr.arpa {',
      `    kubeconfig ${kubernetes.kubeconfig}`,
      '    ttl 1',
      '  }',
      '}',
      '',
    ].join('\n'),
  );
  await processes.start('coredns', programs.dns, ['-conf', file]);
  await processes.until('coredns', async () => {
    const { ok } = await fetch('http://127.0.0.1:8181/ready');
    if (!ok) throw new Error('it is not ready');
  });
}

async function startKubelet(options: NodeOptions): Promise<void> {
  const { directory, processes, programs, kubernetes } = options;
  const root = join(directory, 'kubelet');
  const resolver = join(directory, 'resolv.conf');
  await mkdir(root);
  await writeFile(resolver, '');
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: nodeAddress,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: false },
      x509: { clientCAFile: kubernetes.authorityFile },
    },
    authorization: { mode: 'AlwaysAllow' },
    // Works without systemd and with cgroup v1.
    cgroupDriver: 'cgroupfs',
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    failCgroupV1: false,
    failSwapOn: false,
    clusterDNS: [nodeAddress],
    clusterDomain: 'cluster.local',
    resolvConf: resolver,
    containerRuntimeEndpoint: `unix://${socketOf(options)}`,
    // Avoids evictions on a nearly full disk.
    evictionHard: { 'nodefs.available': '1%', 'imagefs.available': '1%', 'memory.available': '50Mi' },
    healthzBindAddress: '127.0.0.1',
    podLogsDir: join(directory, 'pod-logs'),
    volumePluginDir: join(directory, 'volume-plugins'),
    nodeStatusUpdateFrequency: '5s',
  };
  const file = join(directory, 'kubelet.yaml');
  await writeFile(file, formatYaml(config));
  await processes.start('kubelet', programs.host.kubelet, [
    `--config=${file}`,
    `--kubeconfig=${kubernetes.kubeconfig}`,
    `--root-dir=${root}`,
    `--cert-dir=${join(root, 'pki')}`,
    `--hostname-override=${nodeName}`,
    `--node-ip=${nodeAddress}`,
  ]);
}

async function startProxy({ directory, processes, programs, kubernetes }: NodeOptions): Promise<void> {
  const config = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig: kubernetes.kubeconfig },
    clusterCIDR: podRange,
    hostnameOverride: nodeName,
    bindAddress: nodeAddress,
    healthzBindAddress: '127.0.0.1:10256',
    metricsBindAddress: '127.0.0.1:10249',
    mode: 'iptables',
    // Keeps conntrack settings of the whole machine unchanged.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  };
  const file = join(directory, 'kube-proxy.yaml');
  await writeFile(file, formatYaml(config));
  await processes.start('kube-proxy', programs.host['kube-proxy'], [`--config=${file}`]);
}
