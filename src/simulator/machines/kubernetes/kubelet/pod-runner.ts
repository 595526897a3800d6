import { type Pod, Pods } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import type { CancelTimer, JsonObject } from '../../../../machinery/index.ts';
import type { RunningMachine } from '../../types.ts';
import { isCniPod } from './cni.ts';
import { isMirrorPod } from './mirror-pods.ts';
import { missingMount } from './pod-mounts.ts';
import { runningStatus } from './pod-status.ts';

export interface PodRunnerOptions {
  readonly machine: RunningMachine;
  /** throws while the API cannot be reached */
  client(): Client;
  /** whether Pods that are not on the host's network can be given an address */
  hasNetwork(): boolean;
  /** the network of the node may have come or gone */
  onChange(): void;
  /** the containers of a Pod run; `ended` aborts when they do not any more */
  onRunning(pod: Pod, ended: AbortSignal): void;
}

type PodState = 'waiting' | 'starting' | 'running' | 'stopping';

interface KnownPod {
  pod: Pod;
  state: PodState;
  cancel: CancelTimer;
  /** while it runs */
  life?: AbortController;
}

const writes = { fieldManager: 'kubelet' };
const retryMs = 5_000;
const never: CancelTimer = () => {};

/** Brings the Pods given to a node up and down. What a container does is not simulated: it starts and is ready. */
export class PodRunner {
  readonly #options: PodRunnerOptions;
  readonly #pods = new Map<string, KnownPod>();
  #addresses = 1;
  #isStopped = false;

  constructor(options: PodRunnerOptions) {
    this.#options = options;
  }

  /** Takes over what was given to the node before it could look. */
  async takeAll(nodeName: string): Promise<void> {
    const { items } = await this.#options.client().list(Pods, { fieldSelector: `spec.nodeName=${nodeName}` });
    for (const pod of items) this.changed(pod);
  }

  changed(change: Pod | { deleted: true; namespace: string; name: string }): void {
    if (this.#isStopped) return;
    if ('deleted' in change) {
      this.#drop(`${change.namespace}/${change.name}`);
      return;
    }
    if (isMirrorPod(change)) return;
    const { metadata } = change;
    const key = `${metadata.namespace}/${metadata.name}`;
    let known = this.#pods.get(key);
    if (known && known.pod.metadata.uid !== metadata.uid) {
      this.#drop(key);
      known = undefined;
    }
    if (!known) {
      known = { pod: change, state: 'waiting', cancel: never };
      this.#pods.set(key, known);
    }
    known.pod = change;
    if (metadata.deletionTimestamp !== undefined) this.#stopPod(key, known);
    else if (known.state === 'running' && wasDeclaredNotReady(change)) {
      // Somebody took the node for dead. It is not, and says so as soon as it is heard.
      const running = known;
      this.#later(running, 0, () => this.#postRunning(key, running));
    } else this.#startPod(key, known);
  }

  networkMayHaveChanged(): void {
    for (const [key, known] of this.#pods) if (known.state === 'waiting') this.#startPod(key, known);
  }

  hasRunningCni(): boolean {
    for (const { pod, state } of this.#pods.values()) if (state === 'running' && isCniPod(pod)) return true;
    return false;
  }

  stop(): void {
    this.#isStopped = true;
    for (const { cancel, life } of this.#pods.values()) {
      cancel();
      life?.abort();
    }
    this.#pods.clear();
  }

  #drop(key: string): void {
    const known = this.#pods.get(key);
    if (!known) return;
    known.cancel();
    known.life?.abort();
    this.#pods.delete(key);
    if (isCniPod(known.pod)) this.#options.onChange();
  }

  #startPod(key: string, known: KnownPod): void {
    if (known.state !== 'waiting') return;
    if (isFinished(known.pod)) return;
    if (!known.pod.spec.hostNetwork && !this.#options.hasNetwork()) return;
    known.state = 'starting';
    this.#later(known, this.#options.machine.timings.sample('node.pod'), () => this.#postRunning(key, known));
  }

  async #postRunning(key: string, known: KnownPod): Promise<void> {
    const { machine } = this.#options;
    const { pod } = known;
    if (known.state === 'starting') {
      const missing = await missingMount(this.#options.client(), pod);
      if (missing !== undefined) throw new Error(missing);
    }
    const hostAddress = machine.addresses[0] ?? '';
    const podAddress = pod.spec.hostNetwork ? hostAddress : (pod.status?.podIP ?? this.#nextAddress());
    const status = runningStatus(pod, { hostAddress, podAddress }, machine.clock.now());
    await this.#options
      .client()
      .patch(
        Pods,
        keyOf(pod),
        'merge',
        { status: status as unknown as JsonObject },
        { ...writes, subresource: 'status' },
      );
    if (this.#pods.get(key) !== known || known.state !== 'starting') return;
    known.state = 'running';
    known.life = new AbortController();
    this.#options.onRunning(pod, known.life.signal);
    if (isCniPod(pod)) this.#options.onChange();
  }

  #stopPod(key: string, known: KnownPod): void {
    if (known.state === 'stopping') return;
    known.cancel();
    known.life?.abort();
    known.state = 'stopping';
    this.#later(known, this.#options.machine.timings.sample('node.podstop'), async () => {
      const preconditions = { uid: known.pod.metadata.uid! };
      await this.#options.client().delete(Pods, keyOf(known.pod), { gracePeriodSeconds: 0, preconditions });
      this.#drop(key);
    });
  }

  /** Does something for a Pod in a while, and again until it works. */
  #later(known: KnownPod, ms: number, work: () => Promise<void>): void {
    known.cancel = this.#options.machine.clock.after(ms, () => {
      const attempt = async (): Promise<void> => work();
      attempt().catch((error: unknown) => {
        const isGone = (error as { code?: number }).code === 404 || (error as { code?: number }).code === 409;
        if (!this.#isStopped && !isGone) this.#later(known, retryMs, work);
      });
    });
  }

  /** Addresses of Pods are for show: nobody connects to them. */
  #nextAddress(): string {
    const host = (this.#options.machine.addresses[0] ?? '').split('.').at(-1);
    const octet = /^\d+$/.test(host ?? '') ? host : '0';
    this.#addresses = (this.#addresses % 250) + 1;
    return `192.168.${octet}.${this.#addresses}`;
  }
}

function keyOf(pod: Pod): { namespace: string; name: string } {
  return { namespace: pod.metadata.namespace ?? '', name: pod.metadata.name ?? '' };
}

/** Whether the controller of Nodes wrote that a Pod is not ready because its node was not heard of. */
export function wasDeclaredNotReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'NodeNotReady') ?? false;
}

function isFinished(pod: Pod): boolean {
  const phase = pod.status?.phase;
  return phase === 'Succeeded' || phase === 'Failed';
}
