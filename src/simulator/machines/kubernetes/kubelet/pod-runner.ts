import { type Pod, Pods } from '../../../../api/index.ts';
import { configMapNames, secretNames } from '../../../../apiserver/index.ts';
import type { Client } from '../../../../client/index.ts';
import {
  type CancelTimer,
  deepEqual,
  isConflict,
  isNotFound,
  type KubeObject,
  must,
} from '../../../../machinery/index.ts';
import {
  directLookup,
  type PodSandbox,
  PodWorker,
  type PodWorkerParts,
  type PodWorkers,
} from '../../../../simkube/index.ts';
import type { RunningMachine } from '../../types.ts';
import { isCniPod } from './cni.ts';
import { isMirrorPod } from './mirror-pods.ts';
import { noNetwork } from './node-object.ts';

export interface PodRunnerOptions extends Omit<PodWorkerParts, 'wake' | 'placed' | 'left' | 'client' | 'lookup'> {
  readonly machine: RunningMachine;
  /** throws while the API is unreachable */
  connect(): Client;
  /** whether Pods outside of the host network can get an address */
  hasNetwork(): boolean;
  /** called when the network of the node may have changed */
  onChange(): void;
}

/** State of a Pod of the node. */
interface Entry {
  pod: Pod;
  worker: PodWorker | undefined;
  /** the object is deleted; remaining containers are stopped */
  isGone: boolean;
  /** number of changes of the objects behind its volumes */
  volumes: number;
  isBusy: boolean;
  isDue: boolean;
  cancel: CancelTimer;
  /** whether its containers are running */
  isUp: boolean;
  /** time at which it may be stopped, because termination takes a moment */
  stopAt: number | undefined;
  saidNoNetwork: boolean;
}

const writes = { fieldManager: 'kubelet' };
const retryMs = 5_000;
const never: CancelTimer = () => {};

/** Runs the Pods of a node, with serialized work per Pod like in a kubelet. */
export class PodRunner implements PodWorkers {
  readonly #options: PodRunnerOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #parts: PodWorkerParts;
  readonly #places = new Map<string, Set<PodSandbox>>();
  #isStopped = false;

  constructor(options: PodRunnerOptions) {
    this.#options = options;
    this.#parts = {
      ...options,
      get client() {
        return options.connect();
      },
      lookup: directLookup(() => options.connect()),
      wake: (pod) => this.#wake(keyText(pod)),
      placed: (sandbox) => {
        const there = this.#places.get(sandbox.address) ?? new Set();
        this.#places.set(sandbox.address, there.add(sandbox));
      },
      left: (sandbox) => {
        const there = this.#places.get(sandbox.address);
        there?.delete(sandbox);
        if (there?.size === 0) this.#places.delete(sandbox.address);
      },
    };
  }

  /** Returns the sandboxes at the address of a Pod. */
  sandboxes(address: string): ReadonlySet<PodSandbox> | undefined {
    return this.#places.get(address);
  }

  worker(pod: KubeObject): PodWorker | undefined {
    const worker = this.#entries.get(keyText(pod))?.worker;
    return worker?.uid === pod.metadata.uid ? worker : undefined;
  }

  /** Lists the Pods bound to the node before it started to watch. */
  async takeAll(nodeName: string): Promise<void> {
    const { items } = await this.#options.connect().list(Pods, { fieldSelector: `spec.nodeName=${nodeName}` });
    for (const pod of items) this.changed(pod);
  }

  changed(change: Pod | { deleted: true; namespace: string; name: string }): void {
    if (this.#isStopped) return;
    if ('deleted' in change) {
      const entry = this.#entries.get(`${change.namespace}/${change.name}`);
      if (!entry) return;
      entry.isGone = true;
      this.#wake(`${change.namespace}/${change.name}`);
      return;
    }
    if (isMirrorPod(change)) return;
    const key = keyText(change);
    const known = this.#entries.get(key);
    if (known?.pod.metadata.uid === change.metadata.uid) must(known, 'known').pod = change;
    else {
      // A new Pod with the same name. The old one stops independently.
      if (known) this.#end(known);
      this.#entries.set(key, freshEntry(change));
    }
    this.#wake(key);
  }

  /** A Secret or ConfigMap was created or replaced. */
  objectChanged(kind: 'secret' | 'configmap', namespace: string, name: string): void {
    for (const [key, entry] of this.#entries) {
      if (entry.pod.metadata.namespace !== namespace) continue;
      const spec = entry.pod.spec as object;
      if (!(kind === 'secret' ? secretNames(spec) : configMapNames(spec)).includes(name)) continue;
      entry.volumes++;
      this.#wake(key);
    }
  }

  networkMayHaveChanged(): void {
    for (const [key, { worker }] of this.#entries) if (!worker) this.#wake(key);
  }

  /** Returns the Pods of the node that have an address or use the host network. */
  running(): Pod[] {
    return [...this.#entries.values()].filter(({ worker }) => worker !== undefined).map(({ pod }) => pod);
  }

  hasRunningCni(): boolean {
    for (const { pod, isUp } of this.#entries.values()) if (isUp && isCniPod(pod)) return true;
    return false;
  }

  stop(): void {
    this.#isStopped = true;
    for (const { cancel } of this.#entries.values()) cancel();
    this.#entries.clear();
    // Everything stops at power-off, and no status can be reported.
    this.#options.backend.close().catch(() => undefined);
  }

  #wake(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry || this.#isStopped) return;
    entry.isDue = true;
    if (entry.isBusy) return;
    entry.isBusy = true;
    void this.#work(key, entry).finally(() => {
      entry.isBusy = false;
      if (entry.isDue) this.#wake(key);
    });
  }

  async #work(key: string, entry: Entry): Promise<void> {
    while (entry.isDue && !this.#isStopped) {
      entry.isDue = false;
      try {
        await this.#sync(key, entry);
      } catch (error) {
        // After a deletion or a conflict the watch delivers the new state.
        if (isNotFound(error)) continue;
        this.#later(key, entry, isConflict(error) ? retryMs / 10 : retryMs);
      }
    }
  }

  async #sync(key: string, entry: Entry): Promise<void> {
    entry.cancel();
    entry.cancel = never;
    if (entry.isGone) return this.#forget(key, entry);
    const { pod } = entry;
    const isGoing = pod.metadata.deletionTimestamp !== undefined;
    if (!entry.worker) {
      if (isGoing || isFinished(pod)) return isGoing ? this.#remove(key, entry) : undefined;
      if (!pod.spec.hostNetwork && !this.#options.hasNetwork()) return this.#sayNoNetwork(entry);
      entry.worker = new PodWorker(pod, this.#parts);
    }
    if (isGoing && this.#mustWait(key, entry)) return;
    const { worker } = entry;
    // Another writer has set a final phase, so the containers are stopped.
    if (isFinished(pod)) worker.endAs(pod);
    const due = worker.sync(pod, String(entry.volumes));
    if (!worker.isBeginning) await this.#writeStatus(pod, worker);
    this.#follow(entry);
    if (worker.isEnded && isGoing) return this.#remove(key, entry);
    if (due !== undefined) this.#later(key, entry, Math.max(0, due - this.#options.clock.now()));
  }

  /** Termination of a Pod begins after a short delay. */
  #mustWait(key: string, entry: Entry): boolean {
    const { machine, clock } = this.#options;
    entry.stopAt ??= clock.now() + machine.timings.sample('node.podstop');
    const leftMs = entry.stopAt - clock.now();
    if (leftMs <= 0) return false;
    this.#later(key, entry, leftMs);
    return true;
  }

  /** Tells the node's network that a Pod came up or ended. */
  #follow(entry: Entry): void {
    const isUp = entry.worker?.isUp ?? false;
    if (isUp === entry.isUp) return;
    entry.isUp = isUp;
    if (isCniPod(entry.pod)) this.#options.onChange();
  }

  #sayNoNetwork(entry: Entry): void {
    if (entry.saidNoNetwork) return;
    entry.saidNoNetwork = true;
    this.#options.tell(entry.pod, 'Warning', 'NetworkNotReady', `network is not ready: ${noNetwork}`);
  }

  async #writeStatus(pod: Pod, worker: PodWorker): Promise<void> {
    const status = worker.status();
    if (deepEqual(status, pod.status)) return;
    await this.#options.connect().update(Pods, { ...pod, status }, { ...writes, subresource: 'status' });
  }

  async #remove(key: string, entry: Entry): Promise<void> {
    const { metadata } = entry.pod;
    // Finalizers may keep the object, but the node is done with it.
    if (metadata.deletionGracePeriodSeconds === 0 && (metadata.finalizers?.length ?? 0) > 0) return;
    const where = { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
    await this.#options
      .connect()
      .delete(Pods, where, { gracePeriodSeconds: 0, preconditions: { uid: must(metadata.uid, 'metadata.uid') } });
    this.#forget(key, entry);
  }

  #forget(key: string, entry: Entry): void {
    this.#end(entry);
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }

  #end(entry: Entry): void {
    entry.cancel();
    entry.worker?.end(0);
    const wasUp = entry.isUp;
    entry.isUp = false;
    if (wasUp && isCniPod(entry.pod)) this.#options.onChange();
  }

  #later(key: string, entry: Entry, ms: number): void {
    entry.cancel();
    entry.cancel = this.#options.clock.after(ms, () => this.#wake(key));
  }
}

function freshEntry(pod: Pod): Entry {
  return {
    pod,
    worker: undefined,
    isGone: false,
    volumes: 0,
    isBusy: false,
    isDue: false,
    cancel: never,
    isUp: false,
    stopAt: undefined,
    saidNoNetwork: false,
  };
}

function keyText({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** Reports whether the node controller set the Pod to not ready. */
export function wasDeclaredNotReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'NodeNotReady') ?? false;
}

function isFinished({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
