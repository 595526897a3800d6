import type { Machine, MachineSet } from '../../../api/index.ts';
import { formatLabelSelectorObject, type labelSelectorFromObject } from '../../../machinery/index.ts';
import {
  deletingText,
  isDeleting,
  isTrue,
  type LegacyVerdict,
  legacyFalse,
  legacyMachinesReady,
  legacyTrue,
  machinesReady,
  machinesUpToDate,
  missingText,
  remediating,
  scalingDownText,
  setLegacy,
  setVerdict,
  summarizeLegacy,
  updateInProgressAnnotation,
  type Verdict,
  versionsOf,
} from '../../shared/index.ts';

export interface MachineSetObservation {
  machines: readonly Machine[];
  missingTemplates: readonly string[];
  blocked: readonly string[];
  creationProblem: { legacyReason: string; message: string } | undefined;
  nowMs: number;
}

/** Computes counters and conditions on a draft from the machines. */
export function observeMachineSet(draft: MachineSet, seen: MachineSetObservation): void {
  const { machines, nowMs } = seen;
  const set = (type: string, verdict: Verdict): void => setVerdict(draft, type, verdict, nowMs);
  count(draft, machines);
  set('ScalingUp', scalingUp(draft, seen));
  set('ScalingDown', scalingDown(draft, seen));
  set('MachinesReady', machinesReady(machines));
  set('MachinesUpToDate', machinesUpToDate(machines, nowMs));
  set('Remediating', remediating(machines, 'MachineSet'));
  set(
    'Deleting',
    isDeleting(draft)
      ? {
          status: 'True',
          reason: 'Deleting',
          message: machines.length > 0 ? deletingText(machines, nowMs) : 'Deletion completed',
        }
      : { status: 'False', reason: 'NotDeleting' },
  );
  observeLegacy(draft, seen);
}

type Selector = Parameters<typeof labelSelectorFromObject>[0];

function count(draft: MachineSet, machines: readonly Machine[]): void {
  const settled = machines.filter(({ metadata }) => metadata.annotations?.[updateInProgressAnnotation] === undefined);
  const having = (type: string): number => settled.filter((machine) => isTrue(machine, type)).length;
  const versions = versionsOf(machines);
  draft.status = {
    ...draft.status,
    selector: formatLabelSelectorObject(draft.spec.selector as Selector),
    replicas: machines.length,
    readyReplicas: having('Ready'),
    availableReplicas: having('Available'),
    upToDateReplicas: having('UpToDate'),
  };
  if (versions.length > 0) draft.status.versions = versions;
  else delete draft.status.versions;
}

const waiting: Verdict = {
  status: 'Unknown',
  reason: 'WaitingForReplicasSet',
  message: 'Waiting for spec.replicas set',
};

function scalingUp(
  set: MachineSet,
  { machines, missingTemplates, blocked, creationProblem }: MachineSetObservation,
): Verdict {
  if (set.spec.replicas === undefined) return waiting;
  const desired = isDeleting(set) ? 0 : set.spec.replicas;
  const missing = missingText(missingTemplates);
  if (machines.length >= desired) {
    const message = missing !== '' && !isDeleting(set) ? `Scaling up would be blocked because ${missing}` : '';
    return { status: 'False', reason: 'NotScalingUp', message };
  }
  const obstacles = [
    ...blocked,
    ...(missing === '' ? [] : [missing]),
    ...(creationProblem ? [creationProblem.message] : []),
  ];
  const progress = `Scaling up from ${machines.length} to ${desired} replicas`;
  const message =
    obstacles.length === 0
      ? progress
      : `${progress} is blocked because:\n${obstacles.map((obstacle) => `* ${obstacle}`).join('\n')}`;
  return { status: 'True', reason: 'ScalingUp', message };
}

function scalingDown(set: MachineSet, { machines, blocked, nowMs }: MachineSetObservation): Verdict {
  if (set.spec.replicas === undefined) return waiting;
  const desired = isDeleting(set) ? 0 : set.spec.replicas;
  if (machines.length <= desired) return { status: 'False', reason: 'NotScalingDown' };
  const lines = [scalingDownText(machines, machines.length, desired, nowMs), ...blocked.map((each) => `* ${each}`)];
  return { status: 'True', reason: 'ScalingDown', message: lines.join('\n') };
}

function observeLegacy(draft: MachineSet, { machines, blocked, creationProblem, nowMs }: MachineSetObservation): void {
  const set = (type: string, verdict: LegacyVerdict | undefined): void => {
    if (verdict) setLegacy(draft, type, verdict, nowMs);
  };
  const templateLabels = Object.entries(draft.spec.template.metadata?.labels ?? {});
  const labelled = machines.filter(({ metadata }) =>
    templateLabels.every(([key, value]) => metadata.labels?.[key] === value),
  );
  draft.status = {
    ...draft.status,
    deprecated: {
      v1beta1: {
        ...draft.status?.deprecated?.v1beta1,
        fullyLabeledReplicas: labelled.length,
        readyReplicas: machines.filter((machine) => isTrue(machine, 'NodeReady')).length,
        availableReplicas: machines.filter((machine) => isTrue(machine, 'Available')).length,
      },
    },
  };
  const desired = draft.spec.replicas ?? 0;
  if (creationProblem)
    set('MachinesCreated', legacyFalse(creationProblem.legacyReason, 'Error', creationProblem.message));
  else if (blocked.length > 0) set('MachinesCreated', legacyFalse('PreflightCheckFailed', 'Error', blocked.join('; ')));
  else if (machines.length >= desired) set('MachinesCreated', legacyTrue);
  if (machines.length < desired) {
    set(
      'Resized',
      legacyFalse('ScalingUp', 'Warning', `Scaling up MachineSet to ${desired} replicas (actual ${machines.length})`),
    );
  } else if (machines.length > desired) {
    set(
      'Resized',
      legacyFalse(
        'ScalingDown',
        'Warning',
        `Scaling down MachineSet to ${desired} replicas (actual ${machines.length})`,
      ),
    );
  } else if (machines.every((machine) => isTrue(machine, 'NodeReady'))) set('Resized', legacyTrue);
  set('MachinesReady', legacyMachinesReady(machines));
  set('Ready', summarizeLegacy(draft, { of: ['MachinesCreated', 'Resized', 'MachinesReady'] }));
}
