import { createHash } from 'node:crypto';
import type { Container, Pod, PodStatus } from '../../api/index.ts';
import { type Clock, errorMessage, must, parseRfc3339 } from '../../machinery/index.ts';
import {
  ContainerRefusedError,
  type ContainerRun,
  type PodBackend,
  type PodIdentity,
  type PodSandbox,
  type RunningContainer,
} from '../containers/types.ts';
import { ContainerWorker, type TellPod } from './container-worker.ts';
import type { PodContext } from './downward.ts';
import { containerEnvironment } from './environment.ts';
import { expandVariables, missingVariables } from './expand.ts';
import { MountError } from './files.ts';
import type { LogFiles } from './log-files.ts';
import type { ObjectLookup } from './lookup.ts';
import { type PodView, podStatus } from './pod-status.ts';
import { Backoff, type ContainerKind, mountPauses } from './restart.ts';
import { emptyDirName, resolveVolumes, type VolumeParts } from './volumes.ts';

/** Shared by all Pods of the node. */
export interface PodWorkerParts {
  readonly backend: PodBackend;
  readonly clock: Clock;
  readonly lookup: ObjectLookup;
  readonly client: VolumeParts['client'];
  readonly csiDirectory?: NonNullable<VolumeParts['csiDirectory']>;
  readonly nodeName: string;
  readonly nodeAddress: string;
  readonly allocatable: Readonly<Record<string, string>>;
  /** absent: logs are kept in memory only */
  readonly logs?: LogFiles;
  tell(pod: Pod, ...event: Parameters<TellPod>): void;
  wake(pod: Pod): void;
  /** called when a sandbox becomes reachable or unreachable */
  placed(sandbox: PodSandbox): void;
  left(sandbox: PodSandbox): void;
}

type Life = 'alive' | 'ending' | 'ended';

/** Runs one Pod from its assignment to the node until it is completely removed. */
export class PodWorker {
  readonly uid: string;
  #pod: Pod;
  readonly #parts: PodWorkerParts;
  readonly #init: readonly ContainerWorker[];
  readonly #main: readonly ContainerWorker[];
  #sandbox: PodSandbox | undefined;
  #isPreparing = false;
  #isPrepared = false;
  /** state of the objects at the last attempt to set up volumes, whether or not it succeeded */
  #volumesKey: string | undefined;
  /** time at which tokens in its volumes must be renewed */
  #renewAt: number | undefined;
  /** time of the next attempt to prepare the Pod; absent if the last one succeeded */
  #retryAt: number | undefined;
  readonly #prepareBackoff = new Backoff(mountPauses);
  #life: Life = 'alive';
  #verdict: { phase: 'Failed' | 'Succeeded'; reason?: string; message?: string } | undefined;

  constructor(pod: Pod, parts: PodWorkerParts) {
    this.#pod = pod;
    this.uid = must(pod.metadata.uid, 'metadata.uid');
    this.#parts = parts;
    const { initContainers = [], containers } = pod.spec;
    this.#init = initContainers.map((spec) =>
      this.#container(spec, spec.restartPolicy === 'Always' ? 'sidecar' : 'init'),
    );
    this.#main = containers.map((spec) => this.#container(spec, 'main'));
  }

  get sandbox(): PodSandbox | undefined {
    return this.#sandbox;
  }

  /** Nothing of the Pod runs or will run any more. */
  get isEnded(): boolean {
    return this.#life === 'ended';
  }

  /** The sandbox is being created. Nothing is reported until that succeeds or fails. */
  get isBeginning(): boolean {
    return this.#isPreparing && this.#sandbox === undefined && this.#life === 'alive';
  }

  /** All containers run and are ready. */
  get isUp(): boolean {
    return this.#life === 'alive' && this.#isPrepared && this.#main.every(({ isReady }) => isReady);
  }

  container(name: string): ContainerWorker | undefined {
    return [...this.#init, ...this.#main].find(({ spec }) => spec.name === name);
  }

  /**
   * Starts what is due without waiting for it. Returns when to call again. `volumesKey` changes with the objects the
   * volumes are built from.
   */
  sync(pod: Pod, volumesKey: string): number | undefined {
    this.#pod = pod;
    if (this.#life !== 'alive') return undefined;
    if (pod.metadata.deletionTimestamp !== undefined) {
      this.end((pod.metadata.deletionGracePeriodSeconds ?? 30) * 1000);
      return undefined;
    }
    const due = [this.#keepDeadline(), this.#keepPrepared(volumesKey)];
    if (this.#isPrepared && this.#life === 'alive') due.push(...this.#keepContainers());
    const soonest = Math.min(...due.filter((time) => time !== undefined));
    return Number.isFinite(soonest) ? soonest : undefined;
  }

  status(): PodStatus {
    const isInitialized = this.#isInitialized();
    const initIdle = this.#isPrepared ? 'PodInitializing' : 'ContainerCreating';
    const mainIdle = this.#init.length > 0 ? 'PodInitializing' : 'ContainerCreating';
    const view: PodView = {
      nodeAddress: this.#parts.nodeAddress,
      podAddress: this.#sandbox?.address ?? this.#pod.status?.podIP,
      isPrepared: this.#isPrepared && this.#life === 'alive',
      init: this.#init.map((worker) => worker.status(initIdle)),
      main: this.#main.map((worker) => worker.status(isInitialized ? 'ContainerCreating' : mainIdle)),
      isInitialized,
      incompleteInit: this.#init.filter((worker) => !isThrough(worker)).map(({ spec }) => spec.name),
      sidecars: new Set(this.#init.filter(({ kind }) => kind === 'sidecar').map(({ spec }) => spec.name)),
      phase: this.#phase(isInitialized),
      ...(this.#verdict?.reason !== undefined && { reason: this.#verdict.reason }),
      ...(this.#verdict?.message !== undefined && { message: this.#verdict.message }),
    };
    return podStatus(this.#pod, view, this.#parts.clock.now());
  }

  /** Stops everything and keeps the terminal phase of the status. */
  endAs({ status, spec }: Pod): void {
    if (this.#life !== 'alive' || (status?.phase !== 'Failed' && status?.phase !== 'Succeeded')) return;
    const { phase, reason, message } = status;
    this.#verdict ??= { phase, ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) };
    this.end((spec.terminationGracePeriodSeconds ?? 30) * 1000);
  }

  /** Stops everything: main containers first, then sidecars from last to first. */
  end(graceMs: number): void {
    if (this.#life !== 'alive') return;
    this.#life = 'ending';
    this.#tearDown(graceMs)
      .catch((error: unknown) => this.#tell('Warning', 'FailedKillPod', `error killing pod: ${errorMessage(error)}`))
      .finally(() => {
        this.#life = 'ended';
        this.#parts.wake(this.#pod);
      })
      .catch(() => {});
  }

  async #tearDown(graceMs: number): Promise<void> {
    await Promise.all(this.#main.map((worker) => worker.stop(graceMs, '')));
    for (const worker of [...this.#init].reverse()) await worker.stop(graceMs, '');
    if (this.#sandbox) {
      this.#parts.left(this.#sandbox);
      await this.#sandbox.remove();
      this.#sandbox = undefined;
    }
    this.#isPrepared = false;
    const { backend } = this.#parts;
    for (const { name, emptyDir } of this.#pod.spec.volumes ?? []) {
      if (emptyDir) await backend.removeDirectory(emptyDirName(this.#pod, name));
    }
  }

  /** Enforces activeDeadlineSeconds. */
  #keepDeadline(): number | undefined {
    const { activeDeadlineSeconds } = this.#pod.spec;
    const startedAt = parseRfc3339(this.#pod.status?.startTime ?? '');
    if (activeDeadlineSeconds === undefined || startedAt === undefined) return undefined;
    const deadline = startedAt + activeDeadlineSeconds * 1000;
    if (this.#parts.clock.now() < deadline) return deadline;
    const message = 'Pod was active on the node longer than the specified deadline';
    this.#verdict = { phase: 'Failed', reason: 'DeadlineExceeded', message };
    this.#tell('Normal', 'DeadlineExceeded', message);
    this.end((this.#pod.spec.terminationGracePeriodSeconds ?? 30) * 1000);
    return undefined;
  }

  #keepPrepared(volumesKey: string): number | undefined {
    const now = this.#parts.clock.now();
    const isOther = this.#volumesKey !== volumesKey;
    if (isOther) for (const worker of [...this.#init, ...this.#main]) worker.reconsider();
    const dueAt = this.#retryAt ?? this.#renewAt;
    if ((isOther || (dueAt !== undefined && dueAt <= now)) && !this.#isPreparing) {
      this.#isPreparing = true;
      // Recorded before anything can fail, so that the same objects are retried after the backoff and not at once.
      this.#volumesKey = volumesKey;
      this.#prepare()
        .then(
          () => this.#prepareWorked(),
          (error: unknown) => this.#prepareFailed(error),
        )
        .finally(() => {
          this.#isPreparing = false;
          this.#parts.wake(this.#pod);
        })
        .catch(() => {});
    }
    return this.#isPreparing ? undefined : dueAt;
  }

  async #prepare(): Promise<void> {
    const { backend, clock, lookup, client, csiDirectory } = this.#parts;
    const pod = this.#pod;
    if (!this.#sandbox) {
      const sandbox = await backend.createSandbox(identityOf(pod));
      // The Pod was deleted while its sandbox was being created.
      if (this.#life !== 'alive') return sandbox.remove();
      this.#sandbox = sandbox;
      this.#parts.placed(sandbox);
    }
    const { volumes, renewAt } = await resolveVolumes(
      pod,
      this.#around(),
      { client, lookup, backend, ...(csiDirectory && { csiDirectory }) },
      clock.now(),
    );
    await this.#sandbox.setVolumes(volumes);
    this.#renewAt = renewAt;
    this.#isPrepared = this.#life === 'alive';
  }

  #prepareWorked(): void {
    this.#retryAt = undefined;
    this.#prepareBackoff.reset();
  }

  /** Retries with a growing backoff, or at once when an object of its volumes changes. */
  #prepareFailed(error: unknown): void {
    this.#retryAt = this.#parts.clock.now() + this.#prepareBackoff.next();
    const reason = error instanceof MountError ? 'FailedMount' : 'FailedCreatePodSandBox';
    this.#tell('Warning', reason, errorMessage(error));
  }

  #keepContainers(): (number | undefined)[] {
    const due: (number | undefined)[] = [];
    for (const worker of this.#init) {
      if (worker.kind === 'init' && worker.hasSucceeded) continue;
      due.push(worker.ensureRunning());
      if (worker.isOver) return this.#finish();
      if (worker.kind === 'init' || !worker.isStarted) return due;
    }
    for (const worker of this.#main) due.push(worker.ensureRunning());
    return this.#main.every(({ isOver }) => isOver) ? this.#finish() : due;
  }

  /** All containers have finished, so the sidecars are stopped too. */
  #finish(): [] {
    this.end((this.#pod.spec.terminationGracePeriodSeconds ?? 30) * 1000);
    return [];
  }

  #isInitialized(): boolean {
    return this.#init.every(isThrough) || this.#main.some(({ isRunning, exit }) => isRunning || exit !== undefined);
  }

  #phase(isInitialized: boolean): PodView['phase'] {
    if (this.#verdict) return this.#verdict.phase;
    if (this.#init.some(({ kind, isOver, hasSucceeded }) => kind === 'init' && isOver && !hasSucceeded))
      return 'Failed';
    const isGoing = this.#pod.metadata.deletionTimestamp !== undefined && this.#life === 'ended';
    if (isGoing || this.#main.every(({ isOver }) => isOver)) {
      return this.#main.every(({ hasSucceeded }) => hasSucceeded) ? 'Succeeded' : 'Failed';
    }
    // A Pod that ran never returns to Pending, even while a container waits for its backoff.
    const hasRun = this.#pod.status?.phase === 'Running' && this.#sandbox !== undefined;
    const isUp = this.#main.every((worker) => worker.container !== undefined || worker.hasRun);
    return isInitialized && (isUp || hasRun) ? 'Running' : 'Pending';
  }

  #container(spec: Container, kind: ContainerKind): ContainerWorker {
    const { clock } = this.#parts;
    const { metadata, status, spec: podSpec } = this.#pod;
    const statuses = kind === 'main' ? status?.containerStatuses : status?.initContainerStatuses;
    const earlier = statuses?.find(({ name }) => name === spec.name);
    const runtime = this.#parts.backend.name.split(':')[0];
    return new ContainerWorker({
      spec,
      kind,
      restartPolicy: podSpec.restartPolicy ?? 'Always',
      podLabel: `${metadata.name}_${metadata.namespace}(${metadata.uid})`,
      idOf: (name, restart) =>
        `${runtime}://${createHash('sha256').update(`${metadata.uid} ${name} ${restart}`).digest('hex')}`,
      graceMs: (podSpec.terminationGracePeriodSeconds ?? 30) * 1000,
      clock,
      tell: (...event) => this.#tell(...event),
      launch: () => this.#launch(spec),
      sandbox: () => must(this.#sandbox, 'sandbox'),
      wake: () => this.#parts.wake(this.#pod),
      started: (container, restart) =>
        this.#parts.logs?.keep({ uid: this.uid, container: spec.name, restart }, container),
      ...(earlier && { earlier }),
    });
  }

  async #launch(spec: Container): Promise<RunningContainer> {
    const env = await containerEnvironment(this.#pod, spec, this.#around(), this.#parts.lookup);
    const sandbox = this.#sandbox;
    if (!sandbox) throw new Error('the sandbox of the pod is gone');
    return sandbox.start(containerRun(spec, env));
  }

  #around(): PodContext {
    const { nodeName, nodeAddress, allocatable } = this.#parts;
    return { nodeName, nodeAddress, allocatable, podAddress: this.#sandbox?.address ?? '' };
  }

  #tell(...event: Parameters<TellPod>): void {
    this.#parts.tell(this.#pod, ...event);
  }
}

/** Reports whether an init container no longer blocks later ones. */
function isThrough(worker: ContainerWorker): boolean {
  return worker.kind === 'sidecar' ? worker.isStarted : worker.hasSucceeded;
}

function containerRun(spec: Container, env: Record<string, string>): ContainerRun {
  const expand = (text: string): string => expandVariables(text, env);
  return {
    name: spec.name,
    image: spec.image ?? '',
    ...(spec.command && { command: spec.command.map(expand) }),
    args: (spec.args ?? []).map(expand),
    env,
    ...(spec.stdin && { stdin: true }),
    ...(spec.workingDir !== undefined && { workingDirectory: spec.workingDir }),
    mounts: (spec.volumeMounts ?? []).map(({ name, mountPath, subPath, subPathExpr, readOnly }) => {
      const part = subPathExpr ? expandedSubPath(subPathExpr, env) : subPath;
      return { volume: name, path: mountPath, readOnly: readOnly ?? false, ...(part && { subPath: part }) };
    }),
    ports: answeredPorts(spec),
    ...(spec.securityContext?.capabilities && { capabilities: spec.securityContext.capabilities }),
  };
}

/** Ports the default program listens on: declared ports and those of probes. */
function answeredPorts({ ports = [], livenessProbe, readinessProbe, startupProbe }: Container): number[] {
  const declared = ports
    .filter(({ protocol }) => (protocol ?? 'TCP') === 'TCP')
    .map(({ containerPort }) => containerPort);
  const probed = [livenessProbe, readinessProbe, startupProbe].map((probe) =>
    Number(probe?.httpGet?.port ?? probe?.tcpSocket?.port ?? probe?.grpc?.port),
  );
  return [...new Set([...declared, ...probed.filter((port) => Number.isInteger(port) && port > 0)])];
}

/** Expands variables in a subPath. A path that leaves the volume is rejected in a kubelet's words. */
function expandedSubPath(text: string, env: Readonly<Record<string, string>>): string {
  const refused = (message: string): Error => new ContainerRefusedError('CreateContainerConfigError', message);
  const missing = missingVariables(text, env);
  if (missing.length > 0) throw refused(`missing value for ${missing.join(', ')}`);
  const path = expandVariables(text, env);
  if (path.startsWith('/')) throw refused(`error SubPath \`${path}\` must not be an absolute path`);
  if (path.split('/').includes('..')) throw refused(`unable to provision SubPath \`${path}\`: must not contain '..'`);
  return path;
}

function identityOf({ metadata, spec, status }: Pod): PodIdentity {
  const hostAliases = new Map<string, string>();
  for (const { ip = '', hostnames = [] } of spec.hostAliases ?? []) {
    for (const hostname of hostnames) hostAliases.set(hostname, ip);
  }
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    hostname: spec.hostname || (metadata.name ?? ''),
    hostNetwork: spec.hostNetwork ?? false,
    ...(status?.podIP && { address: status.podIP }),
    hostAliases,
  };
}
