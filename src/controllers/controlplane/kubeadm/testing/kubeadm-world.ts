import {
  Clusters,
  ConfigMaps,
  type KubeadmConfig,
  KubeadmConfigs,
  type KubeadmControlPlane,
  type KubeadmControlPlaneSpec,
  KubeadmControlPlanes,
  type Machine,
  Machines,
  type Node,
  Nodes,
  type Pod,
  Pods,
  Secrets,
} from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { isNotFound, type JsonObject, systemClock } from '../../../../machinery/index.ts';
import { createAuthority, createServiceAccountKeyPair } from '../../../../pki/index.ts';
import { after, type ControllerDefinition, defineController, done } from '../../../../runtime/index.ts';
import { controllerOf, isTrue } from '../../../shared/index.ts';
import { FakeClusters, FakeMachineTemplates, infrastructureGroup } from '../../../testing/provider-kinds.ts';
import { by, createWorld, type World, type WorldOptions } from '../../../testing/world.ts';
import { FakeEtcd } from '../../etcd-client/testing/fake-etcd.ts';
import { setupControlPlaneControllers } from '../../setup.ts';

export interface KubeadmWorld extends World {
  readonly etcd: FakeEtcd;
  /** Nodes whose API server certificate was read */
  readonly certificatesAskedFor: string[];
  controlPlane(): Promise<KubeadmControlPlane>;
  machines(): Promise<Machine[]>;
  /** simulates a dead machine: its Pods and Node stop reporting */
  kill(name: string): Promise<void>;
  /** true once all machines are healthy and up to date */
  settled(replicas: number): () => Promise<boolean>;
  patchControlPlane(patch: JsonObject): Promise<void>;
}

export interface KubeadmWorldOptions extends WorldOptions {
  certificateLifeMs?: number;
  /** for the control plane controllers only */
  watchFilter?: string;
  /** called with the node of every etcd member that is connected to */
  etcdOpened?: (node: string) => void;
}

const components = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'etcd'];

/** Starts a world whose machines simulate kubeadm init and join in memory. */
export async function createKubeadmWorld(options: KubeadmWorldOptions = {}): Promise<KubeadmWorld> {
  const etcd = new FakeEtcd();
  const asked: string[] = [];
  let addresses = 0;
  const addressOf = new Map<string, string>();
  const parts: { client?: Client; workload?: Client } = {};
  const world = await createWorld({
    ...options,
    extend(manager, given) {
      setupControlPlaneControllers(manager, {
        ...given,
        etcd: ({ node }) => {
          options.etcdOpened?.(node);
          return etcd.connect(node);
        },
        ...(options.watchFilter !== undefined && { watchFilter: options.watchFilter }),
        servingCertificate: async ({ node }) => {
          asked.push(node);
          return given.clock.now() + (options.certificateLifeMs ?? 365 * 24 * 3_600_000);
        },
      });
    },
    providers(given) {
      Object.assign(parts, given);
      return [bootstrap()];
    },
    async boot(machine, providerId) {
      const { client, workload } = parts as { client: Client; workload: Client };
      const name = machine.metadata.name ?? '';
      const address = addressOf.get(name) ?? `10.0.0.${++addresses}`;
      addressOf.set(name, address);
      const config = await client.get(KubeadmConfigs, { namespace: machine.metadata.namespace ?? '', name });
      await (options.boot ?? bootMachine)(machine, providerId);
      async function bootMachine(): Promise<void> {
        if (config.spec.joinConfiguration?.controlPlane === undefined) await writeKubeadmConfig(workload, machine);
        if (!etcd.names().includes(name)) etcd.join(name, address);
        await startNode(workload, machine, providerId);
        for (const component of components) await putPod(workload, component, name, true);
      }
    },
    async halt(name) {
      const { workload } = parts as { workload: Client };
      etcd.stop(name);
      for (const component of components) await ignoring(workload.delete(Pods, podKey(component, name)));
      await silence(workload, name);
    },
  });
  const { client, namespace, workload } = world;
  const until = world.until.bind(world);
  return Object.assign(world, {
    until: async (condition: () => boolean | Promise<boolean>, limitMs?: number): Promise<void> => {
      try {
        await until(condition, limitMs);
      } catch (error) {
        throw new Error(`${error instanceof Error ? error.message : ''}\n${await describeWorld(world, etcd)}`);
      }
    },
    etcd,
    certificatesAskedFor: asked,
    controlPlane: () => client.get(KubeadmControlPlanes, { namespace, name: 'cp' }),
    machines: async () => (await world.list(Machines)).filter((machine) => controllerOf(machine)?.name === 'cp'),
    async kill(name: string) {
      etcd.stop(name);
      await silence(workload, name);
    },
    settled: (replicas: number) => async () => {
      const all = await world.list(Machines);
      const { status, metadata } = await client.get(KubeadmControlPlanes, { namespace, name: 'cp' });
      return (
        all.length === replicas &&
        all.every((machine) => isTrue(machine, 'Ready') && isTrue(machine, 'UpToDate')) &&
        status?.replicas === replicas &&
        status.readyReplicas === replicas &&
        status.upToDateReplicas === replicas &&
        status.observedGeneration === metadata.generation &&
        isTrue({ status }, 'Available')
      );
    },
    async patchControlPlane(patch: JsonObject) {
      await client.patch(KubeadmControlPlanes, { namespace, name: 'cp' }, 'merge', patch, by);
    },
  });

  function bootstrap(): ControllerDefinition {
    return defineController({
      name: 'fake-kubeadm-config',
      for: KubeadmConfigs,
      async reconcile({ client: api, cache }, key) {
        const config: KubeadmConfig | undefined = cache.lister(KubeadmConfigs).get(key);
        if (!config || !controllerOf(config, Machines) || config.metadata.deletionTimestamp !== undefined)
          return done();
        if (config.status?.initialization?.dataSecretCreated) return done();
        if (config.spec.joinConfiguration?.controlPlane !== undefined) {
          const cluster = await api.get(Clusters, { namespace: key.namespace ?? '', name: 'c1' });
          if (!cluster.status?.initialization?.controlPlaneInitialized) return after(1_000, 'initialization');
        }
        const status = { initialization: { dataSecretCreated: true }, dataSecretName: key.name };
        await api.patch(KubeadmConfigs, key, 'merge', { status }, { ...by, subresource: 'status' });
        return done();
      },
    });
  }
}

/** Creates a cluster with fake infrastructure and a kubeadm control plane. */
export async function createKubeadmCluster(
  world: World,
  spec: Partial<KubeadmControlPlaneSpec> = {},
  options: { failureDomains?: readonly string[]; secrets?: readonly string[] } = {},
): Promise<void> {
  const { client, namespace } = world;
  await bringSecrets(world, options.secrets);
  await client.create(
    FakeClusters,
    {
      apiVersion: `${infrastructureGroup}/v1`,
      kind: 'FakeCluster',
      metadata: { name: 'c1', namespace },
      spec: {},
    },
    by,
  );
  if (options.failureDomains) {
    await world.until(async () => (await world.find(FakeClusters, 'c1'))?.['status'] !== undefined);
    const failureDomains = options.failureDomains.map((name) => ({ name, controlPlane: true }));
    await client.patch(
      FakeClusters,
      { namespace, name: 'c1' },
      'merge',
      { status: { failureDomains } },
      { ...by, subresource: 'status' },
    );
  }
  await createTemplate(world, 'cp');
  await client.create(
    KubeadmControlPlanes,
    {
      apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
      kind: 'KubeadmControlPlane',
      metadata: { name: 'cp', namespace },
      spec: {
        replicas: 1,
        version: 'v1.33.0',
        machineTemplate: {
          spec: { infrastructureRef: { apiGroup: infrastructureGroup, kind: 'FakeMachineTemplate', name: 'cp' } },
        },
        ...spec,
      },
    },
    by,
  );
  await client.create(
    Clusters,
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { name: 'c1', namespace },
      spec: {
        infrastructureRef: { apiGroup: infrastructureGroup, kind: 'FakeCluster', name: 'c1' },
        controlPlaneRef: { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'KubeadmControlPlane', name: 'cp' },
      },
    },
    by,
  );
}

/** Key generation takes real time, so all worlds share the keys. */
let keys: Promise<Record<string, Record<string, string>>> | undefined;

async function makeKeys(): Promise<Record<string, Record<string, string>>> {
  const { certificate, privateKey } = await createAuthority({ commonName: 'kubernetes', clock: systemClock });
  const pair = await createServiceAccountKeyPair();
  const authority = { 'tls.crt': base64(certificate), 'tls.key': base64(privateKey) };
  return {
    ca: authority,
    etcd: authority,
    proxy: authority,
    sa: { 'tls.crt': base64(pair.publicKey), 'tls.key': base64(pair.privateKey) },
    kubeconfig: { value: base64('in process') },
  };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Creates user-supplied certificate Secrets. */
export async function bringSecrets(world: World, purposes?: readonly string[]): Promise<void> {
  keys ??= makeKeys();
  for (const [purpose, data] of Object.entries(await keys)) {
    if (purposes && !purposes.includes(purpose)) continue;
    await world.client.create(
      Secrets,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name: `c1-${purpose}`,
          namespace: world.namespace,
          labels: { 'cluster.x-k8s.io/cluster-name': 'c1' },
        },
        type: 'Opaque',
        data,
      },
      by,
    );
  }
}

export async function createTemplate(world: World, name: string): Promise<void> {
  await world.client.create(
    FakeMachineTemplates,
    {
      apiVersion: `${infrastructureGroup}/v1`,
      kind: 'FakeMachineTemplate',
      metadata: { name, namespace: world.namespace },
      spec: { template: { spec: { flavor: 'small' } } },
    },
    by,
  );
}

async function writeKubeadmConfig(workload: Client, machine: Machine): Promise<void> {
  const text = [
    'apiVersion: kubeadm.k8s.io/v1beta4',
    'kind: ClusterConfiguration',
    'clusterName: c1',
    `kubernetesVersion: ${machine.spec.version}`,
    'networking: {podSubnet: 10.244.0.0/16}',
    'etcd: {local: {dataDir: /var/lib/etcd}}',
    '',
  ].join('\n');
  await ignoring(
    workload.create(
      ConfigMaps,
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'kubeadm-config', namespace: 'kube-system' },
        data: { ClusterConfiguration: text },
      },
      by,
    ),
  );
}

const time = '2026-01-01T00:00:00Z';

async function startNode(workload: Client, machine: Machine, providerID: string): Promise<void> {
  const name = machine.metadata.name ?? '';
  const role = 'node-role.kubernetes.io/control-plane';
  const node: Node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { [role]: '' } },
    spec: { providerID, taints: [{ key: role, effect: 'NoSchedule' }] },
  };
  await ignoring(workload.create(Nodes, node, by));
  await setReady(workload, name, 'True', machine.spec.version ?? '');
}

async function setReady(workload: Client, name: string, status: string, kubeletVersion?: string): Promise<void> {
  const conditions = [
    { type: 'Ready', status, reason: 'Kubelet', lastTransitionTime: time },
    ...['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
      type,
      status: status === 'True' ? 'False' : 'Unknown',
      lastTransitionTime: time,
    })),
  ];
  const nodeInfo = {
    machineID: 'm',
    systemUUID: 's',
    bootID: 'b',
    kernelVersion: '6.1',
    osImage: 'Debian',
    containerRuntimeVersion: 'containerd://2',
    kubeletVersion: kubeletVersion ?? '',
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: 'amd64',
  };
  const patch = { status: { conditions, ...(kubeletVersion !== undefined && { nodeInfo }) } };
  await ignoring(workload.patch(Nodes, { name }, 'merge', patch, { ...by, subresource: 'status' }));
}

const silence = (workload: Client, name: string): Promise<void> => setReady(workload, name, 'Unknown');

const podKey = (component: string, node: string) => ({ namespace: 'kube-system', name: `${component}-${node}` });

/** Writes the status of a static Pod as its kubelet does. */
export async function putPod(workload: Client, component: string, node: string, ready: boolean): Promise<void> {
  const key = podKey(component, node);
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...key,
      labels: { tier: 'control-plane', component },
      annotations: { 'kubernetes.io/config.mirror': 'x' },
    },
    spec: { nodeName: node, containers: [{ name: component, image: 'x' }] },
  };
  await ignoring(workload.create(Pods, pod, by));
  const conditions = ['PodScheduled', 'Initialized', 'Ready'].map((type) => ({
    type,
    status: type === 'Ready' && !ready ? 'False' : 'True',
    lastTransitionTime: time,
  }));
  await workload.patch(
    Pods,
    key,
    'merge',
    { status: { phase: 'Running', conditions } },
    { ...by, subresource: 'status' },
  );
}

/** Ignores AlreadyExists and NotFound. */
async function ignoring(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    const exists = (error as { code?: unknown }).code === 409;
    if (!isNotFound(error) && !exists) throw error;
  });
}

/** Describes the world for the message of a test timeout. */
async function describeWorld(world: World, etcd: FakeEtcd): Promise<string> {
  const lines: string[] = [];
  const tell = (
    prefix: string,
    conditions: readonly { type: string; status: string; message?: string }[] = [],
  ): void => {
    for (const { type, status, message } of conditions) lines.push(`${prefix} ${type}=${status} ${message ?? ''}`);
  };
  tell('control plane', (await world.find(KubeadmControlPlanes, 'cp'))?.status?.conditions);
  for (const { metadata, status, spec } of await world.list(Machines)) {
    lines.push(`machine ${metadata.name} ${spec.version} ${status?.phase} ${JSON.stringify(metadata.annotations)}`);
    tell(' ', status?.conditions);
  }
  lines.push(`etcd ${JSON.stringify(etcd.members)} leader ${etcd.leader}; ${etcd.log.join(', ')}`);
  return lines.join('\n');
}
