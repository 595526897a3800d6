import type { Duplex } from 'node:stream';
import { type Lease, Leases, type Node, Nodes, type Pod } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import {
  asJson,
  errorMessage,
  formatMicroTime,
  isAlreadyExists,
  isNotFound,
  must,
  statusError,
  type UnstructuredObject,
} from '../../../../machinery/index.ts';
import {
  createEventBroadcaster,
  type EventBroadcaster,
  foreignReason,
  type Logger,
} from '../../../../runtime/index.ts';
import type {
  ClusterNode,
  ClusterRegistry,
  PortService,
  ReachableApi,
  SimulatedKubernetes,
  WorkloadCluster,
} from '../../../../simkube/index.ts';
import {
  createAddressPool,
  createSimulatedBackend,
  duplexPair,
  httpService,
  type KubeconfigFacts,
  readKubeconfig,
  serverAddress,
  simulatedProgram,
} from '../../../../simkube/index.ts';
import { UnreachableError } from '../../network/unreachable.ts';
import type { RunningMachine } from '../../types.ts';
import { connectWith } from '../connect.ts';
import { controlPlaneComponents, paths } from '../kubeadm/names.ts';
import type { CniRule } from '../options.ts';
import { hasNetworkConfig } from './cni.ts';
import { ControlPlane } from './control-plane.ts';
import { csiDirectory, registeredDrivers, volumeRoot, writeCsiNode } from './csi.ts';
import { readKubeletFlags } from './flags.ts';
import { FollowedApi } from './followed-api.ts';
import type { KubeletHome } from './home.ts';
import { diskTree } from './host-files.ts';
import { kubeletFlagProblem } from './known-flags.ts';
import { layoutOf, staticPodPath } from './layout.ts';
import { ensureMirrorPods, isMirrorPod } from './mirror-pods.ts';
import {
  allocatableOf,
  containerRuntime,
  type NodeFacts,
  newNode,
  nodeStatus,
  noNetwork,
  notReadyYet,
} from './node-object.ts';
import { oneAfterTheOther } from './one-after-the-other.ts';
import { PodRunner, wasDeclaredNotReady } from './pod-runner.ts';
import { resourceMetrics } from './resource-metrics.ts';

export interface KubeletOptions {
  readonly machine: RunningMachine;
  readonly registry: ClusterRegistry;
  /** state shared by the programs of all containers */
  readonly kubernetes: SimulatedKubernetes;
  readonly cni: CniRule;
  readonly log: Logger;
}

const fieldManager = 'kubelet';
const writes = { fieldManager };
const leaseSeconds = 40;
/** number of heartbeats between full status reports: five minutes */
const statusEvery = 30;
const retryMs = 2_000;
const lookMs = 10_000;
const usualRoot = '/var/lib/kubelet';
const kubeletPort = 10_250;
const k0sRoot = '/var/lib/k0s/';

/** Start parameters of a kubelet, from kubeadm's unit or from k0s. */
export interface KubeletSetup {
  readonly kubeconfigFile: string;
  readonly flags: ReadonlyMap<string, string>;
  readonly version: string;
  /** additional API servers, for a kubelet with a client-side load balancer */
  readonly otherServers?: () => readonly { host: string; port: number }[];
}

function kubeadmSetup({ disk }: RunningMachine): KubeletSetup {
  return {
    kubeconfigFile: paths.kubeletKubeconfig,
    flags: readKubeletFlags(disk),
    version: disk.read(versionFile)?.trim() ?? 'v1.34.0',
  };
}

/** The kubelet of a machine: registers its Node, sends heartbeats, and runs its Pods. */
export class Kubelet implements ClusterNode {
  readonly machine: RunningMachine;
  readonly controlPlane: ControlPlane;
  readonly #options: KubeletOptions;
  #runner: PodRunner | undefined;
  #events: EventBroadcaster | undefined;
  #facts: NodeFacts | undefined;
  #kubeconfig: KubeconfigFacts | undefined;
  #server: { host: string; port: number } | undefined;
  #otherServers: () => readonly { host: string; port: number }[] = () => [];
  #connection: { api: ReachableApi; client: Client } | undefined;
  #home: KubeletHome | undefined;
  #isStarted = false;
  #startedAt = 0;
  #hasControlPlane = false;
  #isSettled = false;
  /** whether the Pods that were bound to the Node earlier are known */
  #hasTakenPods = false;
  #isRegistered = false;
  #beats = 0;
  #postedReady: string | undefined;
  #rootDirectory = usualRoot;
  /** drivers in the last written CSINode */
  #drivers = '';
  readonly #nodePorts = new Map<number, () => void>();
  /** last written lease, if it is renewed through the API */
  #lease: Lease | undefined;

  constructor(options: KubeletOptions) {
    const { machine, registry } = options;
    this.#options = options;
    this.machine = machine;
    this.controlPlane = new ControlPlane(machine, registry, () => this.#attempt(() => this.#syncMirrorPods()));
  }

  #newRunner(): PodRunner {
    const { machine } = this;
    const { random, clock } = machine;
    const nodeAddress = machine.addresses[0] ?? '';
    const backend = createSimulatedBackend({
      clock,
      random,
      name: containerRuntime,
      nodeAddress,
      network: { resolve: () => [], dial: (host, port, namespace) => this.#dial(host, port, namespace) },
      programs: (image, argv) => simulatedProgram(image, argv, this.#options.kubernetes),
      podAddresses: createAddressPool(`192.168.${lastOctet(nodeAddress)}.0`, 24),
      hostTree: (path) =>
        path.startsWith(volumeRoot)
          ? this.#options.kubernetes.volumeTree(path.slice(volumeRoot.length))
          : diskTree(machine.disk, path),
      timings: { start: () => machine.timings.sample('node.pod') },
    });
    return new PodRunner({
      machine,
      backend,
      clock,
      nodeName: this.name,
      nodeAddress,
      allocatable: allocatableOf(machine),
      connect: () => this.#connect(),
      tell: (pod, type, reason, message) =>
        this.#events?.recorder('kubelet').event(pod, type, foreignReason(reason), message),
      hasNetwork: () => this.#hasNetwork(),
      csiDirectory: (volume) =>
        csiDirectory(this.#connect(), this.name, registeredDrivers(machine, this.#rootDirectory), volume),
      onChange: () => this.#attempt(() => this.#postStatus()),
    });
  }

  get #pods(): PodRunner {
    this.#runner ??= this.#newRunner();
    return this.#runner;
  }

  get pods(): PodRunner {
    return this.#pods;
  }

  objectChanged(kind: 'secret' | 'configmap', namespace: string, name: string): void {
    this.#pods.objectChanged(kind, namespace, name);
  }

  podService(address: string, port: number): PortService | undefined {
    for (const sandbox of this.#pods.sandboxes(address) ?? []) {
      const service = sandbox.service(port);
      if (service) return service;
    }
    return undefined;
  }

  /** Connects a container of the node to Services and Pods of the cluster, and to anything the machine reaches. */
  #dial(host: string, port: number, namespace: string | undefined): PortService {
    const { machine } = this;
    const route = this.#home?.serviceRoute(host, port, namespace);
    if (route?.kind === 'refused') throw new UnreachableError('ECONNREFUSED', host, port);
    if (route?.kind === 'api')
      return machine.network.dial(must(this.#server, 'server').host, must(this.#server, 'server').port, machine);
    const target = route?.target ?? { address: host, port };
    const own = this.#home?.podService(target.address, target.port);
    return own ?? machine.network.dial(target.address, target.port, machine);
  }

  get name(): string {
    return this.#facts?.name ?? this.machine.hostname;
  }

  /** Runs the static Pods once their manifests exist. */
  startControlPlane(): void {
    const { disk } = this.machine;
    if (this.#hasControlPlane || disk.read(staticPodPath(layoutOf(disk), 'kube-apiserver')) === undefined) return;
    this.#hasControlPlane = true;
    this.controlPlane.start();
  }

  /** Starts with the credentials on the disk. Does nothing while there are none. */
  start(setup: KubeletSetup = kubeadmSetup(this.machine)): void {
    const { machine } = this;
    const text = machine.disk.read(setup.kubeconfigFile);
    const kubeconfig = text === undefined ? undefined : readKubeconfig(text, machine.disk);
    if (this.#isStarted || !kubeconfig) return;
    const problem = kubeletFlagProblem(setup.flags.keys(), setup.version);
    if (problem !== undefined) {
      machine.console.write(`kubelet: "command failed" err="${problem}"\n`);
      return;
    }
    this.#isStarted = true;
    this.#startedAt = machine.clock.now();
    this.#kubeconfig = kubeconfig;
    this.#server = serverAddress(kubeconfig.server);
    this.#otherServers = setup.otherServers ?? (() => []);
    const { flags } = setup;
    const ofK0s = setup.kubeconfigFile.startsWith(k0sRoot) ? `${k0sRoot}kubelet` : usualRoot;
    this.#rootDirectory = flags.get('root-dir') ?? ofK0s;
    this.#facts = {
      name: flags.get('hostname-override') ?? machine.hostname.toLowerCase(),
      flags,
      kubeletVersion: setup.version,
      bootId: machine.random.uuid(),
    };
    machine.signal.addEventListener('abort', () => this.#leave(), { once: true });
    this.#run().catch((error: unknown) => {
      if (!machine.signal.aborted) machine.console.write(`kubelet: ${errorMessage(error)}\n`);
    });
  }

  async #run(): Promise<void> {
    const { machine } = this;
    // The local API server may be the endpoint. Without it the kubelet tries the cluster's endpoint.
    if (this.#hasControlPlane) await this.controlPlane.apiStarted.catch(() => undefined);
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#register();
        break;
      } catch (error) {
        machine.signal.throwIfAborted();
        if (attempt === 0 || attempt % 30 === 29) {
          machine.console.write(
            `kubelet: Unable to register node with API server: ${errorMessage(error)} node="${this.name}"\n`,
          );
        }
        await machine.pass(retryMs);
      }
    }
    this.#isRegistered = true;
    machine.listen(
      kubeletPort,
      httpService((path) => this.#answer(path)),
    );
    this.#home?.addNode(this);
    this.nodePortsChanged();
    await this.#attempt(() => this.#takePods());
    await this.#attempt(() => this.#syncMirrorPods());
    await machine.pass(machine.timings.sample('node.join'));
    this.#isSettled = true;
    await this.#attempt(() => this.#postStatus());
  }

  /** Creates the Node, or adopts the one of an earlier boot. */
  async #register(): Promise<void> {
    const client = this.#connect();
    const node = newNode(this.machine, must(this.#facts, 'facts'));
    try {
      await client.create(Nodes, node, writes);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      await this.#postStatus();
    }
    await this.#renewLease(client);
  }

  /** Returns the current client. The route through the network is resolved each time, but the handshake is reused. */
  #connect(): Client {
    const { host, port } = this.#findServer();
    if (this.#connection) {
      const reached = this.machine.network.dial(host, port, this.machine).api;
      if (reached === this.#connection.api) return this.#connection.client;
    }
    const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
    const { client, reached } = connectWith(this.machine, { ...must(this.#kubeconfig, 'kubeconfig'), server });
    this.#connection = { api: reached.api, client };
    const { clock, random } = this.machine;
    this.#events?.stop();
    this.#events = createEventBroadcaster({ client, clock, random, log: this.#options.log, instance: this.name });
    this.#moveTo(reached.cluster ?? new FollowedApi({ client, clock, random }));
    return client;
  }

  /** Returns the configured server, or a known alternative if it does not answer. */
  #findServer(): { host: string; port: number } {
    const given = must(this.#server, 'server');
    const others = this.#otherServers();
    if (others.length === 0) return given;
    for (const server of [given, ...others]) {
      try {
        this.machine.network.dial(server.host, server.port, this.machine);
        return server;
      } catch (error) {
        if (!(error instanceof UnreachableError)) throw error;
      }
    }
    return given;
  }

  /** The endpoint may lead to another cluster than before, for example one restored from a backup. */
  #moveTo(home: KubeletHome): void {
    const before = this.#home;
    this.#home = home;
    if (before === home || !this.#isRegistered) return;
    before?.removeNode(this);
    home.addNode(this);
    this.nodePortsChanged();
    this.#hasTakenPods = false;
    void this.#attempt(() => this.#takePods());
  }

  /** Begins with the Pods that were bound before. Watching reports only later changes. */
  async #takePods(): Promise<void> {
    const home = this.#home;
    await this.#pods.takeAll(this.name);
    if (this.#home === home) this.#hasTakenPods = true;
  }

  /** Heartbeats of the closed cluster have stopped, so the kubelet polls until it finds a cluster again. */
  clusterClosed(cluster: WorkloadCluster): void {
    const { machine } = this;
    const look = async (): Promise<void> => {
      while (this.#home === cluster) {
        await machine.pass(lookMs);
        await this.heartbeat();
      }
    };
    if (!machine.signal.aborted) look().catch(() => undefined);
  }

  async heartbeat(): Promise<void> {
    await this.#attempt(async () => {
      const client = this.#connect();
      await this.#renewLease(client);
      await this.#registerDrivers(client);
      if (!this.#hasTakenPods) await this.#takePods();
      this.#beats++;
      // A Node that was declared unreachable is updated at once.
      if (this.#beats % statusEvery === 0 || this.#postedReady !== this.#readinessText()) await this.#postStatus();
      else if (!(await this.#reviveIfDeclaredDead(client))) return;
      // While the kubelet was silent, its static Pods may have been declared not ready.
      await this.#syncMirrorPods();
    });
  }

  /** Returns whether the Node had to be revived. */
  async #reviveIfDeclaredDead(client: Client): Promise<boolean> {
    if (!this.#home?.wasDeclaredDead(this.name)) return false;
    const node = await client.get(Nodes, { name: this.name });
    const isDead =
      node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'Unknown') ?? false;
    if (isDead) await this.#postStatus();
    return isDead;
  }

  async #renewLease(client: Client): Promise<void> {
    const { name } = this;
    const lease: Lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace: 'kube-node-lease' },
      spec: {
        holderIdentity: name,
        leaseDurationSeconds: leaseSeconds,
        renewTime: formatMicroTime(this.machine.clock.now()),
      },
    };
    try {
      if (this.#home?.renewLease(lease)) return;
      const before =
        this.#lease ??
        (await client.get(Leases, { namespace: must(lease.metadata.namespace, 'metadata.namespace'), name }));
      // A conflict with another writer makes the next heartbeat read the lease again.
      this.#lease = undefined;
      this.#lease = await client.update(Leases, { ...lease, metadata: before.metadata }, writes);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const node = await client.get(Nodes, { name });
      const owner = { apiVersion: 'v1', kind: 'Node', name, uid: must(node.metadata.uid, 'metadata.uid') };
      this.#lease = await client.create(
        Leases,
        { ...lease, metadata: { ...lease.metadata, ownerReferences: [owner] } },
        writes,
      );
    }
  }

  /** Updates the CSINode if drivers were added or removed. */
  async #registerDrivers(client: Client): Promise<void> {
    const drivers = registeredDrivers(this.machine, this.#rootDirectory);
    const text = drivers.join();
    if (text === this.#drivers) return;
    await writeCsiNode(client, this.machine, this.name, drivers);
    this.#drivers = text;
  }

  /** Answers requests on the kubelet's port. */
  #answer(path: string): { status: number; body: string } {
    const { clock } = this.machine;
    if (path !== '/metrics/resource') return { status: 404, body: '404 page not found\n' };
    return { status: 200, body: resourceMetrics(this.#pods.running(), this.#startedAt, clock.now()) };
  }

  #hasNetwork(): boolean {
    return this.#options.cni === 'builtin' || hasNetworkConfig(this.machine.disk) || this.#pods.hasRunningCni();
  }

  #readiness(): { isReady: boolean; reason: string } {
    if (!this.#isSettled) return { isReady: false, reason: notReadyYet };
    return this.#hasNetwork() ? { isReady: true, reason: '' } : { isReady: false, reason: noNetwork };
  }

  #readinessText(): string {
    const { isReady, reason } = this.#readiness();
    return isReady ? 'ready' : reason;
  }

  async #postStatus(): Promise<void> {
    const client = this.#connect();
    const node: Node = await client.get(Nodes, { name: this.name });
    const text = this.#readinessText();
    const status = nodeStatus(this.machine, must(this.#facts, 'facts'), this.#readiness(), node);
    await client.patch(
      Nodes,
      { name: this.name },
      'merge',
      { status: asJson(status) },
      { ...writes, subresource: 'status' },
    );
    this.#postedReady = text;
    this.#home?.forgetDeclaredDead(this.name);
    this.#pods.networkMayHaveChanged();
  }

  readonly #syncMirrorPods: () => Promise<void> = oneAfterTheOther(async () => {
    if (!this.#home || !this.#hasControlPlane) return;
    const ready = new Set(controlPlaneComponents.filter((component) => this.controlPlane.isReady(component)));
    await ensureMirrorPods(this.machine, this.#connect(), this.name, ready);
  });

  podChanged(pod: Pod | { deleted: true; namespace: string; name: string }): void {
    this.#pods.changed(pod);
    // A late write declared the Pods of a live node not ready.
    if (!('deleted' in pod) && isMirrorPod(pod) && wasDeclaredNotReady(pod)) {
      void this.#attempt(() => this.#syncMirrorPods());
    }
  }

  /** Serves exactly the node ports of Services. */
  nodePortsChanged(): void {
    const wanted = this.#home?.nodePorts?.all() ?? new Set();
    for (const [port, close] of this.#nodePorts) {
      if (wanted.has(port)) continue;
      close();
      this.#nodePorts.delete(port);
    }
    for (const port of wanted) {
      if (!this.#nodePorts.has(port)) this.#nodePorts.set(port, this.machine.listen(port, this.#nodePortService(port)));
    }
  }

  /** Forwards each connection to an endpoint of the Service. */
  #nodePortService(nodePort: number): PortService {
    const behind = (): PortService | undefined => {
      const target = this.#home?.nodePorts?.target(nodePort);
      return target && this.#home?.podService(target.address, target.port);
    };
    return {
      accept(socket) {
        const service = behind();
        if (service) service.accept(socket);
        else socket.destroy();
      },
      async get(path) {
        const service = behind();
        if (service?.get) return await service.get(path);
        throw new UnreachableError('ECONNREFUSED', 'localhost', nodePort);
      },
    };
  }

  connect(pod: UnstructuredObject, port: number): Duplex {
    const [near, far] = duplexPair();
    const component = pod.metadata.labels?.['component'] ?? '';
    if (pod.metadata.namespace === 'kube-system' && this.controlPlane.accept(component, port, far)) return near;
    try {
      const sandbox = this.#pods.worker(pod)?.sandbox;
      if (sandbox) return sandbox.connect(port);
    } catch {
      // No listener. The error is thrown below.
    }
    throw statusError.internal(
      `error forwarding port ${port} to pod ${pod.metadata.uid ?? ''}, uid : failed to execute portforward in network namespace: failed to connect to localhost:${port} inside namespace: dial tcp4 127.0.0.1:${port}: connect: connection refused`,
    );
  }

  #leave(): void {
    this.#home?.removeNode(this);
    this.#events?.stop();
    this.#runner?.stop();
  }

  /** Failed work is repeated at the next heartbeat or change. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      if (!this.machine.signal.aborted && this.#kubeconfig) await work();
    } catch (error) {
      this.#postedReady = undefined;
      this.#options.log.debug('A kubelet could not do its work', { node: this.name, error });
    }
  }
}

/** Returns the last octet of an address, which is unique in its network. */
function lastOctet(address: string): string {
  const last = address.split('.').at(-1) ?? '';
  return /^\d+$/.test(last) ? last : '0';
}

/** file with the version of the kubelet, which kubeadm sets if the image has none */
export const versionFile = '/var/lib/kubelet/version';
