import {
  type Cluster,
  type Machine,
  type MachineDeployment,
  MachineDeployments,
  type MachineSet,
} from '../../../api/index.ts';
import { type Condition, formatTime, parseRfc3339 } from '../../../machinery/index.ts';
import { after, done, type Result, soonest } from '../../../runtime/index.ts';
import {
  conditionOf,
  controllerOf,
  deletionDelays,
  isDeleting,
  isDeletingForLong,
  isTrue,
  kubeletDifference,
  kubeletVersionReason,
  mirrorProgress,
  nodeStartupFinding,
  ownerOf,
  setVerdict,
  summarize,
  updateInProgressAnnotation,
  type Verdict,
  type Weight,
  type WorkloadState,
  weigh,
} from '../../shared/index.ts';
import { isRolloutExpired, rolloutAfter, templateDifferences } from '../common/template.ts';
import { nodeVerdicts } from './node-status.ts';
import type { DeletionProgress, MachineScope, NodeView, Referenced } from './scope.ts';

/** Inputs of the machine status. */
export interface MachineObservation {
  cluster: Cluster | undefined;
  machineSet: MachineSet | undefined;
  machineDeployment: MachineDeployment | undefined;
  bootstrap: Referenced;
  infrastructure: Referenced;
  node: NodeView;
  workload: WorkloadState;
  gracePeriodMs: number;
  deletion: DeletionProgress | undefined;
  updating: MachineScope['updating'];
  nowMs: number;
}

/** Computes conditions and phase on a draft. The result requeues at the time they change without an event. */
export function observeMachine(draft: Machine, seen: MachineObservation): Result {
  const set = (type: string, verdict: Verdict): void => setVerdict(draft, type, verdict, seen.nowMs);
  set('BootstrapConfigReady', bootstrapVerdict(draft, seen.bootstrap));
  set('InfrastructureReady', infrastructureVerdict(draft, seen.infrastructure));
  const node = nodeVerdicts(draft, seen);
  if (node) {
    set('NodeHealthy', withStartup(node.healthy, draft, seen.infrastructure));
    set('NodeReady', withStartup(node.ready, draft, seen.infrastructure));
  }
  set(
    'Deleting',
    isDeleting(draft)
      ? { status: 'True', reason: seen.deletion?.reason ?? 'Deleting', message: seen.deletion?.message ?? '' }
      : { status: 'False', reason: 'NotDeleting' },
  );
  set(
    'Updating',
    draft.metadata.annotations?.[updateInProgressAnnotation] !== undefined
      ? { status: 'True', ...(seen.updating ?? { reason: 'InPlaceUpdating', message: 'In-place update in progress' }) }
      : { status: 'False', reason: 'NotUpdating' },
  );
  const upToDate = upToDateVerdict(draft, seen);
  if (upToDate) set('UpToDate', upToDate);
  set('Ready', readyVerdict(draft, seen.nowMs));
  const available = availability(draft, seen.nowMs);
  set('Available', available.verdict);
  setPhase(draft, seen.nowMs);
  return soonest(available.result, untilRollout(seen));
}

function bootstrapVerdict(machine: Machine, config: Referenced): Verdict {
  const kind = machine.spec.bootstrap.configRef?.kind ?? '';
  const created = machine.status?.initialization?.bootstrapDataSecretCreated === true;
  switch (config.state) {
    case 'none':
      return { status: 'True', reason: 'DataSecretProvided' };
    case 'found':
      return mirrorProgress(config.provider.object, { type: 'Ready', done: created, field: 'dataSecretCreated' });
    case 'failed':
      return { status: 'Unknown', reason: 'InternalError', message: config.problem };
    case 'missing':
      return isDeleting(machine) && created
        ? { status: 'False', reason: 'ObjectDeleted', message: `${kind} has been deleted` }
        : { status: 'False', reason: 'ObjectDoesNotExist', message: `${kind} does not exist` };
  }
}

/** Adds to the verdict about a missing Node what the infrastructure knows of the cause. */
function withStartup(verdict: Verdict, machine: Machine, infrastructure: Referenced): Verdict {
  if (machine.status?.nodeRef !== undefined || infrastructure.state !== 'found') return verdict;
  const finding = nodeStartupFinding(infrastructure.provider.object);
  return finding === undefined ? verdict : { ...verdict, message: `${verdict.message ?? ''}: ${finding}` };
}

function infrastructureVerdict(machine: Machine, infrastructure: Referenced): Verdict {
  const { kind } = machine.spec.infrastructureRef;
  const provisioned = machine.status?.initialization?.infrastructureProvisioned === true;
  switch (infrastructure.state) {
    case 'found':
      return mirrorProgress(infrastructure.provider.object, { type: 'Ready', done: provisioned, field: 'provisioned' });
    case 'failed':
      return { status: 'Unknown', reason: 'InternalError', message: infrastructure.problem };
    default:
      if (!provisioned) return { status: 'False', reason: 'ObjectDoesNotExist', message: `${kind} does not exist` };
      return {
        status: 'False',
        reason: 'ObjectDeleted',
        message: `${kind} has been deleted${isDeleting(machine) ? '' : ' while the Machine still exists'}`,
      };
  }
}

/** Computes UpToDate. The control plane provider sets it on its own machines. */
function upToDateVerdict(machine: Machine, seen: MachineObservation): Verdict | undefined {
  const { machineSet } = seen;
  const owner = controllerOf(machine);
  if (owner && owner.kind !== 'MachineSet') return undefined;
  // no verdict while the owning set or deployment is not in the cache
  if (owner && !machineSet) return undefined;
  if (machineSet && ownerOf(machineSet, MachineDeployments) && !seen.machineDeployment) return undefined;
  const differences = machineSet ? rolloutDifferences(machineSet, seen) : [];
  if (differences.length > 0) {
    return {
      status: 'False',
      reason: 'NotUpToDate',
      message: differences.map((difference) => `* ${difference}`).join('\n'),
    };
  }
  if (isTrue(machine, 'Updating')) {
    return { status: 'False', reason: 'Updating', message: '* In-place update in progress' };
  }
  const message = kubeletDifference(machine);
  if (message !== undefined) return { status: 'False', reason: kubeletVersionReason, message };
  return { status: 'True', reason: 'UpToDate' };
}

/** Lists the differences for which the MachineDeployment would replace the machines of a set. */
function rolloutDifferences(machineSet: MachineSet, { machineDeployment, nowMs }: MachineObservation): string[] {
  if (!machineDeployment) return [];
  const differences = templateDifferences(machineSet.spec.template, machineDeployment.spec.template);
  if (isRolloutExpired(machineDeployment, machineSet, nowMs)) {
    differences.push('MachineDeployment spec.rolloutAfter expired');
  }
  return differences;
}

function untilRollout({ machineDeployment, machineSet, nowMs }: MachineObservation): Result {
  const at = machineDeployment && machineSet ? rolloutAfter(machineDeployment) : undefined;
  return at !== undefined && at > nowMs ? after(at - nowMs, 'a rollout is due') : done();
}

const summarized = [
  'Deleting',
  'Updating',
  'BootstrapConfigReady',
  'InfrastructureReady',
  'NodeHealthy',
  'HealthCheckSucceeded',
];
const expectedWhenDeleting: Readonly<Record<string, readonly string[]>> = {
  BootstrapConfigReady: ['ObjectDeleted', 'ObjectDoesNotExist'],
  InfrastructureReady: ['ObjectDeleted', 'ObjectDoesNotExist'],
  NodeHealthy: ['NodeDeleted', 'NodeDoesNotExist'],
};

function readyVerdict(machine: Machine, nowMs: number): Verdict {
  const gates = machine.spec.readinessGates ?? [];
  const negative = ['Deleting', 'Updating'];
  for (const { conditionType, polarity } of gates) if (polarity === 'Negative') negative.push(conditionType);
  const deleting = isDeleting(machine);
  return summarize(machine, {
    of: [...summarized, ...gates.map(({ conditionType }) => conditionType)],
    negative,
    optional: ['HealthCheckSucceeded'],
    reasons: { issue: 'NotReady', unknown: 'ReadyUnknown', good: 'Ready' },
    weigh: (condition: Condition): Weight =>
      deleting && expectedWhenDeleting[condition.type]?.includes(condition.reason ?? '')
        ? 'info'
        : weigh(condition, negative),
    transform: groupControlPlane,
    ...(deleting && { overrides: [deletingForSummary(machine, nowMs)] }),
  });
}

function deletingForSummary(machine: Machine, nowMs: number): Condition {
  const stage = conditionOf(machine, 'Deleting')?.reason ?? 'Deleting';
  const long = isDeletingForLong(machine, nowMs);
  const causes = long ? deletionDelays(machine, nowMs) : [];
  const message = `Machine deletion in progress${long ? ' since more than 15m' : ''}, stage: ${stage}${causes.length > 0 ? `, delay likely due to ${causes.join(', ')}` : ''}`;
  return { type: 'Deleting', status: 'True', reason: 'Deleting', message };
}

const controlPlaneLine = /^\* (?:APIServer|ControllerManager|Scheduler)|^\* EtcdPodHealthy$/;

/** Merges lines of control plane components that have the same message. */
function groupControlPlane(lines: string[]): string[] {
  const components = lines.filter((line) => {
    const [component = ''] = line.split(':');
    return controlPlaneLine.test(component);
  });
  const texts = new Set(components.map((line) => line.slice(line.indexOf(':'))));
  if (components.length < 2 || texts.size > 1) return lines;
  const [text] = texts;
  const grouped: string[] = [];
  for (const line of lines) {
    if (!components.includes(line)) grouped.push(line);
    else if (line === components[0]) grouped.push(`* Control plane components${text}`);
  }
  return grouped;
}

function availability(machine: Machine, nowMs: number): { verdict: Verdict; result: Result } {
  const ready = conditionOf(machine, 'Ready');
  if (ready?.status !== 'True') return { verdict: { status: 'False', reason: 'NotReady' }, result: done() };
  const since = parseRfc3339(ready.lastTransitionTime) ?? nowMs;
  const left = since + (machine.spec.minReadySeconds ?? 0) * 1000 - nowMs;
  if (left <= 0) return { verdict: { status: 'True', reason: 'Available' }, result: done() };
  return {
    verdict: { status: 'False', reason: 'WaitingForMinReadySeconds' },
    result: after(left, 'minReadySeconds'),
  };
}

function setPhase(machine: Machine, nowMs: number): void {
  const { initialization, nodeRef, phase: before } = machine.status ?? {};
  let phase: NonNullable<Machine['status']>['phase'] = before ?? 'Pending';
  if (initialization?.bootstrapDataSecretCreated && !initialization.infrastructureProvisioned) phase = 'Provisioning';
  if (machine.spec.providerID) phase = 'Provisioned';
  if (nodeRef && initialization?.infrastructureProvisioned) phase = 'Running';
  if (isTrue(machine, 'Updating')) phase = 'Updating';
  if (isDeleting(machine)) phase = 'Deleting';
  if (phase === before) return;
  machine.status = { ...machine.status, phase, lastUpdated: formatTime(nowMs) };
}
