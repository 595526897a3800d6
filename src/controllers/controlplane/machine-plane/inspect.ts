import type { Machine, Node } from '../../../api/index.ts';
import { formatTime, parseRfc3339 } from '../../../machinery/index.ts';
import { done, type Result } from '../../../runtime/index.ts';
import {
  conditionOf,
  dropLegacy,
  explain,
  isDeleting,
  isNotConnected,
  isToBeRemediated,
  kubeletDifference,
  kubeletVersionReason,
  type LegacyVerdict,
  legacyConditionOf,
  legacyTrue,
  setLegacy,
  setVerdict,
  updateInProgressAnnotation,
  type Verdict,
} from '../../shared/index.ts';
import { checkEtcd } from './etcd/view.ts';
import { aggregateHealth, aggregateLegacyHealth } from './health/aggregate.ts';
import { isControlPlaneNode } from './health/control-plane-nodes.ts';
import { type Inspection, nodesToAsk, readControlPlanePods } from './health/inspection.ts';
import { conditionsOf, judgeMachines, unknownMembersOf } from './health/machine-health.ts';
import { etcdMemberHealthy } from './names.ts';
import {
  type ControlPlaneScope,
  clusterKeyOf,
  draftOf,
  isEtcdManaged,
  isInitialized,
  nameOf,
  requeueAfter,
  requeuePatiently,
} from './scope.ts';

const defaultGracePeriodMs = 5 * 60_000;
/** Maximum age of an inspection that is reused while nothing changes. */
const goodEnoughMs = 10_000;
const etcdLimitMs = 6_000;
/** etcd sends no events: alarms and silent members are found only by polling. */
const calmPaceMs = 5 * 60_000;
const fastestPaceMs = 1_000;
/** Poll interval until the first API server answers. */
const firstPaceMs = 250;
const slowestPaceMs = 20_000;

const componentsCondition = 'ControlPlaneComponentsHealthy';
const etcdCondition = 'EtcdClusterHealthy';

/** Inspects the control plane inside the workload cluster, and sets conditions of machines and control plane. */
export async function inspectWorkload(scope: ControlPlaneScope): Promise<Result | undefined> {
  const { controlPlane } = scope;
  reportUpToDate(scope);
  if (!isInitialized(controlPlane)) {
    await noticeInitialization(scope);
    if (isInitialized(controlPlane)) {
      // workers wait for the initialized status, so write it before the first inspection, which takes time
      requeuePatiently(scope, 'first look at the control plane');
      return done();
    }
    reportUnknown(scope, 'InspectionFailed', 'Waiting for Cluster control plane to be initialized', {
      overwrite: true,
    });
    return undefined;
  }
  try {
    scope.inspection = await inspection(scope);
  } catch (error) {
    if (scope.context.signal.aborted) throw error;
    reportLost(scope, error);
    // no change without an inspection; the connection triggers a reconcile
    if (!isNotConnected(error)) throw error;
    return done();
  }
  judge(scope);
  return undefined;
}

async function noticeInitialization(scope: ControlPlaneScope): Promise<void> {
  const { context, provider, controlPlane, dependencies, machines } = scope;
  if (machines.length === 0) return;
  // a cluster must not be marked initialized by its only machine while that is being deleted or remediated
  const [only] = machines;
  if (machines.length === 1 && only && (isDeleting(only) || isToBeRemediated(only))) return;
  if (!dependencies.workloads.state(clusterKeyOf(scope)).connected) return;
  try {
    if (await provider.isClusterMade(dependencies.workloads.client(clusterKeyOf(scope)), context.signal)) {
      controlPlane.status = { ...controlPlane.status, initialization: { controlPlaneInitialized: true } };
      setVerdict(controlPlane, 'Initialized', { status: 'True', reason: 'Initialized' }, context.clock.now());
      delete scope.memory.uneasySince;
      return;
    }
  } catch (error) {
    if (context.signal.aborted) throw error;
    context.log.debug('The workload API does not answer yet', { error });
  }
  pace(scope, 'the cluster is being made', firstPaceMs);
}

/** Requeues with growing intervals. */
function pace(scope: ControlPlaneScope, reason: string, fastestMs = fastestPaceMs): void {
  const now = scope.context.clock.now();
  scope.memory.uneasySince ??= now;
  const wait = (now - scope.memory.uneasySince) / 10;
  requeueAfter(scope, Math.min(slowestPaceMs, Math.max(fastestMs, wait)), reason);
}

async function inspection(scope: ControlPlaneScope): Promise<Inspection> {
  const { context, dependencies, memory } = scope;
  const cluster = clusterKeyOf(scope);
  const now = context.clock.now();
  const nodes = nodesOfMachines(scope);
  const names = nodes.map(({ metadata }) => metadata.name).join(' ');
  const last = memory.inspection;
  if (last && !isChanging(scope) && last.nodes === names) {
    if (now - last.at < (isUneasy(scope) ? fastestPaceMs : goodEnoughMs)) return last;
  }
  const pods = await readControlPlanePods(dependencies.workloads.client(cluster), context.signal);
  const etcd = isEtcdManaged(scope)
    ? await checkEtcd({
        open: dependencies.etcd,
        cluster,
        nodes: nodesToAsk(nodes, pods),
        clock: context.clock,
        limitMs: etcdLimitMs,
        signal: context.signal,
      })
    : undefined;
  const seen: Inspection = { at: now, nodes: names, pods, etcd };
  memory.inspection = seen;
  return seen;
}

/** Tells whether a change is pending; decisions then need a fresh inspection. */
function isChanging({ machines, controlPlane, outdated }: ControlPlaneScope): boolean {
  return (
    machines.length !== controlPlane.spec.replicas ||
    outdated.size > 0 ||
    machines.some((machine) => isDeleting(machine) || isToBeRemediated(machine))
  );
}

/**
 * Tells whether something is unhealthy. Inspections are frequent then, but events caused by the last one are ignored.
 */
function isUneasy({ machines, memory }: ControlPlaneScope): boolean {
  return memory.uneasySince !== undefined || machines.some((machine) => !machine.status?.nodeRef);
}

function nodesOfMachines(scope: ControlPlaneScope): Node[] {
  const lister = scope.dependencies.workloads.nodes(clusterKeyOf(scope));
  return scope.machines.flatMap((machine) => {
    const name = machine.status?.nodeRef?.name;
    const node = name === undefined ? undefined : lister.get({ name });
    return node ? [node] : [];
  });
}

function judge(scope: ControlPlaneScope): void {
  const { machines, provider, controlPlane, configs, dependencies, inspection: seen, context } = scope;
  if (!seen) return;
  const nodes = new Map(nodesOfMachines(scope).map((node) => [node.metadata.name ?? '', node]));
  scope.health = judgeMachines({ provider, controlPlane, machines, configs, nodes, pods: seen.pods, etcd: seen.etcd });
  const managed = isEtcdManaged(scope);
  for (const machine of machines) {
    const health = scope.health.get(nameOf(machine));
    if (health) reportMachine(scope, machine, health.verdicts, health.legacy);
  }
  const shown = machines.map((machine) => scope.drafts.get(nameOf(machine)) ?? machine);
  const now = context.clock.now();
  const components = {
    of: conditionsOf(scope).pods,
    problems: nodesWithoutMachine(scope, dependencies.workloads.nodes(clusterKeyOf(scope)).list()),
    note: 'control plane',
  };
  setVerdict(controlPlane, componentsCondition, aggregateHealth(shown, components), now);
  putLegacy(
    scope,
    componentsCondition,
    aggregateLegacyHealth(shown, components, {
      ill: 'ControlPlaneComponentsUnhealthy',
      unknown: 'ControlPlaneComponentsUnknown',
    }),
  );
  if (managed) {
    const unknownMembers = unknownMembersOf(seen.etcd, scope.health);
    const problems = unknownMembers.map(
      ({ id, name }) =>
        `Etcd member ${name === '' ? `${id} (Name not yet assigned)` : name} does not have a corresponding Machine`,
    );
    const etcd = { of: [etcdMemberHealthy], problems, note: 'etcd member' };
    setVerdict(controlPlane, etcdCondition, aggregateHealth(shown, etcd), now);
    putLegacy(
      scope,
      etcdCondition,
      aggregateLegacyHealth(shown, etcd, { ill: 'EtcdClusterUnhealthy', unknown: 'EtcdClusterUnknown' }),
    );
  } else setLegacy(controlPlane, etcdCondition, legacyTrue, now);
  setPace(scope, managed);
}

function setPace(scope: ControlPlaneScope, managed: boolean): void {
  const { machines, provider, health, inspection: seen } = scope;
  const uneasy =
    unknownMembersOf(seen?.etcd, health).length > 0 ||
    machines.some((machine) => {
      const one = health.get(nameOf(machine));
      // a machine without a Node triggers a reconcile when it gets one
      if (!one?.nodeName || isDeleting(machine)) return false;
      return (
        !one.componentsHealthy ||
        (managed && !one.memberHealthy) ||
        one.verdicts.get(provider.marksCondition)?.status !== 'True'
      );
    });
  if (uneasy) {
    pace(scope, 'the control plane is not healthy');
    return;
  }
  delete scope.memory.uneasySince;
  requeueAfter(scope, calmPaceMs, 'next look at the control plane');
}

function nodesWithoutMachine({ machines }: ControlPlaneScope, nodes: readonly Node[]): string[] {
  // a Node that just joined may belong to a machine without a nodeRef yet
  if (machines.some(({ status }) => !status?.nodeRef)) return [];
  const known = new Set(machines.map(({ status }) => status?.nodeRef?.name));
  return nodes
    .filter((node) => isControlPlaneNode(node) && !known.has(node.metadata.name))
    .map(({ metadata }) => `Control plane Node ${metadata.name} does not have a corresponding Machine`);
}

function reportMachine(
  scope: ControlPlaneScope,
  machine: Machine,
  verdicts: ReadonlyMap<string, Verdict>,
  legacy: ReadonlyMap<string, LegacyVerdict>,
): void {
  const now = scope.context.clock.now();
  const current = scope.drafts.get(nameOf(machine)) ?? machine;
  for (const [type, verdict] of verdicts) {
    const condition = conditionOf(current, type);
    const same =
      condition?.status === verdict.status &&
      condition.reason === verdict.reason &&
      condition.message === (verdict.message ?? '');
    if (!same) setVerdict(draftOf(scope, machine), type, verdict, now);
  }
  for (const [type, verdict] of legacy) {
    const condition = legacyConditionOf(current, type);
    const same =
      condition?.status === verdict.status &&
      (condition.reason ?? '') === (verdict.reason ?? '') &&
      (condition.message ?? '') === (verdict.message ?? '');
    if (!same) setLegacy(draftOf(scope, machine), type, verdict, now);
  }
}

function putLegacy(
  { controlPlane, context }: ControlPlaneScope,
  type: string,
  verdict: LegacyVerdict | undefined,
): void {
  if (verdict) setLegacy(controlPlane, type, verdict, context.clock.now());
  else dropLegacy(controlPlane, type);
}

/** Sets UpToDate, which needs no inspection. */
export function reportUpToDate(scope: ControlPlaneScope): void {
  for (const machine of scope.machines) {
    reportMachine(scope, machine, new Map([['UpToDate', upToDateVerdict(scope, machine)]]), new Map());
  }
}

function upToDateVerdict({ outdated }: ControlPlaneScope, machine: Machine): Verdict {
  const reasons = outdated.get(nameOf(machine));
  if (reasons) {
    return { status: 'False', reason: 'NotUpToDate', message: reasons.map((reason) => `* ${reason}`).join('\n') };
  }
  if (machine.metadata.annotations?.[updateInProgressAnnotation] !== undefined) {
    const message = conditionOf(machine, 'Updating')?.message || 'In-place update in progress';
    return { status: 'False', reason: 'Updating', message: `* ${message}` };
  }
  const message = kubeletDifference(machine);
  if (message !== undefined) return { status: 'False', reason: kubeletVersionReason, message };
  return { status: 'True', reason: 'UpToDate' };
}

/** Keeps the last known state for a grace period, then sets Unknown. */
function reportLost(scope: ControlPlaneScope, error: unknown): void {
  const { context, controlPlane, dependencies } = scope;
  const { lastSuccess } = dependencies.workloads.state(clusterKeyOf(scope));
  const grace = dependencies.remoteConditionsGracePeriodMs ?? defaultGracePeriodMs;
  const initializedAt = parseRfc3339(conditionOf(controlPlane, 'Initialized')?.lastTransitionTime ?? '') ?? 0;
  const left = Math.max(lastSuccess, initializedAt) + grace - context.clock.now();
  if (left > 0) {
    reportUnknown(scope, 'ConnectionDown', 'Remote connection not established yet', { overwrite: false });
    requeueAfter(scope, left, 'the last known state gets too old');
    return;
  }
  const since = lastSuccess > 0 ? `Last successful probe at ${formatTime(lastSuccess)}` : '';
  const reason = isNotConnected(error) ? 'ConnectionDown' : 'InspectionFailed';
  reportUnknown(scope, reason, reason === 'ConnectionDown' ? since : explain(error), { overwrite: true });
}

function reportUnknown(
  scope: ControlPlaneScope,
  reason: string,
  message: string,
  { overwrite }: { overwrite: boolean },
): void {
  const { provider, controlPlane, context, machines } = scope;
  const managed = isEtcdManaged(scope);
  const verdict: Verdict = { status: 'Unknown', reason, message };
  const now = context.clock.now();
  const groups: [string, readonly string[]][] = [
    [componentsCondition, [provider.marksCondition, ...conditionsOf(scope).pods]],
  ];
  if (managed) groups.push([etcdCondition, [etcdMemberHealthy]]);
  for (const [condition, types] of groups) {
    if (!overwrite && conditionOf(controlPlane, condition)) continue;
    setVerdict(controlPlane, condition, verdict, now);
    for (const machine of machines) {
      reportMachine(scope, machine, new Map(types.map((type) => [type, verdict])), new Map());
    }
  }
}

/** Sets conditions while prerequisites of the control plane are missing. */
export function reportWaiting(scope: ControlPlaneScope, message: string): void {
  const now = scope.context.clock.now();
  const verdict: Verdict = { status: 'Unknown', reason: 'InspectionFailed', message };
  if (isEtcdManaged(scope)) setVerdict(scope.controlPlane, etcdCondition, verdict, now);
  setVerdict(scope.controlPlane, componentsCondition, verdict, now);
}
