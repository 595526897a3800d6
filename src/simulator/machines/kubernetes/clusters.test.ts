import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  ConfigMaps,
  CoreEvents,
  DaemonSets,
  Deployments,
  Leases,
  Nodes,
  PodDisruptionBudgets,
  Pods,
  Secrets,
  Services,
} from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { type KubeObject, systemClock } from '../../../machinery/index.ts';
import { clusterOfApi } from '../../../simkube/index.ts';
import { PodRunner } from './kubelet/pod-runner.ts';
import {
  admin,
  authorityHash,
  configPath,
  endpointAddress,
  findNode,
  finished,
  initDocuments,
  initialized,
  joinDocument,
  joined,
  nodeReady,
  pods,
  shareAuthorities,
} from './testing/documents.ts';
import { createLab, type Lab, type LabMachine, type LabOptions, type MachineOptions, warmUp } from './testing/lab.ts';

beforeAll(warmUp);
let lab: Lab;
afterEach(() => lab?.close());

const by = { fieldManager: 'test' };
const minute = 60_000;

async function begin(options: LabOptions = {}, documents?: string): Promise<{ first: LabMachine; client: Client }> {
  lab = createLab(options);
  const first = await initialized(lab, documents);
  return { first, client: admin(lab, first) };
}

const isReady =
  (client: Client, name: string, status = 'True') =>
  async (): Promise<boolean> =>
    (await nodeReady(client, name)) === status;

const isRefused = (address: string): boolean => {
  try {
    lab.dial(address, 6443);
    return false;
  } catch {
    return true;
  }
};

function daemonSet(name: string, tolerations: object[] = [{ operator: 'Exists' }]): KubeObject {
  const labels = { 'k8s-app': name };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'kube-system' },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { hostNetwork: true, tolerations, containers: [{ name: 'main', image: 'example.org/image:1' }] },
      },
    },
  } as KubeObject;
}

describe('kubeadm init', () => {
  it('leaves what others need to join and upgrade the cluster', async () => {
    const { client } = await begin();
    const read = async (namespace: string, name: string): Promise<Record<string, string>> =>
      (await client.get(ConfigMaps, { namespace, name })).data ?? {};
    expect((await read('kube-system', 'kubeadm-config'))['ClusterConfiguration']).toContain(
      'kubernetesVersion: v1.33.1',
    );
    expect((await read('kube-system', 'kubelet-config'))['kubelet']).toContain('KubeletConfiguration');
    await lab.until(async () => 'jws-kubeconfig-abcdef' in (await read('kube-public', 'cluster-info')));
    const token = await client.get(Secrets, { namespace: 'kube-system', name: 'bootstrap-token-abcdef' });
    expect(token.type).toBe('bootstrap.kubernetes.io/token');
    const dns = await client.get(Services, { namespace: 'kube-system', name: 'kube-dns' });
    expect(dns.spec?.clusterIP).toBe('10.96.0.10');
  });

  it('brings up a control-plane node with its Pods', async () => {
    const { client } = await begin();
    await lab.until(isReady(client, 'cp-0'));
    const node = await findNode(client, 'cp-0');
    expect(node?.spec?.providerID).toBe('openstack:///server-cp-0');
    expect(node?.metadata.labels).toHaveProperty(['node-role.kubernetes.io/control-plane'], '');
    expect(node?.status?.nodeInfo?.kubeletVersion).toBe('v1.33.1');
    await lab.until(async () => (await pods(client)).every((pod) => pod.status?.phase === 'Running'));
    const running = await pods(client);
    expect(running.map(({ metadata }) => metadata.name!.replace(/(-[a-z0-9]{6,10})?-[a-z0-9]{5}$/, '')).sort()).toEqual(
      [
        'coredns',
        'coredns',
        'etcd-cp-0',
        'kube-apiserver-cp-0',
        'kube-controller-manager-cp-0',
        'kube-proxy',
        'kube-scheduler-cp-0',
      ],
    );
    const etcd = running.find(({ metadata }) => metadata.name === 'etcd-cp-0')!;
    expect(etcd.metadata.labels).toEqual({ component: 'etcd', tier: 'control-plane' });
    expect(etcd.metadata.annotations).toMatchObject({
      'kubeadm.kubernetes.io/etcd.advertise-client-urls': 'https://10.6.0.10:2379',
      'kubernetes.io/config.source': 'file',
    });
  });

  it.each<[what: string, documents: string, machine: MachineOptions, words: string]>([
    ['a document that is no YAML', 'a: [', {}, 'error converting YAML to JSON'],
    ['a version that is none', initDocuments().replace('v1.33.1', 'newest'), {}, 'version "newest" doesn\'t match'],
    [
      'a version two minors older than kubeadm',
      initDocuments(),
      { image: 'ubuntu-kube-v1.35.0' },
      'control plane version >= 1.34.0. Current version: v1.33.1',
    ],
    [
      'a machine that is too small',
      initDocuments(),
      { vcpus: 1 },
      '[ERROR NumCPU]: the number of available CPUs 1 is less than the required 2',
    ],
    [
      'a format its kubeadm does not read',
      initDocuments(),
      { image: 'ubuntu-kube-v1.30.1' },
      'no kind "ClusterConfiguration" is registered for version "kubeadm.k8s.io/v1beta4"',
    ],
  ])('refuses %s on the console', async (_what, documents, options, words) => {
    lab = createLab();
    const machine = lab.machine('cp-0', options);
    machine.disk.write(configPath, documents);
    expect(await finished(lab, machine.run('kubeadm', 'init', '--config', configPath))).toBe(1);
    expect(machine.console()).toContain(words);
  });

  it('continues when a user ignores a check', async () => {
    lab = createLab();
    const machine = lab.machine('cp-0', { vcpus: 1 });
    lab.endpoint(endpointAddress, machine);
    machine.disk.write(configPath, initDocuments());
    const args = ['init', '--config', configPath, '--ignore-preflight-errors=NumCPU', '--v=5'];
    expect(await finished(lab, machine.run('kubeadm', ...args)), machine.console()).toBe(0);
  });

  it('uses the given authorities and refuses a key of another', async () => {
    const { first } = await begin();
    const second = lab.machine('cp-x');
    shareAuthorities(first, second);
    second.disk.write('/etc/kubernetes/pki/ca.key', first.disk.read('/etc/kubernetes/pki/etcd/ca.key')!);
    second.disk.write(configPath, initDocuments());
    expect(await finished(lab, second.run('kubeadm', 'init', '--config', configPath))).toBe(1);
    expect(second.console()).toContain('do not belong together');
  });
});

describe('kubeadm join', () => {
  it('makes a worker that becomes Ready, with labels and a lease', async () => {
    const { first, client } = await begin();
    const worker = await joined(lab, first, 'worker-0');
    await lab.until(isReady(client, 'worker-0'));
    const node = await findNode(client, 'worker-0');
    expect(node?.metadata.labels).toHaveProperty(['node.cluster.x-k8s.io/pool'], 'a');
    expect(node?.spec?.taints).toBeUndefined();
    const lease = await client.get(Leases, { namespace: 'kube-node-lease', name: 'worker-0' });
    expect(lease.spec?.holderIdentity).toBe('worker-0');
    expect(worker.disk.read('/var/lib/kubelet/pki/kubelet-client-current.pem')).toContain('BEGIN CERTIFICATE');
  });

  it('fails with an expired token', async () => {
    const short = initDocuments().replace('- token: abcdef', '- ttl: 2m0s\n  token: abcdef');
    const { first, client } = await begin({}, short);
    const tokens = async (): Promise<number> =>
      (await client.list(Secrets, { namespace: 'kube-system' })).items.filter(({ type }) =>
        type?.startsWith('bootstrap'),
      ).length;
    await lab.until(async () => (await tokens()) === 0);
    const machine = lab.machine('worker-0');
    machine.disk.write(configPath, joinDocument(authorityHash(first)));
    expect(await finished(lab, machine.run('kubeadm', 'join', '--config', configPath))).toBe(1);
    expect(machine.console()).toContain('could not find a JWS signature');
  });

  it('refuses a machine whose version is too new for the control plane', async () => {
    const { first } = await begin();
    const machine = lab.machine('worker-0', { image: 'ubuntu-2204-kube-v1.35.2' });
    machine.disk.write(configPath, joinDocument(authorityHash(first)));
    expect(await finished(lab, machine.run('kubeadm', 'join', '--config', configPath))).toBe(1);
    expect(machine.console()).toContain('only supports deploying clusters with the control plane version >= 1.34.0');
  });

  it('waits for an API that comes up later', async () => {
    const { first, client } = await begin();
    lab.endpoint(endpointAddress);
    const machine = lab.machine('worker-0');
    machine.disk.write(configPath, joinDocument(authorityHash(first)));
    const running = machine.run('kubeadm', 'join', '--config', configPath);
    lab.clock.after(minute, () => lab.endpoint(endpointAddress, first));
    expect(await finished(lab, running)).toBe(0);
    await lab.until(isReady(client, 'worker-0'));
  });
});

describe('a machine that cannot join', () => {
  let shared: Lab;
  let first: LabMachine;
  let refused = 0;
  beforeAll(async () => {
    shared = createLab();
    first = await initialized(shared);
  });
  afterAll(() => shared.close());

  it.each<[what: string, document: (hash: string) => string, words: string]>([
    ['another authority', () => joinDocument(`sha256:${'0'.repeat(64)}`), 'none of the public keys'],
    [
      'a token the cluster does not know',
      (hash) => joinDocument(hash, { token: 'zzzzzz.0123456789abcdef' }),
      'could not find a JWS signature in the cluster-info ConfigMap for token ID "zzzzzz"',
    ],
    [
      'a token with a wrong secret',
      (hash) => joinDocument(hash, { token: 'abcdef.ffffffffffffffff' }),
      "can't trust this API Server",
    ],
    [
      'an endpoint nobody listens at',
      (hash) => joinDocument(hash).replace(endpointAddress, '127.64.0.99'),
      'connection refused',
    ],
    [
      'no way to check the authority',
      (hash) => joinDocument(hash).replace(/ {4}caCertHashes:\n.*\n/, ''),
      'using token-based discovery without caCertHashes can be unsafe',
    ],
    [
      'a control plane without the shared certificates',
      (hash) => joinDocument(hash, { controlPlane: true }),
      'failure loading certificate for CA',
    ],
  ])('fails with %s and says so', async (_what, document, words) => {
    const machine = shared.machine(`worker-${++refused}`);
    machine.disk.write(configPath, document(authorityHash(first)));
    expect(await finished(shared, machine.run('kubeadm', 'join', '--config', configPath))).toBe(1);
    expect(machine.console()).toContain(words);
    expect(await findNode(admin(shared, first), `worker-${refused}`)).toBeUndefined();
  });
});

describe('a control plane of three machines', () => {
  async function three(): Promise<{ machines: LabMachine[]; client: Client }> {
    const { first } = await begin();
    const machines = [
      first,
      await joined(lab, first, 'cp-1', { controlPlane: true }),
      await joined(lab, first, 'cp-2', { controlPlane: true }),
    ];
    lab.endpoint(endpointAddress, ...machines);
    return { machines, client: admin(lab, first) };
  }

  it('serves the same objects everywhere', async () => {
    const { machines } = await three();
    const [first, , third] = machines;
    lab.endpoint(endpointAddress, third!);
    await lab.until(isReady(admin(lab, first!), 'cp-2'));
    const node = await findNode(admin(lab, first!), 'cp-2');
    expect(node?.spec?.taints).toEqual([{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }]);
  });

  it('answers while a majority runs, fails without one, and recovers', async () => {
    const { machines } = await three();
    const [first, second, third] = machines as [LabMachine, LabMachine, LabMachine];
    first.off();
    expect((await admin(lab, first).list(Nodes)).items).toHaveLength(3);
    second.off();
    const asked = admin(lab, first).list(Nodes);
    let problem = '';
    asked.catch((error: Error) => {
      problem = error.message;
    });
    await lab.until(() => problem !== '');
    expect(problem).toBe('etcdserver: request timed out');
    await expect(lab.dial(endpointAddress, 6443).api!.raw('/readyz')).rejects.toThrow('etcd failed');
    second.on();
    await lab.until(
      async () =>
        (await lab
          .dial(endpointAddress, 6443)
          .api!.raw('/readyz')
          .catch(() => '')) === 'ok',
    );
    expect((await admin(lab, third).list(Nodes)).items).toHaveLength(3);
  });
});

describe('the Node of a further control-plane machine', () => {
  async function membersWhenItAppears(documents: string): Promise<{ names: string[]; kubeletServer: string }> {
    const { first, client } = await begin({}, documents);
    const second = lab.machine('cp-1');
    shareAuthorities(first, second);
    second.disk.write(configPath, joinDocument(authorityHash(first), { controlPlane: true }));
    const running = second.run('kubeadm', 'join', '--config', configPath);
    await lab.until(async () => (await findNode(client, 'cp-1')) !== undefined);
    const { etcd } = clusterOfApi(lab.dial(endpointAddress, 6443).api)!;
    const names = etcd.members.filter(({ isLearner }) => !isLearner).map(({ name }) => name);
    expect(await finished(lab, running), second.console()).toBe(0);
    await lab.until(isReady(client, 'cp-1'));
    const [, kubeletServer = ''] = /server: (\S+)/.exec(second.disk.read('/etc/kubernetes/kubelet.conf')!) ?? [];
    return { names, kubeletServer };
  }

  it('appears with the local API server when its etcd member has a name and a vote', async () => {
    expect(await membersWhenItAppears(initDocuments())).toEqual({
      names: ['cp-0', 'cp-1'],
      kubeletServer: 'https://10.6.0.11:6443',
    });
  });

  it('appears before its etcd member where kubelets use the cluster endpoint', async () => {
    const documents = initDocuments().replace(
      'kind: ClusterConfiguration\n',
      'kind: ClusterConfiguration\nfeatureGates: {ControlPlaneKubeletLocalMode: false}\n',
    );
    expect(await membersWhenItAppears(documents)).toEqual({
      names: ['cp-0'],
      kubeletServer: `https://${endpointAddress}:6443`,
    });
  });
});

describe('a control-plane machine whose etcd member is removed', () => {
  it('listens until the call that removed the member is answered, and then no more', async () => {
    const { first } = await begin();
    const second = await joined(lab, first, 'cp-1', { controlPlane: true });
    const { etcd } = clusterOfApi(lab.dial(second.address, 6443).api)!;
    etcd.remove(etcd.members.find(({ name }) => name === 'cp-1')!.id);
    expect(second.console()).toContain('has been permanently removed from the cluster');
    expect(await lab.dial(second.address, 6443).api!.raw('/version')).toBe('ok');
    await lab.until(() => isRefused(second.address));
    expect(await lab.dial(first.address, 6443).api!.raw('/readyz')).toBe('ok');
  });

  it('reports the removal even when nobody has seen its Node yet', async () => {
    const { first, client } = await begin();
    const second = lab.machine('cp-1');
    shareAuthorities(first, second);
    second.disk.write(configPath, joinDocument(authorityHash(first), { controlPlane: true }));
    const running = second.run('kubeadm', 'join', '--config', configPath);
    const { etcd } = clusterOfApi(lab.dial(endpointAddress, 6443).api)!;
    const member = (): { id: string } | undefined => etcd.members.find(({ name }) => name === 'cp-1');
    await lab.until(() => member() !== undefined);
    etcd.remove(member()!.id);
    expect(await finished(lab, running)).toBe(1);
    expect(second.console()).toContain('has been permanently removed from the cluster');
    expect(await findNode(client, 'cp-1')).toBeUndefined();
  });
});

describe('a machine that is powered off', () => {
  it('becomes an unknown node with taints, and Ready again after a reboot', async () => {
    const { first, client } = await begin();
    const worker = await joined(lab, first, 'worker-0');
    await lab.until(isReady(client, 'worker-0'));
    worker.off();
    await lab.until(isReady(client, 'worker-0', 'Unknown'), 3 * minute);
    await lab.until(async () => (await findNode(client, 'worker-0'))?.spec?.taints?.length === 2);
    expect((await findNode(client, 'worker-0'))?.spec?.taints?.map(({ key, effect }) => `${key}:${effect}`)).toEqual([
      'node.kubernetes.io/unreachable:NoSchedule',
      'node.kubernetes.io/unreachable:NoExecute',
    ]);
    worker.on();
    await lab.until(isReady(client, 'worker-0'), 2 * minute);
    await lab.until(async () => (await findNode(client, 'worker-0'))?.spec?.taints === undefined);
  });

  it('runs the Pods it finds after a reboot, also if they cannot be listed at first', async () => {
    const { first, client } = await begin();
    const worker = await joined(lab, first, 'worker-0');
    await lab.until(isReady(client, 'worker-0'));
    worker.off();
    const key = { namespace: 'kube-system', name: 'agent' };
    const containers = [{ name: 'main', image: 'example.org/image:1' }];
    const spec = { nodeName: 'worker-0', hostNetwork: true, containers };
    await client.create(Pods, { apiVersion: 'v1', kind: 'Pod', metadata: key, spec }, by);
    const list = vi.spyOn(PodRunner.prototype, 'takeAll').mockRejectedValueOnce(new Error('etcdserver: timed out'));
    worker.on();
    await lab.until(async () => (await client.get(Pods, key)).status?.phase === 'Running', 2 * minute);
    expect(list).toHaveBeenCalledTimes(2);
    list.mockRestore();
  });

  it('corrects a wrong NotReady of its static Pods after the node was silent', async () => {
    const { client } = await begin();
    await lab.until(isReady(client, 'cp-0'));
    const key = { namespace: 'kube-system', name: 'etcd-cp-0' };
    const readiness = async () =>
      (await client.get(Pods, key)).status?.conditions?.find(({ type }) => type === 'Ready');
    await lab.until(async () => (await readiness())?.status === 'True');
    const declared = { type: 'Ready', status: 'False', reason: 'NodeNotReady' };
    await client.patch(
      Pods,
      key,
      'strategic',
      { status: { conditions: [declared] } },
      { ...by, subresource: 'status' },
    );
    // Much earlier than the next full status report.
    await lab.until(async () => (await readiness())?.status === 'True', minute);
  });

  it('keeps the data of its cluster', async () => {
    const { first, client } = await begin();
    await client.create(
      ConfigMaps,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept', namespace: 'default' } },
      by,
    );
    first.off();
    expect(() => admin(lab, first)).toThrow('ECONNREFUSED');
    await expect(client.list(Nodes)).rejects.toThrow('connection to the API server was lost');
    first.on();
    await lab.until(() => first.running.signal !== undefined && hasApi(first));
    expect((await admin(lab, first).get(ConfigMaps, { namespace: 'default', name: 'kept' })).metadata.name).toBe(
      'kept',
    );
  });

  const hasApi = (_machine: LabMachine): boolean => {
    try {
      return lab.dial(endpointAddress, 6443).api !== undefined;
    } catch {
      return false;
    }
  };
});

describe('unknown flags', () => {
  it('keep an API server from starting, with its words on the console', async () => {
    lab = createLab();
    const documents = initDocuments().replace(
      'apiServer: {}',
      'apiServer:\n  extraArgs:\n  - name: cloud-provider\n    value: external',
    );
    const machine = lab.machine('cp-0');
    lab.endpoint(endpointAddress, machine);
    machine.disk.write(configPath, documents);
    expect(await finished(lab, machine.run('kubeadm', 'init', '--config', configPath))).not.toBe(0);
    expect(machine.console()).toContain('kube-apiserver: Error: unknown flag: --cloud-provider');
  });

  it('keep a kubelet from starting', async () => {
    const { first, client } = await begin();
    const worker = lab.machine('worker-0');
    const flags = 'kubeletExtraArgs:\n  - name: container-runtime\n    value: remote';
    worker.disk.write(configPath, joinDocument(authorityHash(first)).replace('kubeletExtraArgs:', flags));
    void worker.run('kubeadm', 'join', '--config', configPath).catch(() => undefined);
    await lab.until(() => worker.console().includes('failed to parse kubelet flag: unknown flag: --container-runtime'));
    expect(await findNode(client, 'worker-0')).toBeUndefined();
  });
});

describe('the kubelet of a machine', () => {
  it('has the version of its image, whatever version is asked for', async () => {
    lab = createLab();
    const machine = lab.machine('cp-0', { image: 'ubuntu-2204-kube-v1.33.0' });
    lab.endpoint(endpointAddress, machine);
    machine.disk.write(configPath, initDocuments());
    expect(await finished(lab, machine.run('kubeadm', 'init', '--config', configPath)), machine.console()).toBe(0);
    const client = admin(lab, machine);
    await lab.until(async () => (await findNode(client, 'cp-0'))?.status?.nodeInfo !== undefined);
    expect((await findNode(client, 'cp-0'))?.status?.nodeInfo?.kubeletVersion).toBe('v1.33.0');
    const plane = (await pods(client)).find(({ metadata }) => metadata.name === 'kube-apiserver-cp-0');
    expect(plane?.spec.containers[0]?.image).toContain(':v1.33.1');
  });
});

describe('a cluster whose images bring no CNI', () => {
  it('has nodes that are not Ready until a CNI runs on them', async () => {
    const { client } = await begin({ cni: 'required' });
    await lab.until(async () =>
      ((await findNode(client, 'cp-0'))?.status?.conditions ?? []).some(({ message }) =>
        message?.includes('cni plugin not initialized'),
      ),
    );
    const dns = (): Promise<string[]> =>
      pods(client).then((all) =>
        all.filter(({ metadata }) => metadata.name!.startsWith('coredns')).map(({ status }) => status?.phase ?? ''),
      );
    expect(await dns()).toEqual(['Pending', 'Pending']);
    await client.create(DaemonSets, daemonSet('calico-node') as never, by);
    await lab.until(isReady(client, 'cp-0'));
    await lab.until(async () => (await dns()).every((phase) => phase === 'Running'));
  });
});

describe('workloads', () => {
  it('may be evicted as far as a disruption budget allows', async () => {
    const { client } = await begin();
    const key = { namespace: 'kube-system', name: 'dns' };
    const spec = { maxUnavailable: 1, selector: { matchLabels: { 'k8s-app': 'kube-dns' } } };
    await client.create(
      PodDisruptionBudgets,
      { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: key, spec },
      by,
    );
    await lab.until(async () => (await client.get(PodDisruptionBudgets, key)).status?.disruptionsAllowed === 1);
  });

  it('roll, scale and leave tainted nodes alone', async () => {
    const { first, client } = await begin();
    await joined(lab, first, 'worker-0');
    await lab.until(isReady(client, 'worker-0'));
    const labels = { app: 'web' };
    const key = { namespace: 'default', name: 'web' };
    await client.create(
      Deployments,
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: key,
        spec: {
          replicas: 3,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
        },
      },
      by,
    );
    const available = async (): Promise<string> => {
      const { status } = await client.get(Deployments, key);
      return `${status?.updatedReplicas}/${status?.availableReplicas}/${status?.replicas}`;
    };
    await lab.until(async () => (await available()) === '3/3/3');
    expect(new Set((await pods(client, 'default')).map(({ spec }) => spec.nodeName))).toEqual(new Set(['worker-0']));
    await client.patch(
      Deployments,
      key,
      'strategic',
      { spec: { template: { spec: { containers: [{ name: 'web', image: 'web:2' }] } } } },
      by,
    );
    await lab.until(
      async () =>
        (await pods(client, 'default')).every(({ spec }) => spec.containers[0]?.image === 'web:2') &&
        (await available()) === '3/3/3',
    );
    await client.patch(Deployments, key, 'merge', { spec: { replicas: 1 } }, by);
    await lab.until(async () => (await pods(client, 'default')).length === 1);
    await client.delete(Deployments, key, { propagationPolicy: 'Background' });
    await lab.until(async () => (await pods(client, 'default')).length === 0);
  });

  it('wait for what they mount and say so', async () => {
    const { first, client } = await begin();
    await joined(lab, first, 'worker-0');
    const key = { namespace: 'default', name: 'needy' };
    const spec = {
      containers: [{ name: 'a', image: 'b' }],
      volumes: [{ name: 'keys', secret: { secretName: 'keys' } }],
    };
    await client.create(Pods, { apiVersion: 'v1', kind: 'Pod', metadata: key, spec }, by);
    const reasons = async (): Promise<string[]> =>
      (await client.list(CoreEvents, { namespace: 'default' })).items.map(
        ({ reason, message }) => `${reason}: ${message}`,
      );
    await lab.until(async () =>
      (await reasons()).includes('FailedMount: MountVolume.SetUp failed for volume "keys" : secret "keys" not found'),
    );
    expect((await client.get(Pods, key)).status?.phase).toBe('Pending');
    await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { ...key, name: 'keys' } }, by);
    await lab.until(async () => (await client.get(Pods, key)).status?.phase === 'Running');
  });

  it('stay failed when somebody else writes that they failed', async () => {
    const { first, client } = await begin();
    await joined(lab, first, 'worker-0');
    const key = { namespace: 'default', name: 'evicted' };
    const spec = { containers: [{ name: 'a', image: 'b' }] };
    await client.create(Pods, { apiVersion: 'v1', kind: 'Pod', metadata: key, spec }, by);
    const status = async () => (await client.get(Pods, key)).status;
    await lab.until(async () => (await status())?.phase === 'Running');
    const failed = { status: { phase: 'Failed', reason: 'Evicted', message: 'enough' } };
    await client.patch(Pods, key, 'merge', failed, { ...by, subresource: 'status' });
    await lab.until(async () => (await status())?.containerStatuses?.[0]?.state?.terminated !== undefined);
    expect(await status()).toMatchObject({ phase: 'Failed', reason: 'Evicted', message: 'enough' });
    const later = lab.clock.now() + 10 * minute;
    await lab.until(() => lab.clock.now() >= later, 11 * minute);
    expect((await status())?.phase).toBe('Failed');
  });

  it('end as their commands end', async () => {
    const { first, client } = await begin();
    await joined(lab, first, 'worker-0');
    const run = async (name: string, command: string[]): Promise<void> => {
      const spec = { restartPolicy: 'Never', containers: [{ name: 'a', image: 'busybox:1', command }] };
      const metadata = { namespace: 'default', name };
      await client.create(Pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec }, by);
    };
    const phase = async (name: string): Promise<string | undefined> =>
      (await client.get(Pods, { namespace: 'default', name })).status?.phase;
    await run('good', ['/bin/true']);
    await run('bad', ['false']);
    await lab.until(async () => (await phase('good')) === 'Succeeded' && (await phase('bad')) === 'Failed');
  });

  it('wait with a reason when no node fits', async () => {
    const { client } = await begin();
    await lab.until(isReady(client, 'cp-0'));
    const key = { namespace: 'default', name: 'lonely' };
    await client.create(
      Pods,
      { apiVersion: 'v1', kind: 'Pod', metadata: key, spec: { containers: [{ name: 'a', image: 'b' }] } },
      by,
    );
    await lab.until(async () => {
      const { status } = await client.get(Pods, key);
      return (
        status?.conditions?.some(({ message }) =>
          message?.includes('untolerated taint {node-role.kubernetes.io/control-plane: }'),
        ) ?? false
      );
    });
    await lab.until(async () =>
      (await client.list(CoreEvents, { namespace: 'default' })).items.some(
        ({ reason, type, message }) =>
          type === 'Warning' &&
          reason === 'FailedScheduling' &&
          message?.startsWith('0/1 nodes are available: 1 node(s) had'),
      ),
    );
  });
});

describe('a persistent cloud with clusters', () => {
  it('finds its clusters again after a restart and removes them with their last machine', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'capstan-kubernetes-'));
    const disks = new Map<string, Map<string, string>>();
    const timings = { 'node.etcd': 1, 'node.apiserver': 1, 'node.join': 1 };
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept', namespace: 'default' } };
    try {
      // The disk of a durable store works in real time.
      const { client } = await begin({ directory, disks, timings, clock: systemClock });
      await client.create(ConfigMaps, configMap, by);
      await lab.close();
      lab = createLab({ directory, disks, timings, clock: systemClock });
      const first = lab.machine('cp-0');
      lab.endpoint(endpointAddress, first);
      await vi.waitFor(async () => {
        const kept = await admin(lab, first).get(ConfigMaps, { namespace: 'default', name: 'kept' });
        expect(kept.metadata.name).toBe('kept');
      }, patience);
      first.remove();
      await vi.waitFor(() => expect(readdirSync(directory)).toEqual([]), patience);
    } finally {
      await lab.close();
      rmSync(directory, { recursive: true, force: true });
    }
  }, 30_000);
  const patience = { timeout: 15_000, interval: 20 };
});
