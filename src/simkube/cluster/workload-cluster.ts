import type { Duplex } from 'node:stream';
import {
  builtinDefinitions,
  builtinSchema,
  type Lease,
  Leases,
  type Pod,
  Pods,
  protobufRegistry,
} from '../../api/index.ts';
import {
  type AccessControl,
  type ApiServer,
  createApiServer,
  keyPrefix,
  objectKey,
  openObjectStore,
  StoredObject,
} from '../../apiserver/index.ts';
import type { Client } from '../../client/index.ts';
import {
  ApiStatusError,
  type CancelTimer,
  type Clock,
  errorMessage,
  type Random,
  sleep,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { CertificateAndKey } from '../../pki/index.ts';
import type { Logger } from '../../runtime/index.ts';
import type { Engine, Store, StoreEvent } from '../../store/index.ts';
import { type ClusterControllers, startClusterControllers } from '../controllers/index.ts';
import { EtcdCluster, type EtcdSnapshot } from '../etcd/etcd-cluster.ts';
import { podLog } from './pod-log.ts';

/** What the API servers of a cluster are started with; the same on all its control-plane machines. */
export interface ClusterSettings {
  /** signs and vouches for client certificates */
  readonly authority: CertificateAndKey;
  /** PEM of the key that signs tokens of service accounts */
  readonly serviceAccountKey: string;
  readonly kubernetesVersion: string;
  readonly serviceCidr: string;
  readonly serviceAccountIssuer: string;
}

/** A kubelet, as its cluster needs it. */
export interface ClusterNode {
  readonly name: string;
  /** renews what says that the node lives; answers whether the API could be reached */
  heartbeat(): Promise<void>;
  podChanged(pod: Pod | { deleted: true; namespace: string; name: string }): void;
  /** a stream to a port of one of its Pods */
  connect(pod: UnstructuredObject, port: number): Duplex;
  /** the member of etcd on this machine was removed by the others */
  memberRemoved(memberId: string): void;
}

export interface WorkloadClusterOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly engine: Engine;
  readonly snapshot?: EtcdSnapshot;
  /** keeps who the members are */
  save(snapshot: EtcdSnapshot): void;
  /** the machines in the cloud, for the cloud controller manager of the cluster */
  readonly cloud: CloudView;
}

/** What a cloud controller manager learns from the cloud. */
export interface CloudView {
  /** whether there was a server of this id and it was deleted */
  isGone(id: string): boolean;
  /** a server that runs */
  server(
    id: string,
  ): { readonly id: string; readonly availabilityZone: string; readonly addresses: readonly string[] } | undefined;
}

/** kube-apiserver gives up on etcd after this long. */
const etcdPatienceMs = 7_000;
const heartbeatMs = 10_000;

/** History is for watches that come back; those here come back soon. */
const history = { minRevisions: 200, minAgeMs: 60_000, maxRevisions: 5_000, maxBytes: 2 * 1024 * 1024 };

/**
 * One Kubernetes cluster inside the simulated cloud: what its etcd members hold, the API over it, and the controllers.
 * It lives as long as one of its machines exists, and works while enough of them run.
 */
export class WorkloadCluster {
  readonly etcd: EtcdCluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly cloud: CloudView;
  readonly log: Logger;
  readonly #options: WorkloadClusterOptions;
  readonly #nodes = new Map<string, ClusterNode>();
  readonly #controlPlanes = new Set<string>();
  readonly #declaredDead = new Set<string>();
  #knownMembers = new Set<string>();
  #opening: Promise<void> | undefined;
  #store: Store<StoredObject> | undefined;
  #server: ApiServer | undefined;
  #settings: ClusterSettings | undefined;
  #controllers: ClusterControllers | undefined;
  #cancelHeartbeat: CancelTimer | undefined;
  #stopWatching: (() => void) | undefined;
  #hasRun: boolean;
  #closed = false;

  constructor(options: WorkloadClusterOptions) {
    this.#options = options;
    this.#hasRun = (options.snapshot?.members.length ?? 0) > 0;
    this.clock = options.clock;
    this.random = options.random;
    this.cloud = options.cloud;
    this.log = options.log;
    this.etcd = new EtcdCluster({
      random: options.random,
      ...(options.snapshot && { snapshot: options.snapshot }),
      onChange: (etcd) => {
        options.save(etcd.snapshot());
        this.#adjust();
      },
    });
  }

  get id(): string {
    return this.etcd.id;
  }

  get server(): ApiServer {
    if (!this.#server) throw new Error('no API server of the cluster was ever started');
    return this.#server;
  }

  get access(): AccessControl {
    return this.server.access;
  }

  /** PEM of the authority whose client certificates the API believes */
  get clientAuthority(): string {
    return this.settings.authority.certificate;
  }

  get settings(): ClusterSettings {
    if (!this.#settings) throw new Error('no API server of the cluster was ever started');
    return this.#settings;
  }

  /** whether its controllers have run before, in this process or an earlier one */
  get hasRun(): boolean {
    return this.#hasRun;
  }

  get revision(): number {
    return this.#store?.revision ?? 0;
  }

  /** Access for what runs on the control plane itself. */
  get loopback(): Client {
    return this.server.localClient();
  }

  /** Tells of every change from now on; answers how to stop. */
  onStored(callback: (events: readonly StoreEvent<StoredObject>[]) => void): () => void {
    const store = this.#store;
    return store ? store.watch('/', store.revision, callback) : () => {};
  }

  /** Makes the API, the first time an API server of the cluster starts. */
  open(settings: ClusterSettings): Promise<void> {
    this.#opening ??= this.#open(settings);
    return this.#opening;
  }

  async #open(settings: ClusterSettings): Promise<void> {
    const { clock, random, engine, log } = this.#options;
    this.#settings = settings;
    const store = await openObjectStore({ engine, clock, history });
    this.#store = store;
    this.#server = await createApiServer({
      store,
      clock,
      random,
      definitions: builtinDefinitions,
      metaSchema: builtinSchema,
      protobuf: protobufRegistry,
      access: {
        mode: 'RBAC',
        clientCa: settings.authority.certificate,
        serviceAccounts: { issuer: settings.serviceAccountIssuer, signingKeyPem: settings.serviceAccountKey },
        bootstrapTokens: true,
        anonymous: true,
        nodes: true,
      },
      serviceCidr: settings.serviceCidr,
      version: versionInfo(settings.kubernetesVersion),
      podLogs: podLog(clock),
      podConnector: async (pod, port) => this.#connect(pod, port),
      gate: () => this.gate(),
      healthChecks: [
        {
          name: 'etcd',
          in: ['livez', 'readyz'],
          check: () => {
            const problem = this.healthProblem();
            if (problem !== undefined) throw new Error(problem);
          },
        },
      ],
      onError: (error, what) => log.error('Workload API failed unexpectedly', { cluster: this.id, what, error }),
    });
    this.#watchPods(store);
    this.#adjust();
  }

  /** Requests wait for a majority of etcd, and fail when it does not come back in time. */
  gate(): Promise<void> | undefined {
    return this.etcd.hasQuorum ? undefined : this.#waitForQuorum();
  }

  async #waitForQuorum(): Promise<void> {
    await sleep(this.clock, etcdPatienceMs);
    if (this.etcd.hasQuorum) return;
    throw new ApiStatusError({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'etcdserver: request timed out',
      reason: '',
      code: 500,
    });
  }

  healthProblem(): string | undefined {
    return this.etcd.hasQuorum ? undefined : 'error getting data from etcd: context deadline exceeded';
  }

  /** A stream to a port of a Pod, for callers in this process. */
  async portForward(key: { namespace: string; name: string }, port: number): Promise<Duplex> {
    const wait = this.gate();
    if (wait) await wait;
    const pod = await this.loopback.get(Pods, key);
    return this.#connect(pod as unknown as UnstructuredObject, port);
  }

  #connect(pod: UnstructuredObject, port: number): Duplex {
    const nodeName = (pod as unknown as Pod).spec.nodeName ?? '';
    const node = this.#nodes.get(nodeName);
    if (!node) {
      throw statusError.serviceUnavailable(
        `error dialing backend: dial tcp ${(pod as unknown as Pod).status?.hostIP ?? nodeName}:10250: connect: no route to host`,
      );
    }
    return node.connect(pod, port);
  }

  /** A kubelet begins to work for the cluster. */
  addNode(node: ClusterNode): void {
    this.#nodes.set(node.name, node);
    this.#scheduleHeartbeat();
  }

  removeNode(node: ClusterNode): void {
    if (this.#nodes.get(node.name) === node) this.#nodes.delete(node.name);
  }

  /** kube-controller-manager and kube-scheduler run on a machine; one of them leads. */
  addControlPlane(machineId: string): void {
    this.#controlPlanes.add(machineId);
    this.#adjust();
  }

  removeControlPlane(machineId: string): void {
    if (this.#controlPlanes.delete(machineId)) this.#adjust();
  }

  /** One timer for all nodes: their heartbeats become one batch of writes. */
  #scheduleHeartbeat(): void {
    if (this.#cancelHeartbeat || this.#nodes.size === 0 || this.#closed) return;
    this.#cancelHeartbeat = this.clock.after(heartbeatMs, () => {
      this.#cancelHeartbeat = undefined;
      this.#scheduleHeartbeat();
      for (const node of this.#nodes.values()) void node.heartbeat();
    });
  }

  #watchPods(store: Store<StoredObject>): void {
    const prefix = keyPrefix({ group: '', plural: 'pods' });
    this.#stopWatching = store.watch(prefix, store.revision, (events) => {
      for (const event of events) {
        if (event.type === 'put') {
          const pod = event.record.value.object as unknown as Pod;
          const { nodeName } = pod.spec;
          if (nodeName) this.#nodes.get(nodeName)?.podChanged(pod);
        } else {
          const [, , , namespace = '', name = ''] = event.key.split('/');
          for (const node of this.#nodes.values()) node.podChanged({ deleted: true, namespace, name });
        }
      }
    });
  }

  /** Controllers run while there is one machine for them and etcd agrees. */
  #adjust(): void {
    const known = this.#knownMembers;
    this.#knownMembers = new Set(this.etcd.members.map(({ id }) => id));
    for (const id of known) {
      if (this.#knownMembers.has(id)) continue;
      for (const node of this.#nodes.values()) node.memberRemoved(id);
    }
    const shouldRun =
      !this.#closed && this.#server !== undefined && this.#controlPlanes.size > 0 && this.etcd.hasQuorum;
    if (shouldRun && !this.#controllers) {
      this.#controllers = startClusterControllers(this);
      this.#hasRun = true;
    } else if (!shouldRun && this.#controllers) {
      const { stop } = this.#controllers;
      this.#controllers = undefined;
      stop().catch((error: unknown) =>
        this.log.warn('Controllers of a workload did not stop cleanly', { error: errorMessage(error) }),
      );
    }
  }

  /**
   * Renews the lease of a node that has reached the API. Thousands of nodes do this every ten seconds, so it goes straight
   * to the store. Answers false when there is no lease yet.
   */
  renewLease(lease: Lease): boolean {
    const store = this.#store;
    if (!store || !this.etcd.hasQuorum) return false;
    const { namespace, name } = lease.metadata;
    const key = objectKey({ group: Leases.group, plural: Leases.plural }, namespace, name ?? '');
    const head = store.head(key);
    if (!head) return false;
    const before = head.value.object as unknown as Lease;
    store
      .put(key, { kind: 'revision', revision: head.revision }, (revision) =>
        StoredObject.fromObject({
          ...before,
          metadata: { ...before.metadata, resourceVersion: String(revision) },
          spec: { ...before.spec, ...lease.spec },
        } as unknown as UnstructuredObject),
      )
      // Somebody else wrote at the same moment: the next heartbeat is soon enough.
      .catch(() => undefined);
    return true;
  }

  /** The node controller has given a node up; its kubelet is to say so when it lives after all. */
  declareDead(name: string): void {
    this.#declaredDead.add(name);
  }

  wasDeclaredDead(name: string): boolean {
    return this.#declaredDead.has(name);
  }

  forgetDeclaredDead(name: string): void {
    this.#declaredDead.delete(name);
  }

  /** Ends everything; what is stored stays for the next start. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelHeartbeat?.();
    const stopping = this.#controllers?.stop();
    this.#controllers = undefined;
    await stopping?.catch(() => undefined);
    await this.#opening?.catch(() => undefined);
    this.#stopWatching?.();
    await this.#server?.stop(0);
    if (this.#store) await this.#store.close();
    else await this.#options.engine.close();
  }
}

function versionInfo(version: string): { major: string; minor: string; gitVersion: string } {
  const [, major = '1', minor = '34'] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return { major, minor, gitVersion: version.startsWith('v') ? version : `v${version}` };
}
