import type { Container, ContainerStatus } from '../../api/index.ts';
import { type Clock, errorMessage, must } from '../../machinery/index.ts';
import {
  type ContainerExit,
  ContainerRefusedError,
  type LogLine,
  type PodSandbox,
  type RunningContainer,
} from '../containers/types.ts';
import { type Ended, earlierEnd, imageId, type State, shownEnd, shownState } from './container-state.ts';
import { withLastWords } from './last-words.ts';
import { runPostStart, runPreStop } from './lifecycle-hooks.ts';
import { type CheckResult, check, type ProbeTarget, startProbe } from './probe.ts';
import { Backoff, type ContainerKind, formatPause, isRunAgain } from './restart.ts';

/** Records an event for the Pod. */
export type TellPod = (type: 'Normal' | 'Warning', reason: string, message: string) => void;

export interface ContainerWorkerOptions {
  readonly spec: Container;
  readonly kind: ContainerKind;
  readonly restartPolicy: string;
  /** name_namespace(uid), as kubelet messages name a Pod */
  readonly podLabel: string;
  /** builds a container id from a compact Pod id */
  readonly idOf: (container: string, restart: number) => string;
  readonly graceMs: number;
  readonly clock: Clock;
  readonly tell: TellPod;
  /** resolves all references and starts the container; throws ContainerRefusedError */
  readonly launch: () => Promise<RunningContainer>;
  readonly sandbox: () => PodSandbox;
  /** called when a run starts */
  readonly started: (container: RunningContainer, restart: number) => void;
  /** called on a change, to reconcile the Pod */
  readonly wake: () => void;
  /** status written by an earlier host of the Pod */
  readonly earlier?: ContainerStatus;
}

/** Starts one container of a Pod, monitors it, and restarts it by its policy. */
export class ContainerWorker {
  readonly spec: Container;
  readonly kind: ContainerKind;
  readonly #options: ContainerWorkerOptions;
  readonly #backoff = new Backoff();
  readonly #startBackoff = new Backoff();
  #state: State = { kind: 'waiting' };
  #last: Ended | undefined;
  #restartCount = 0;
  #isStarted = false;
  #isReady = false;
  #isStopping = false;
  #probes: (() => void)[] = [];
  #id: string | undefined;
  #imageId = '';

  constructor(options: ContainerWorkerOptions) {
    this.spec = options.spec;
    this.kind = options.kind;
    this.#options = options;
    if (options.earlier) this.#adopt(options.earlier);
  }

  /** The startup probe, if any, has succeeded. */
  get isStarted(): boolean {
    return this.#isStarted;
  }

  get isReady(): boolean {
    return this.kind === 'init' ? this.hasSucceeded : this.#isReady;
  }

  get isRunning(): boolean {
    return this.#state.kind === 'running' || this.#state.kind === 'starting';
  }

  /** It ran at least once, under this host process or an earlier one. */
  get hasRun(): boolean {
    return this.#id !== undefined;
  }

  get hasSucceeded(): boolean {
    return this.#state.kind === 'ended' && this.#state.exit.exitCode === 0;
  }

  /** It has exited and will not be restarted. */
  get isOver(): boolean {
    return this.#state.kind === 'ended' && !this.#isRunAgain(this.#state.exit);
  }

  get exit(): ContainerExit | undefined {
    return this.#state.kind === 'ended' ? this.#state.exit : undefined;
  }

  /** Starts the container unless it runs, is finished, or must wait. Returns when to call again. */
  ensureRunning(): number | undefined {
    const now = this.#options.clock.now();
    const state = this.#state;
    if (this.#isStopping || state.kind === 'starting' || state.kind === 'running') return undefined;
    if (state.kind === 'waiting') {
      if (state.until !== undefined && state.until > now) return state.until;
      this.#begin();
      return undefined;
    }
    if (!this.#isRunAgain(state.exit)) return undefined;
    const pauseMs = this.#backoff.next();
    const until = state.endedAt + pauseMs;
    if (until <= now) {
      this.#begin();
      return undefined;
    }
    const { podLabel, tell } = this.#options;
    const what = `restarting failed container=${this.spec.name} pod=${podLabel}`;
    this.#state = {
      kind: 'waiting',
      reason: 'CrashLoopBackOff',
      message: `back-off ${formatPause(pauseMs)} ${what}`,
      until,
    };
    tell('Warning', 'BackOff', `Back-off restarting failed container ${this.spec.name} in pod ${podLabel}`);
    return until;
  }

  /** Retries a container that was refused because of a missing object, since the object may exist now. */
  reconsider(): void {
    const state = this.#state;
    if (state.kind === 'waiting' && state.reason === 'CreateContainerConfigError') this.#state = { kind: 'waiting' };
  }

  /** Stops the container permanently. Resolves when it has exited. */
  async stop(graceMs: number, reason: string): Promise<void> {
    this.#isStopping = true;
    this.#endProbes();
    const state = this.#state;
    // A container that is still starting is stopped as soon as it runs.
    if (state.kind !== 'running') return;
    this.#options.tell('Normal', 'Killing', `Stopping container ${this.spec.name}${reason}`);
    const { leftMs, result } = await runPreStop(this.#target(state.container), graceMs, this.#options.clock);
    if (!result.isGood) this.#options.tell('Warning', 'FailedPreStopHook', `PreStopHook failed: ${result.output}`);
    await state.container.stop(leftMs);
  }

  logs(previous: boolean): { lines: readonly LogLine[]; container: RunningContainer | undefined } | undefined {
    const state = this.#state;
    const current = state.kind === 'running' || (state.kind === 'ended' && !previous) ? state.container : undefined;
    const container = previous || !current ? this.#last?.container : current;
    if (!container || (previous && container === current)) return undefined;
    return { lines: container.logs(), container: container === current ? current : undefined };
  }

  get restartCount(): number {
    return this.#restartCount;
  }

  /** The running container, if any. */
  get container(): RunningContainer | undefined {
    return this.#state.kind === 'running' ? this.#state.container : undefined;
  }

  /** Returns its status as a kubelet writes it. `idle` is the reason while nothing has been tried yet. */
  status(idle: string): ContainerStatus {
    const state = this.#state;
    const image = this.spec.image ?? '';
    return {
      name: this.spec.name,
      image,
      imageID: this.#imageId,
      ...(this.#id !== undefined && { containerID: this.#id }),
      ready: this.isReady,
      started: this.#isStarted,
      restartCount: this.#restartCount,
      state: shownState(state, this.#last ? 'ContainerCreating' : idle),
      lastState: this.#last && this.#last !== state ? { terminated: shownEnd(this.#last) } : {},
    };
  }

  #isRunAgain(exit: ContainerExit): boolean {
    return isRunAgain(this.kind, this.#options.restartPolicy, exit);
  }

  #begin(): void {
    const { launch, tell } = this.#options;
    const { reason, message } = this.#state.kind === 'waiting' ? this.#state : {};
    this.#state = {
      kind: 'starting',
      ...(reason !== undefined && { before: { reason, ...(message !== undefined && { message }) } }),
    };
    launch().then(
      (container) => {
        const { name, image = '' } = this.spec;
        if (this.hasRun) this.#restartCount++;
        this.#id = this.#options.idOf(name, this.#restartCount);
        this.#imageId = imageId(image);
        tell('Normal', 'Pulled', `Container image "${image}" already present on machine`);
        tell('Normal', 'Created', `Created container: ${name}`);
        tell('Normal', 'Started', `Started container ${name}`);
        this.#run(container);
      },
      (error: unknown) => this.#refused(error),
    );
  }

  #refused(error: unknown): void {
    const { clock, tell, wake } = this.#options;
    const message = errorMessage(error);
    const reason = error instanceof ContainerRefusedError ? error.reason : 'RunContainerError';
    const pauseMs = this.#startBackoff.next();
    const isPull = reason === 'ErrImagePull' && pauseMs > 0;
    this.#state = {
      kind: 'waiting',
      reason: isPull ? 'ImagePullBackOff' : reason,
      message: isPull ? `Back-off pulling image "${this.spec.image}": ErrImagePull: ${message}` : message,
      until: reason === 'InvalidImageName' ? Number.POSITIVE_INFINITY : clock.now() + Math.max(pauseMs, 10_000),
    };
    const what =
      reason === 'ErrImagePull' ? `Failed to pull image "${this.spec.image}": ${message}` : `Error: ${message}`;
    tell('Warning', reason === 'InvalidImageName' ? 'InspectFailed' : 'Failed', what);
    wake();
  }

  #run(container: RunningContainer): void {
    const { clock, wake } = this.#options;
    const startedAt = clock.now();
    const id = must(this.#id, 'id');
    this.#state = { kind: 'running', startedAt, container };
    this.#options.started(container, this.#restartCount);
    container.exited
      .then((given) => {
        const exit = withLastWords(given, this.spec, container);
        this.#endProbes();
        this.#isStarted = false;
        this.#isReady = false;
        const endedAt = clock.now();
        this.#backoff.ran(endedAt - startedAt);
        const ended: Ended = { kind: 'ended', startedAt, endedAt, exit, id, container };
        this.#state = ended;
        this.#last = ended;
        wake();
      })
      .catch(() => {});
    if (this.#isStopping) {
      container.stop(this.#options.graceMs).catch(() => {});
      return;
    }
    this.#postStart(container);
    this.#startProbes(container);
    wake();
  }

  #startProbes(container: RunningContainer): void {
    const { startupProbe, livenessProbe, readinessProbe } = this.spec;
    const started = (): void => {
      this.#isStarted = true;
      this.#isReady = readinessProbe === undefined;
      if (livenessProbe)
        this.#probe('Liveness', livenessProbe, container, (isGood) => isGood || this.#kill('liveness'));
      if (readinessProbe) {
        this.#probe('Readiness', readinessProbe, container, (isGood) => {
          this.#isReady = isGood;
          this.#options.wake();
        });
      }
    };
    if (!startupProbe) return started();
    const stop = this.#probe('Startup', startupProbe, container, (isGood) => {
      if (!isGood) return this.#kill('startup');
      stop();
      started();
      // The first readiness probe is running and will report both states together. Containers after a sidecar wait only
      // for its start.
      const isToldTogether = readinessProbe !== undefined && !readinessProbe.initialDelaySeconds;
      if (!isToldTogether || this.kind === 'sidecar') this.#options.wake();
    });
  }

  #probe(
    name: string,
    probe: NonNullable<Container['livenessProbe']>,
    container: RunningContainer,
    settled: (isGood: boolean) => unknown,
  ): () => void {
    const { clock, tell, wake } = this.#options;
    const stop = startProbe({
      probe,
      clock,
      check: (signal): Promise<CheckResult> => check(probe, this.#target(container), signal),
      failed: (output) => {
        tell('Warning', 'Unhealthy', `${name} probe failed: ${output}`);
        if (name === 'Readiness') wake();
      },
      settled,
    });
    this.#probes.push(stop);
    return stop;
  }

  #kill(probe: string): void {
    const { tell, graceMs } = this.#options;
    const state = this.#state;
    if (state.kind !== 'running') return;
    this.#endProbes();
    tell('Normal', 'Killing', `Container ${this.spec.name} failed ${probe} probe, will be restarted`);
    const seconds = (probe === 'liveness' ? this.spec.livenessProbe : this.spec.startupProbe)
      ?.terminationGracePeriodSeconds;
    state.container.stop(seconds === undefined ? graceMs : seconds * 1000).catch(() => {});
  }

  #endProbes(): void {
    for (const stop of this.#probes) stop();
    this.#probes = [];
  }

  #postStart(container: RunningContainer): void {
    const { tell, graceMs } = this.#options;
    runPostStart(this.#target(container))
      .then(({ isGood, output }) => {
        if (isGood) return;
        tell('Warning', 'FailedPostStartHook', `PostStartHook failed: ${output}`);
        return container.stop(graceMs);
      })
      .catch(() => {});
  }

  #target(container: RunningContainer): ProbeTarget {
    return { sandbox: this.#options.sandbox(), container, spec: this.spec };
  }

  /** Restores the state from the status of an earlier host, under which the container has ended. */
  #adopt(earlier: ContainerStatus): void {
    const { clock, restartPolicy } = this.#options;
    const isRestarted = restartPolicy !== 'Never' || this.kind === 'sidecar';
    this.#restartCount = earlier.restartCount;
    this.#id = earlier.containerID || undefined;
    this.#imageId = earlier.imageID ?? '';
    this.#last = earlierEnd(earlier, isRestarted, clock.now());
    if (!this.#last || earlier.state?.waiting) return;
    // Its results were lost with the sandbox, so an init container runs again. A main container that is finished stays
    // finished.
    const isOver = !this.#isRunAgain(this.#last.exit) && (this.kind === 'main' || !isRestarted);
    if (isOver) this.#state = this.#last;
  }
}
