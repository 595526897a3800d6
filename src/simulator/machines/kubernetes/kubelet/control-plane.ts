import type { Duplex } from 'node:stream';
import { parse } from 'yaml';
import type { Pod } from '../../../../api/index.ts';
import { errorMessage } from '../../../../machinery/index.ts';
import type { ClusterRegistry, WorkloadCluster } from '../../../../simkube/index.ts';
import {
  type ApiInstance,
  commandLineProblem,
  createEtcdServer,
  EtcdKeys,
  type EtcdServer,
  startApiInstance,
} from '../../../../simkube/index.ts';
import type { RunningMachine } from '../../types.ts';
import { type ControlPlanePki, readControlPlanePki, readRke2Pki } from '../kubeadm/certificates.ts';
import { flagOf } from '../kubeadm/manifests.ts';
import { type ControlPlaneComponent, controlPlaneComponents, paths } from '../kubeadm/names.ts';
import { layoutOf, staticPodPath } from './layout.ts';

/** Owner of the data directory of etcd. */
export interface EtcdData {
  readonly clusterId: string;
  /** absent for an external etcd */
  readonly memberId?: string;
}

const learnerCheckMs = 100;
const etcdPort = 2379;
/** Delay until a removed etcd member stops. Connections to an API server outlive its etcd. */
const removedMemberLingersMs = 1_000;

export function readEtcdData(machine: RunningMachine): EtcdData | undefined {
  const text = machine.disk.read(layoutOf(machine.disk).etcdData);
  return text === undefined ? undefined : (JSON.parse(text) as EtcdData);
}

export function writeEtcdData(machine: RunningMachine, data: EtcdData): void {
  machine.disk.write(layoutOf(machine.disk).etcdData, `${JSON.stringify(data)}\n`, 0o600);
}

const parsedManifests = new WeakMap<RunningMachine, Map<string, Pod>>();

/** Reads a static Pod from its manifest, or undefined if it is missing or invalid. */
export function readManifest(machine: RunningMachine, component: ControlPlaneComponent): Pod | undefined {
  const text = machine.disk.read(staticPodPath(layoutOf(machine.disk), component));
  if (text === undefined) return undefined;
  const known = parsedManifests.get(machine) ?? new Map<string, Pod>();
  parsedManifests.set(machine, known);
  const pod = known.get(text) ?? parseManifest(text);
  if (pod) known.set(text, pod);
  return pod;
}

function parseManifest(text: string): Pod | undefined {
  try {
    return parse(text) as Pod;
  } catch {
    return undefined;
  }
}

/** Runs etcd, the API server and the controllers of one machine, from the start of the kubelet until power-off. */
export class ControlPlane {
  readonly #machine: RunningMachine;
  readonly #registry: ClusterRegistry;
  readonly #onChange: () => void;
  #cluster: WorkloadCluster | undefined;
  #memberId: string | undefined;
  #etcdServer: EtcdServer | undefined;
  #instance: ApiInstance | undefined;
  #stopListening: (() => void)[] = [];
  #stopFollowingEtcd: (() => void) | undefined;
  readonly #etcdUp = waitable();
  readonly #apiUp = waitable();

  constructor(machine: RunningMachine, registry: ClusterRegistry, onChange: () => void) {
    this.#machine = machine;
    this.#registry = registry;
    this.#onChange = onChange;
  }

  get cluster(): WorkloadCluster | undefined {
    return this.#cluster;
  }

  /** resolves once the etcd member has started, rejects if it cannot */
  get etcdStarted(): Promise<void> {
    return this.#etcdUp.promise;
  }

  /** resolves once the API server answers, rejects if it cannot */
  get apiStarted(): Promise<void> {
    return this.#apiUp.promise;
  }

  isReady(component: ControlPlaneComponent): boolean {
    if (component === 'etcd') return this.#memberId !== undefined && this.#etcdServer !== undefined;
    return this.#instance !== undefined;
  }

  components(): ControlPlaneComponent[] {
    const { disk } = this.#machine;
    const layout = layoutOf(disk);
    return controlPlaneComponents.filter((component) => disk.read(staticPodPath(layout, component)) !== undefined);
  }

  start(): void {
    this.#machine.signal.addEventListener('abort', () => this.#stop(), { once: true });
    this.#run().catch((error: unknown) => {
      this.#etcdUp.reject(error);
      this.#apiUp.reject(error);
      if (!this.#machine.signal.aborted) this.#say(`control plane failed: ${errorMessage(error)}`);
    });
  }

  async #run(): Promise<void> {
    const machine = this.#machine;
    const data = readEtcdData(machine);
    const apiManifest = readManifest(machine, 'kube-apiserver');
    if (!data || !apiManifest) throw new Error('the manifests of the control plane are not complete');
    const pki = readPki(machine, apiManifest);
    if (!pki) throw new Error('certificates of the control plane are missing');
    const cluster = this.#registry.keyspace(data.clusterId);
    this.#cluster = cluster;
    this.#registry.claim(cluster.id, machine.server.id);
    if (data.memberId !== undefined) await this.#startEtcd(cluster, data.memberId, pki);
    this.#etcdUp.resolve();
    this.#onChange();
    await this.#startApi(cluster, apiManifest, pki);
  }

  async #startEtcd(cluster: WorkloadCluster, memberId: string, pki: ControlPlanePki): Promise<void> {
    const machine = this.#machine;
    const manifest = readManifest(machine, 'etcd');
    if (!manifest || !pki.etcdServer || !pki.etcdAuthority) throw new Error('etcd has no manifest or no certificates');
    await machine.pass(machine.timings.sample('node.etcd'));
    const name = flagOf(manifest, 'name') ?? machine.hostname;
    const clientUrls = (flagOf(manifest, 'advertise-client-urls') ?? '').split(',').filter((url) => url !== '');
    const version = /:v?(\d+\.\d+\.\d+)/.exec(manifest.spec.containers[0]?.image ?? '')?.[1] ?? '3.5.16';
    if (!cluster.etcd.start(memberId, { name, clientUrls, version })) {
      throw new Error(`etcd: the member ${memberId} has been permanently removed from the cluster`);
    }
    this.#memberId = memberId;
    this.#stopFollowingEtcd = cluster.etcd.onChange(() => {
      if (!cluster.etcd.member(memberId)) this.#memberRemoved(memberId);
    });
    const endpoint = {
      cluster: cluster.etcd,
      memberId,
      version,
      data: new EtcdKeys(this.#registry, cluster.etcd),
    };
    const server = createEtcdServer(endpoint, {
      ...pki.etcdServer,
      authority: pki.etcdAuthority.certificate,
    });
    this.#etcdServer = server;
    this.#stopListening.push(machine.listen(etcdPort, { accept: (socket) => server.accept(socket) }));
  }

  async #startApi(cluster: WorkloadCluster, manifest: Pod, pki: ControlPlanePki): Promise<void> {
    const machine = this.#machine;
    // The API server cannot use a learner, so it starts once the member is promoted.
    while (this.#memberId !== undefined && cluster.etcd.member(this.#memberId)?.isLearner) {
      await machine.pass(learnerCheckMs);
    }
    this.#checkCommandLines();
    await machine.pass(machine.timings.sample('node.apiserver'));
    const settings = {
      clientAuthorities: (pki.clientAuthority ?? pki.authority).certificate,
      serviceAccountKey: pki.serviceAccountKey,
      kubernetesVersion: imageVersion(manifest) ?? 'v1.34.0',
      serviceCidr: ipv4Range(flagOf(manifest, 'service-cluster-ip-range')),
      serviceAccountIssuer: flagOf(manifest, 'service-account-issuer') ?? 'https://kubernetes.default.svc',
    };
    const instance = await startApiInstance(cluster, settings, pki.apiServer);
    if (machine.signal.aborted) {
      instance.stop();
      machine.signal.throwIfAborted();
    }
    if (this.#memberId !== undefined && !cluster.etcd.member(this.#memberId)) {
      instance.stop();
      throw new Error('etcd on this machine was removed from its cluster');
    }
    this.#instance = instance;
    this.#stopListening.push(machine.listen(Number(flagOf(manifest, 'secure-port') ?? 6443), instance.service));
    const manager = {
      signingAuthority: pki.clientAuthority ?? pki.authority,
      rootAuthorities: pki.authority.certificate,
    };
    const scheduler = readManifest(machine, 'kube-scheduler') !== undefined;
    cluster.addControllers(machine.server.id, { manager, scheduler });
    this.#apiUp.resolve();
    this.#onChange();
  }

  /** A component with an unknown flag exits at start. */
  #checkCommandLines(): void {
    for (const component of ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const) {
      const manifest = readManifest(this.#machine, component);
      if (!manifest) continue;
      const container = manifest.spec.containers[0];
      const version = imageVersion(manifest) ?? '';
      const args = [...(container?.command ?? []), ...(container?.args ?? [])].slice(1);
      const problem = commandLineProblem(component, args, version);
      if (problem !== undefined) throw new Error(`${component}: ${problem}`);
    }
  }

  /** Another member removed this one: etcd stops, and the API server with it. */
  #memberRemoved(memberId: string): void {
    this.#say(`etcd: the member ${memberId} has been permanently removed from the cluster; stopped`);
    const instance = this.#instance;
    const etcdServer = this.#etcdServer;
    const stopListening = this.#stopListening;
    this.#instance = undefined;
    this.#etcdServer = undefined;
    this.#stopListening = [];
    this.#stop();
    this.#onChange();
    // The call that removed the member may still be waiting for its answer through this API server. External
    // connections depend on the port, so the ports stay open as well.
    const end = (): void => {
      for (const stop of stopListening) stop();
      instance?.stop();
      etcdServer?.close();
    };
    this.#machine.pass(removedMemberLingersMs).then(end, end);
  }

  /** Accepts a connection to a port of a static Pod. Returns whether it listens there. */
  accept(pod: string, port: number, socket: Duplex): boolean {
    if (pod === 'etcd' && port === etcdPort && this.#etcdServer) {
      this.#etcdServer.accept(socket);
      return true;
    }
    if (pod === 'kube-apiserver' && this.#instance && port === this.#port()) {
      this.#instance.service.accept(socket);
      return true;
    }
    return false;
  }

  #port(): number {
    const manifest = readManifest(this.#machine, 'kube-apiserver');
    return Number((manifest && flagOf(manifest, 'secure-port')) ?? 6443);
  }

  #stop(): void {
    const machine = this.#machine;
    this.#stopFollowingEtcd?.();
    for (const stop of this.#stopListening) stop();
    this.#stopListening = [];
    this.#instance?.stop();
    this.#instance = undefined;
    this.#etcdServer?.close();
    this.#etcdServer = undefined;
    if (this.#memberId !== undefined) this.#cluster?.etcd.stop(this.#memberId);
    this.#cluster?.removeControllers(machine.server.id);
    this.#memberId = undefined;
    const reason = new Error('the machine was switched off');
    this.#etcdUp.reject(reason);
    this.#apiUp.reject(reason);
  }

  #say(line: string): void {
    this.#machine.console.write(`${line}\n`);
  }
}

function imageVersion({ spec }: Pod): string | undefined {
  return /:(v[^:]+)$/.exec(spec.containers[0]?.image ?? '')?.[1];
}

function readPki({ disk }: RunningMachine, apiManifest: Pod): ControlPlanePki | undefined {
  const directory = pkiDirectory(apiManifest);
  return layoutOf(disk).isOfRke2 ? readRke2Pki(disk, directory) : readControlPlanePki(disk, directory);
}

function pkiDirectory(apiManifest: Pod): string {
  const file = flagOf(apiManifest, 'tls-cert-file') ?? `${paths.pki}/apiserver.crt`;
  return file.slice(0, file.lastIndexOf('/'));
}

/** The API allocates only IPv4 addresses. For IPv6 ranges it uses the default range. */
function ipv4Range(range: string | undefined): string {
  return range?.split(',').find((cidr) => /^\d+\.\d+\.\d+\.\d+\/\d+$/.test(cidr)) ?? '10.96.0.0/12';
}

interface Waitable {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(reason: unknown): void;
}

function waitable(): Waitable {
  let resolve = (): void => {};
  let reject = (_reason: unknown): void => {};
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  // After a reboot nobody awaits this promise.
  promise.catch(() => undefined);
  return { promise, resolve: () => resolve(), reject: (reason) => reject(reason) };
}
