import type { Duplex } from 'node:stream';
import { type Lease, Leases, type Pod, Pods, type Service, Services } from '../../api/index.ts';
import {
  type AccessControl,
  type Aggregation,
  type ApiServer,
  keyPrefix,
  objectKey,
  StoredObject,
} from '../../apiserver/index.ts';
import type { Client } from '../../client/index.ts';
import {
  ApiStatusError,
  asTyped,
  asUnstructured,
  type CancelTimer,
  type Clock,
  type Random,
  sleep,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { Logger } from '../../runtime/index.ts';
import type { Engine, Store, StoreEvent } from '../../store/index.ts';
import { startClusterControllers } from '../controllers/index.ts';
import type { EtcdCluster } from '../etcd/etcd-cluster.ts';
import type { PodWorkers } from '../kubelet/pod-access.ts';
import { type NodePorts, nodePorts, nodePortsOf } from '../network/node-ports.ts';
import { type FindServiceRoute, serviceRoutes } from '../network/service-route.ts';
import { allServices, storedServices } from '../network/stored-services.ts';
import type { PortService } from '../types.ts';
import { aggregatedApis } from './aggregated-apis.ts';
import { ApiServers, type ServedApi } from './api-servers.ts';
import { ControllerSwitch } from './controller-switch.ts';
import { duplexPair } from './duplex-pair.ts';
import { nodeAccess } from './node-access.ts';
import type { ClusterSettings, ControllerRoles } from './settings.ts';
import { SharedStore } from './shared-store.ts';

/** A kubelet from the view of its cluster. */
export interface ClusterNode {
  readonly name: string;
  /** renews the node's lease; returns whether the API was reachable */
  heartbeat(): Promise<void>;
  podChanged(pod: Pod | { deleted: true; namespace: string; name: string }): void;
  /** a Secret or ConfigMap of the cluster changed */
  objectChanged(kind: 'secret' | 'configmap', namespace: string, name: string): void;
  /** its Pods, except static ones */
  readonly pods: PodWorkers;
  /** the service at a port of a Pod with this address; undefined if there is no such Pod, or nobody listens */
  podService(address: string, port: number): PortService | undefined;
  /** opens a stream to a port of one of its Pods */
  connect(pod: UnstructuredObject, port: number): Duplex;
  /** the cluster was closed and calls no node any more */
  clusterClosed(cluster: WorkloadCluster): void;
  /** node ports of the cluster's Services may have changed */
  nodePortsChanged(): void;
}

export interface WorkloadClusterOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly etcd: EtcdCluster;
  /** prefix of its keys, such as /registry */
  readonly prefix: string;
  /** whether it was used before, possibly by an earlier process */
  readonly hasRun: boolean;
  /** opens the same data again after it was closed */
  openEngine(): Promise<Engine>;
}

/** kube-apiserver's timeout for etcd. */
const etcdPatienceMs = 7_000;
const heartbeatMs = 10_000;

/**
 * One simulated Kubernetes cluster: its data in etcd below a prefix, the API servers, and the controllers. API servers
 * and controllers start and stop with machines or Pods; the data is available here while any of them runs.
 */
export class WorkloadCluster {
  readonly etcd: EtcdCluster;
  readonly prefix: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly #nodes = new Map<string, ClusterNode>();
  readonly #declaredDead = new Set<string>();
  readonly #servers: ApiServers;
  readonly #store: SharedStore;
  readonly #controllers: ControllerSwitch;
  readonly #stopFollowingEtcd: () => void;
  #cancelHeartbeat: CancelTimer | undefined;
  #stopWatching: (() => void) | undefined;
  #hasRun: boolean;
  #closed = false;

  constructor(options: WorkloadClusterOptions) {
    this.#hasRun = options.hasRun;
    this.etcd = options.etcd;
    this.prefix = options.prefix;
    this.clock = options.clock;
    this.random = options.random;
    this.log = options.log;
    const base = {
      clock: options.clock,
      random: options.random,
      log: options.log,
      pods: nodeAccess(options.clock, (pod) => this.#nodeOf(pod)),
      aggregation: this.aggregation,
      connectPod: (address: string, port: number) => this.#connectPod(address, port),
      gate: () => this.gate(),
      healthProblem: () => this.healthProblem(),
    };
    this.#servers = new ApiServers(base, () => this.#controllers.adjust());
    this.#controllers = new ControllerSwitch({
      clock: options.clock,
      log: options.log,
      server: () => (this.etcd.hasQuorum ? this.#servers.newest?.server : undefined),
      start: (server, desired) => {
        const controllers = startClusterControllers(this, server, desired);
        this.#hasRun = true;
        return controllers;
      },
    });
    this.#store = new SharedStore({
      clock: options.clock,
      openEngine: () => options.openEngine(),
      opened: (store) => this.#watchPods(store),
      closing: async () => {
        this.#stopWatching?.();
        await this.#servers.settled();
      },
    });
    this.#stopFollowingEtcd = this.etcd.onChange(() => this.#controllers.adjust());
  }

  get id(): string {
    return this.etcd.id;
  }

  get server(): ApiServer {
    return this.#newest().server;
  }

  get access(): AccessControl {
    return this.server.access;
  }

  get settings(): ClusterSettings {
    return this.#newest().settings;
  }

  #newest(): { server: ApiServer; settings: ClusterSettings } {
    const { newest } = this.#servers;
    if (!newest) throw new Error('no API server of the cluster runs');
    return newest;
  }

  /** Whether its controllers ran before, in this process or an earlier one. */
  get hasRun(): boolean {
    return this.#hasRun;
  }

  get revision(): number {
    return this.#store.revision;
  }

  /** Client for components of the control plane itself. */
  get loopback(): Client {
    return this.server.localClient();
  }

  /** Calls back for every change from now on. Returns a function that unsubscribes. */
  onStored(callback: (events: readonly StoreEvent<StoredObject>[]) => void): () => void {
    const store = this.#store.current;
    return store ? store.watch('/', store.revision, callback) : () => {};
  }

  /** Returns the API for an instance with these settings. Must be released when the instance ends. */
  async serve(settings: ClusterSettings): Promise<ServedApi> {
    const store = await this.#store.use();
    try {
      const served = await this.#servers.use(store, settings);
      let isReleased = false;
      return {
        ...served,
        release: () => {
          if (isReleased) return;
          isReleased = true;
          served.release();
          this.#store.release();
        },
      };
    } catch (error) {
      this.#store.release();
      throw error;
    }
  }

  /** Whether an API server uses the store. */
  get isServed(): boolean {
    return !this.#servers.isEmpty;
  }

  /** Accesses the store directly, as etcd does. */
  async withStore<R>(work: (store: Store<StoredObject>) => Promise<R>): Promise<R> {
    const store = await this.#store.use();
    try {
      return await work(store);
    } finally {
      this.#store.release();
    }
  }

  /** Requests wait for an etcd quorum, and fail if it does not return in time. */
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

  /** Opens a stream to a port of a Pod, for callers in this process. */
  async portForward(key: { namespace: string; name: string }, port: number): Promise<Duplex> {
    const wait = this.gate();
    if (wait) await wait;
    const pod = await this.loopback.get(Pods, key);
    return this.#nodeOf(asUnstructured(pod)).connect(asUnstructured(pod), port);
  }

  #nodeOf(pod: UnstructuredObject): ClusterNode {
    const nodeName = asTyped<Pod>(pod).spec.nodeName ?? '';
    const node = this.#nodes.get(nodeName);
    if (!node) {
      throw statusError.serviceUnavailable(
        `error dialing backend: dial tcp ${asTyped<Pod>(pod).status?.hostIP ?? nodeName}:10250: connect: no route to host`,
      );
    }
    return node;
  }

  /** Finds the service at a port of any Pod of the cluster. */
  podService(address: string, port: number): PortService | undefined {
    for (const node of this.#nodes.values()) {
      const service = node.podService(address, port);
      if (service) return service;
    }
    return undefined;
  }

  #connectPod(address: string, port: number): Duplex {
    const service = this.podService(address, port);
    if (!service) {
      throw Object.assign(new Error(`connect ECONNREFUSED ${address}:${port}`), { code: 'ECONNREFUSED' });
    }
    const [near, far] = duplexPair();
    service.accept(far);
    return near;
  }

  /** API groups served by Pods. */
  readonly aggregation: Aggregation = aggregatedApis({
    store: () => this.#store.current,
    services: storedServices(() => this.#store.current),
    podService: (address, port) => this.podService(address, port),
  });

  /** Resolves connections of Pods through DNS and kube-proxy. */
  readonly serviceRoute: FindServiceRoute = serviceRoutes(storedServices(() => this.#store.current));

  /** Adds a kubelet to the cluster. */
  addNode(node: ClusterNode): void {
    this.#nodes.set(node.name, node);
    this.#scheduleHeartbeat();
  }

  removeNode(node: ClusterNode): void {
    if (this.#nodes.get(node.name) === node) this.#nodes.delete(node.name);
  }

  /** Adds controllers of a machine or Pod. Of several equal ones, one leads. */
  addControllers(id: string, roles: ControllerRoles): void {
    this.#controllers.add(id, roles);
  }

  removeControllers(id: string): void {
    this.#controllers.remove(id);
  }

  /** One timer for all nodes turns their heartbeats into one batch of writes. */
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
    const stops = [
      this.#watchObjects(store, 'secret'),
      this.#watchObjects(store, 'configmap'),
      this.#watchNodePorts(store),
    ];
    this.#stopWatching = () => {
      for (const stop of stops) stop();
    };
    const stopPods = store.watch(prefix, store.revision, (events) => {
      for (const event of events) {
        if (event.type === 'put') {
          const pod = asTyped<Pod>(event.record.value.object);
          const { nodeName } = pod.spec;
          if (nodeName) this.#nodes.get(nodeName)?.podChanged(pod);
        } else {
          const [, , , namespace = '', name = ''] = event.key.split('/');
          for (const node of this.#nodes.values()) node.podChanged({ deleted: true, namespace, name });
        }
      }
    });
    stops.push(stopPods);
  }

  /** Notifies nodes when Secrets or ConfigMaps change, because Pods may mount them. */
  #watchObjects(store: Store<StoredObject>, kind: 'secret' | 'configmap'): () => void {
    const prefix = keyPrefix({ group: '', plural: `${kind}s` });
    return store.watch(prefix, store.revision, (events) => {
      if (this.#nodes.size === 0) return;
      for (const event of events) {
        const key = event.type === 'put' ? event.record.key : event.key;
        const [, , , namespace = '', name = ''] = key.split('/');
        for (const node of this.#nodes.values()) node.objectChanged(kind, namespace, name);
      }
    });
  }

  /** Notifies nodes when a Service with node ports is added, changed or deleted. */
  #watchNodePorts(store: Store<StoredObject>): () => void {
    const withPorts = new Set<string>();
    return store.watch(keyPrefix(Services), store.revision, (events) => {
      let isChanged = false;
      for (const event of events) {
        const key = event.type === 'put' ? event.record.key : event.key;
        const has = event.type === 'put' && nodePortsOf(asTyped<Service>(event.record.value.object)).length > 0;
        if (!has && !withPorts.has(key)) continue;
        isChanged = true;
        if (has) withPorts.add(key);
        else withPorts.delete(key);
      }
      if (isChanged) for (const node of this.#nodes.values()) node.nodePortsChanged();
    });
  }

  /** Node ports of Services, and the targets of their connections. */
  readonly nodePorts: NodePorts = nodePorts(
    storedServices(() => this.#store.current),
    () => allServices(this.#store.current),
  );

  /**
   * Renews the lease of a node that has reached the API. Thousands of nodes do so every ten seconds, so it writes
   * directly to the store. Returns false if there is no lease yet.
   */
  renewLease(lease: Lease): boolean {
    const store = this.#store.current;
    if (!store || !this.etcd.hasQuorum) return false;
    const { namespace, name } = lease.metadata;
    const key = objectKey({ group: Leases.group, plural: Leases.plural }, namespace, name ?? '');
    const head = store.head(key);
    if (!head) return false;
    const before = asTyped<Lease>(head.value.object);
    store
      .put(key, { kind: 'revision', revision: head.revision }, (revision) =>
        StoredObject.fromObject(
          asUnstructured({
            ...before,
            metadata: { ...before.metadata, resourceVersion: String(revision) },
            spec: { ...before.spec, ...lease.spec },
          }),
        ),
      )
      // On a conflict the next heartbeat is soon enough.
      .catch(() => undefined);
    return true;
  }

  /**
   * Records that the node controller considers a node dead. If its kubelet is alive, it must report its status again.
   */
  declareDead(name: string): void {
    this.#declaredDead.add(name);
  }

  wasDeclaredDead(name: string): boolean {
    return this.#declaredDead.has(name);
  }

  forgetDeclaredDead(name: string): void {
    this.#declaredDead.delete(name);
  }

  /** Stops everything. The data stays for the next start. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopFollowingEtcd();
    this.#cancelHeartbeat?.();
    await this.#controllers.close();
    await this.#servers.close();
    await this.#store.close();
    for (const node of [...this.#nodes.values()]) node.clusterClosed(this);
  }
}
