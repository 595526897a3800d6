import {
  type BlockingHook,
  beforeUpgradeHookPrefix,
  type Cluster,
  deferUpgradeAnnotation,
  type HookRequests,
  holdUpgradeSequenceAnnotation,
  type LifecycleHook,
  type MachineDeploymentTopology,
  type Topology,
  upgradeConcurrencyAnnotation,
} from '../../../api/index.ts';
import { isHookPending, markHookDone, markHooksPending } from '../../shared/index.ts';
import type { UpgradePlan } from './plan.ts';

/** Upgrade state of the control plane. */
export interface PlaneState {
  readonly kind: string;
  readonly version: string;
  /** not initialized yet */
  readonly isProvisioning: boolean;
  /** machines with an older version remain */
  readonly isUpgrading: boolean;
}

/** Upgrade state of one MachineDeployment. */
export interface WorkerState {
  readonly name: string;
  readonly version: string;
  readonly isUpgrading: boolean;
}

/** Parts that are upgrading, pending or deferred; input of the conditions. */
export interface UpgradeProgress {
  readonly plan: UpgradePlan;
  readonly plane: {
    isProvisioning: boolean;
    isUpgrading: boolean;
    isStarting: boolean;
    isPending: boolean;
    isWaitingForWorkers: boolean;
  };
  /** names of MachineDeployments */
  readonly upgrading: Set<string>;
  readonly pending: Set<string>;
  readonly deferred: Set<string>;
  /** names in the topology */
  readonly notCreated: Set<string>;
  readonly blocked: { hook: string; message: string; retryAfterSeconds: number }[];
}

export interface SequenceInput {
  /** private copy; pending hooks are recorded in its annotations, which must be written before any object */
  readonly draft: Cluster & { spec: { topology: Topology } };
  readonly plan: UpgradePlan;
  /** absent before the first creation */
  readonly plane: PlaneState | undefined;
  /** by topology name */
  readonly workers: ReadonlyMap<string, WorkerState>;
  /** calls a hook; throws on failure */
  readonly hooks: SequenceHooks;
}

export interface SequenceHooks {
  /** without handlers, no pending hook is recorded */
  isListenedTo(hook: LifecycleHook): boolean;
  /** undefined means to continue */
  call<H extends BlockingHook>(
    hook: H,
    request: HookRequests[H],
  ): Promise<{ message: string; retryAfterSeconds: number } | undefined>;
}

export interface Sequence {
  readonly controlPlane: string;
  readonly deployments: ReadonlyMap<string, string>;
  readonly progress: UpgradeProgress;
}

/** Retry seconds reported for an annotation that blocks an upgrade; its removal triggers a reconcile anyway. */
const annotationRetrySeconds = 20;

/**
 * Decides the version of every part at this step: first the control plane, step by step, then the workers in order,
 * with limited concurrency. Calls hooks on the way; one that asks to wait blocks all later parts.
 */
export async function decideVersions(input: SequenceInput): Promise<Sequence> {
  const { draft, plan, plane, workers } = input;
  const progress: UpgradeProgress = {
    plan,
    plane: {
      isProvisioning: plane?.isProvisioning === true,
      isUpgrading: plane !== undefined && !plane.isProvisioning && plane.isUpgrading,
      isStarting: false,
      isPending: plane !== undefined && plane.version !== draft.spec.topology.version,
      isWaitingForWorkers: false,
    },
    upgrading: new Set([...workers.values()].filter(({ isUpgrading }) => isUpgrading).map(({ name }) => name)),
    pending: new Set(),
    deferred: new Set(),
    notCreated: new Set(),
    blocked: [],
  };
  const controlPlane = await planeVersion(input, progress);
  const deployments = new Map<string, string>();
  for (const worker of draft.spec.topology.workers?.machineDeployments ?? []) {
    const version = workerVersion(input, progress, worker, controlPlane);
    if (version !== undefined) deployments.set(worker.name, version);
  }
  await finish(input, progress);
  return { controlPlane, deployments, progress };
}

const isBlockedBy = ({ blocked }: UpgradeProgress, hook: LifecycleHook): boolean =>
  blocked.some((entry) => entry.hook === hook);

const isStable = ({ plane }: UpgradeProgress): boolean =>
  !plane.isProvisioning && !plane.isUpgrading && !plane.isStarting && (!plane.isPending || plane.isWaitingForWorkers);

async function planeVersion(input: SequenceInput, progress: UpgradeProgress): Promise<string> {
  const { draft, plan, plane, hooks } = input;
  const target = draft.spec.topology.version;
  if (!plane) return target;
  const { version } = plane;
  if (progress.plane.isProvisioning || progress.plane.isUpgrading) return version;
  const steps = { controlPlaneUpgrades: toSteps(plan.controlPlane), workersUpgrades: toSteps(plan.workers) };
  const cluster = draft;
  const passed = async <H extends LifecycleHook>(hook: H, request: HookRequests[H]): Promise<boolean> => {
    const waiting = await hooks.call(hook, request);
    if (waiting) progress.blocked.push({ hook, ...waiting });
    return waiting === undefined;
  };
  /** calls a hook that was recorded as pending */
  const completed = async <H extends LifecycleHook>(hook: H, request: HookRequests[H]): Promise<boolean> => {
    if (!isHookPending(draft, hook)) return true;
    if (!(await passed(hook, request))) return false;
    markHookDone(draft, hook);
    return true;
  };
  const after = { cluster, kubernetesVersion: version, ...steps };
  if (!(await completed('AfterControlPlaneUpgrade', after))) return version;
  const workersFrom = lowestOf(input) ?? version;
  const beforeWorkers = { cluster, fromKubernetesVersion: workersFrom, toKubernetesVersion: version, ...steps };
  if (!(await completed('BeforeWorkersUpgrade', beforeWorkers))) return version;
  if (plan.workers[0] === version) {
    progress.plane.isWaitingForWorkers = true;
    return version;
  }
  if (progress.upgrading.size > 0) return version;
  if (!(await completed('AfterWorkersUpgrade', after))) return version;
  if (!progress.plane.isPending) return version;

  const isUnderWay = isHookPending(draft, 'AfterClusterUpgrade');
  if (!isUnderWay) {
    const held = Object.keys(draft.metadata.annotations ?? {}).filter((name) =>
      name.startsWith(beforeUpgradeHookPrefix),
    );
    if (held.length > 0) {
      const message = `annotation ${held.sort().join(', ')} of the Cluster holds the upgrade`;
      progress.blocked.push({ hook: 'BeforeClusterUpgrade', message, retryAfterSeconds: annotationRetrySeconds });
      return version;
    }
    const before = { cluster, fromKubernetesVersion: version, toKubernetesVersion: target, ...steps };
    if (!(await passed('BeforeClusterUpgrade', before))) return version;
    if (hooks.isListenedTo('AfterClusterUpgrade') || plan.controlPlane.length > 1) {
      markHooksPending(draft, 'AfterClusterUpgrade');
    }
  }
  const next = plan.controlPlane[0];
  if (next === undefined) return version;
  const step = { cluster, fromKubernetesVersion: version, toKubernetesVersion: next, ...steps };
  if (!(await passed('BeforeControlPlaneUpgrade', step))) return version;
  const later: LifecycleHook[] = ['AfterControlPlaneUpgrade'];
  if (plan.workers[0] === next) later.push('BeforeWorkersUpgrade', 'AfterWorkersUpgrade');
  markHooksPending(draft, ...later.filter((hook) => hooks.isListenedTo(hook)));
  progress.plane.isStarting = true;
  progress.plane.isPending = false;
  return next;
}

const toSteps = (versions: readonly string[]): { version: string }[] => versions.map((version) => ({ version }));

function lowestOf({ workers, plane }: SequenceInput): string | undefined {
  return [...workers.values()].find(({ version }) => version !== plane?.version)?.version;
}

function workerVersion(
  { draft, plan, workers }: SequenceInput,
  progress: UpgradeProgress,
  worker: MachineDeploymentTopology,
  planeVersionNow: string,
): string | undefined {
  const { topology } = draft.spec;
  const current = workers.get(worker.name);
  const heldByHook = isBlockedBy(progress, 'AfterControlPlaneUpgrade') || isBlockedBy(progress, 'BeforeWorkersUpgrade');
  if (!current) {
    const { plane } = progress;
    // during the first creation, workers are created together with the control plane
    const isChanging = plane.isUpgrading || plane.isStarting || plane.isPending;
    if (!isChanging && !heldByHook) return topology.version;
    progress.notCreated.add(worker.name);
    return undefined;
  }
  if (current.version === topology.version) return current.version;
  if (isDeferred(topology, worker)) {
    progress.deferred.add(current.name);
    return current.version;
  }
  const next = plan.workers[0];
  const concurrency = concurrencyOf(draft);
  const mayStart =
    !heldByHook &&
    progress.upgrading.size < concurrency &&
    isStable(progress) &&
    next !== undefined &&
    next === planeVersionNow &&
    next !== current.version;
  if (!mayStart) {
    progress.pending.add(current.name);
    return current.version;
  }
  progress.upgrading.add(current.name);
  return next;
}

/** Tells whether a worker's upgrade is deferred by its annotation, or by one that holds it and all later ones. */
export function isDeferred({ workers }: Topology, worker: MachineDeploymentTopology): boolean {
  if (worker.metadata?.annotations?.[deferUpgradeAnnotation] !== undefined) return true;
  for (const candidate of workers?.machineDeployments ?? []) {
    if (candidate.metadata?.annotations?.[holdUpgradeSequenceAnnotation] !== undefined) return true;
    if (candidate.name === worker.name) return false;
  }
  return false;
}

function concurrencyOf({ metadata }: Cluster): number {
  const value = Number(metadata.annotations?.[upgradeConcurrencyAnnotation] ?? 1);
  return Number.isInteger(value) && value >= 1 ? value : 1;
}

/** Calls the last hook of an upgrade once all parts have the version. */
async function finish({ draft, hooks }: SequenceInput, progress: UpgradeProgress): Promise<void> {
  if (!isHookPending(draft, 'AfterClusterUpgrade') || !isComplete(progress)) return;
  const request = { cluster: draft, kubernetesVersion: draft.spec.topology.version };
  const waiting = await hooks.call('AfterClusterUpgrade', request);
  if (waiting) progress.blocked.push({ hook: 'AfterClusterUpgrade', ...waiting });
  else markHookDone(draft, 'AfterClusterUpgrade');
}

/** Tells whether no part is upgrading, pending or deferred. */
export function isComplete({ plane, upgrading, pending, deferred, notCreated, blocked }: UpgradeProgress): boolean {
  return (
    !plane.isProvisioning &&
    !plane.isUpgrading &&
    !plane.isStarting &&
    !plane.isPending &&
    upgrading.size + pending.size + deferred.size + notCreated.size === 0 &&
    blocked.length === 0
  );
}
