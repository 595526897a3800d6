import type { Machine, MachineDeployment, MachineSet } from '../../../api/index.ts';
import { formatLabelSelectorObject } from '../../../machinery/index.ts';
import {
  conditionOf,
  deletingText,
  isDeleting,
  kubeletVersionReason,
  type LegacyVerdict,
  legacyConditionOf,
  legacyFalse,
  legacyTrue,
  machinesReady,
  machinesUpToDate,
  missingText,
  remediating,
  type Severity,
  scalingDownText,
  setLegacy,
  setVerdict,
  summarizeLegacy,
  type Verdict,
  versionsOf,
} from '../../shared/index.ts';
import { findRevisions } from './revisions.ts';
import { rolloutLimits } from './rollout-limits.ts';

export interface MachineDeploymentObservation {
  sets: readonly MachineSet[];
  machines: readonly Machine[];
  missingTemplates: readonly string[];
  nowMs: number;
}

type Selector = Parameters<typeof formatLabelSelectorObject>[0];

/** Computes counters, phase and conditions on a draft from sets and machines. */
export function observeMachineDeployment(draft: MachineDeployment, seen: MachineDeploymentObservation): void {
  const { machines, nowMs } = seen;
  const set = (type: string, verdict: Verdict): void => setVerdict(draft, type, verdict, nowMs);
  count(draft, seen);
  setPhase(draft);
  set('Available', availableVerdict(draft));
  set('RollingOut', rollingOut(seen));
  set('ScalingUp', scalingUp(draft, seen));
  set('ScalingDown', scalingDown(draft, machines, nowMs));
  set('MachinesReady', machinesReady(machines));
  set('MachinesUpToDate', machinesUpToDate(machines, nowMs));
  set('Remediating', remediating(machines, 'MachineDeployment/MachineSet'));
  set('Deleting', deletingVerdict(draft, seen));
  observeLegacy(draft, seen);
}

function total(sets: readonly MachineSet[], field: 'replicas' | 'readyReplicas' | 'availableReplicas'): number {
  return sets.reduce((sum, { status }) => sum + (status?.[field] ?? 0), 0);
}

function count(draft: MachineDeployment, { sets, machines, nowMs }: MachineDeploymentObservation): void {
  // machines see a new template later than the deployment; only machines of the current set can be up to date
  const { current } = findRevisions(draft, sets, nowMs);
  const versions = versionsOf(machines);
  draft.status = {
    ...draft.status,
    selector: formatLabelSelectorObject(draft.spec.selector as Selector),
    replicas: total(sets, 'replicas'),
    readyReplicas: total(sets, 'readyReplicas'),
    availableReplicas: total(sets, 'availableReplicas'),
    upToDateReplicas: current?.status?.upToDateReplicas ?? 0,
  };
  if (versions.length > 0) draft.status.versions = versions;
  else delete draft.status.versions;
}

function setPhase(draft: MachineDeployment): void {
  const desired = draft.spec.replicas;
  const current = draft.status?.replicas ?? 0;
  let phase: NonNullable<MachineDeployment['status']>['phase'] = 'Unknown';
  if (isDeleting(draft)) phase = 'ScalingDown';
  else if (desired !== undefined)
    phase = desired === current ? 'Running' : desired < current ? 'ScalingDown' : 'ScalingUp';
  draft.status = { ...draft.status, phase };
}

const waiting: Verdict = {
  status: 'Unknown',
  reason: 'WaitingForReplicasSet',
  message: 'Waiting for spec.replicas set',
};

function availableVerdict(draft: MachineDeployment): Verdict {
  const { replicas, rollout } = draft.spec;
  if (replicas === undefined) return waiting;
  const available = draft.status?.availableReplicas ?? 0;
  const needed = replicas - rolloutLimits(draft).maxUnavailable;
  if (available >= needed) return { status: 'True', reason: 'Available' };
  const rolling = (rollout?.strategy?.type ?? 'RollingUpdate') === 'RollingUpdate';
  const why = rolling
    ? ` (spec.strategy.rollout.maxUnavailable is ${rollout?.strategy?.rollingUpdate?.maxUnavailable ?? 0}, spec.replicas is ${replicas})`
    : '';
  const message = isDeleting(draft)
    ? 'Deletion in progress'
    : `${available} available replicas, at least ${needed} required${why}`;
  return { status: 'False', reason: 'NotAvailable', message };
}

const blockedText = ' is blocked because:\n';

/** Collects the reasons why sets create no machines from their conditions. */
function obstaclesOf(sets: readonly MachineSet[]): string[] {
  const lines = sets.flatMap((set) => {
    const condition = conditionOf(set, 'ScalingUp');
    const at = condition?.status === 'True' ? condition.message.indexOf(blockedText) : -1;
    return at < 0 ? [] : (condition?.message.slice(at + blockedText.length).split('\n') ?? []);
  });
  return [...new Set(lines)];
}

const because = (obstacles: readonly string[]): string =>
  obstacles.length === 0 ? '' : `${blockedText}${obstacles.join('\n')}`;

/** A rollout does not replace a machine whose image has a different kubelet version. */
const isOutdated = (upToDate: ReturnType<typeof conditionOf>): boolean =>
  upToDate?.status === 'False' && upToDate.reason !== kubeletVersionReason;

function rollingOut({ machines, sets }: MachineDeploymentObservation): Verdict {
  const outdated = machines.filter((machine) => isOutdated(conditionOf(machine, 'UpToDate')));
  if (outdated.length === 0) return { status: 'False', reason: 'NotRollingOut' };
  const reasons = new Set(
    outdated.flatMap((machine) => (conditionOf(machine, 'UpToDate')?.message ?? '').split('\n').filter(Boolean)),
  );
  const isVersion = (reason: string): number => (reason.startsWith('* Version') ? 0 : 1);
  const sorted = [...reasons].sort((a, b) => isVersion(a) - isVersion(b) || (a < b ? -1 : 1));
  return {
    status: 'True',
    reason: 'RollingOut',
    message: [`Rolling out ${outdated.length} not up-to-date replicas${because(obstaclesOf(sets))}`, ...sorted].join(
      '\n',
    ),
  };
}

function scalingUp(draft: MachineDeployment, { missingTemplates, sets }: MachineDeploymentObservation): Verdict {
  if (draft.spec.replicas === undefined) return waiting;
  const desired = isDeleting(draft) ? 0 : draft.spec.replicas;
  const current = draft.status?.replicas ?? 0;
  const missing = missingText(missingTemplates);
  if (current >= desired) {
    const message = missing !== '' && !isDeleting(draft) ? `Scaling up would be blocked because ${missing}` : '';
    return { status: 'False', reason: 'NotScalingUp', message };
  }
  const progress = `Scaling up from ${current} to ${desired} replicas`;
  const blocked = missing === '' ? because(obstaclesOf(sets)) : ` is blocked because ${missing}`;
  return { status: 'True', reason: 'ScalingUp', message: `${progress}${blocked}` };
}

function scalingDown(draft: MachineDeployment, machines: readonly Machine[], nowMs: number): Verdict {
  if (draft.spec.replicas === undefined) return waiting;
  const desired = isDeleting(draft) ? 0 : draft.spec.replicas;
  const current = draft.status?.replicas ?? 0;
  return current > desired
    ? { status: 'True', reason: 'ScalingDown', message: scalingDownText(machines, current, desired, nowMs) }
    : { status: 'False', reason: 'NotScalingDown' };
}

function deletingVerdict(draft: MachineDeployment, { machines, sets, nowMs }: MachineDeploymentObservation): Verdict {
  if (!isDeleting(draft)) return { status: 'False', reason: 'NotDeleting' };
  const message =
    machines.length > 0
      ? deletingText(machines, nowMs)
      : sets.length > 0
        ? `Deleting ${sets.length} MachineSets`
        : 'Deletion completed';
  return { status: 'True', reason: 'Deleting', message };
}

function observeLegacy(draft: MachineDeployment, { sets, nowMs }: MachineDeploymentObservation): void {
  const { current } = findRevisions(draft, sets, nowMs);
  const legacy = (field: 'readyReplicas' | 'availableReplicas'): number =>
    sets.reduce((sum, { status }) => sum + (status?.deprecated?.v1beta1?.[field] ?? 0), 0);
  const desired = sets.reduce((sum, { spec }) => sum + (spec.replicas ?? 0), 0);
  const availableReplicas = legacy('availableReplicas');
  draft.status = {
    ...draft.status,
    deprecated: {
      v1beta1: {
        ...draft.status?.deprecated?.v1beta1,
        readyReplicas: legacy('readyReplicas'),
        availableReplicas,
        unavailableReplicas: Math.max(desired - availableReplicas, 0),
        updatedReplicas: current?.status?.replicas ?? 0,
      },
    },
  };
  const needed = (draft.spec.replicas ?? 0) - rolloutLimits(draft).maxUnavailable;
  const set = (type: string, verdict: LegacyVerdict | undefined): void => {
    if (verdict) setLegacy(draft, type, verdict, nowMs);
  };
  const text = `Minimum availability requires ${needed} replicas, current ${availableReplicas} available`;
  set(
    'Available',
    availableReplicas >= needed ? legacyTrue : legacyFalse('WaitingForAvailableMachines', 'Warning', text),
  );
  const ready = current && legacyConditionOf(current, 'Ready');
  if (!current) set('MachineSetReady', legacyFalse('WaitingForMachineSet', 'Info', 'MachineSet not found'));
  else if (!ready) set('MachineSetReady', legacyFalse('WaitingForMachineSet', 'Info'));
  else {
    const { status, severity, reason, message } = ready;
    set('MachineSetReady', {
      status: status as LegacyVerdict['status'] & string,
      ...(severity !== undefined && { severity: severity as Severity }),
      ...(reason !== undefined && { reason }),
      ...(message !== undefined && { message }),
    });
  }
  set('Ready', summarizeLegacy(draft, { of: ['Available', 'MachineSetReady'] }));
}
