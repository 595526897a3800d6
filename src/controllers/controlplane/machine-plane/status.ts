import { type Cluster, clusterNameLabel, type Machine, type Node } from '../../../api/index.ts';
import { parseRfc3339 } from '../../../machinery/index.ts';
import {
  conditionOf,
  controlPlaneLabel,
  isDeleting,
  isTrue,
  kubeletVersionReason,
  type LegacyVerdict,
  legacyConditionOf,
  legacyFalse,
  legacyMachinesReady,
  legacyTrue,
  machinesReady,
  machinesUpToDate,
  remediating,
  setLegacy,
  setVerdict,
  staleMachinesText,
  summarizeLegacy,
  type Verdict,
  versionsOf,
} from '../../shared/index.ts';
import { availability } from './available.ts';
import { parseRemediation } from './decisions/remediation.ts';
import type { EtcdView } from './etcd/view.ts';
import type { MachineHealth } from './health/machine-health.ts';
import { remediationForAnnotation, remediationInProgressAnnotation } from './names.ts';
import type { MachinePlane, PlaneProvider } from './provider.ts';
import { isInitialized } from './scope.ts';

/** Inputs of the control plane status. */
export interface ControlPlaneObservation {
  provider: PlaneProvider;
  cluster: Cluster;
  machines: readonly Machine[];
  /** undefined without access to the workload cluster */
  nodes: readonly Node[] | undefined;
  etcd: EtcdView | undefined;
  health: ReadonlyMap<string, MachineHealth>;
  missingTemplate: boolean;
  waiting: readonly string[];
  creationProblem: { legacyReason: string; message: string } | undefined;
  deletion: { reason: string; message: string } | undefined;
  nowMs: number;
}

/** Computes counters and conditions on a draft. */
export function observeControlPlane(draft: MachinePlane, seen: ControlPlaneObservation): void {
  const { machines, nowMs } = seen;
  const set = (type: string, verdict: Verdict): void => setVerdict(draft, type, verdict, nowMs);
  count(draft, seen);
  const initialized = isInitialized(draft);
  set(
    'Initialized',
    initialized ? { status: 'True', reason: 'Initialized' } : { status: 'False', reason: 'NotInitialized' },
  );
  set('RollingOut', rollingOut(seen));
  set('ScalingUp', scalingUp(draft, seen));
  set('ScalingDown', scalingDown(draft, seen));
  set('MachinesReady', machinesReady(machines));
  set('MachinesUpToDate', machinesUpToDate(machines, nowMs));
  set('Remediating', remediating(machines, seen.provider.resource.kind));
  set(
    'Deleting',
    isDeleting(draft)
      ? { status: 'True', reason: seen.deletion?.reason ?? 'Deleting', message: seen.deletion?.message ?? '' }
      : { status: 'False', reason: 'NotDeleting' },
  );
  set(
    'Available',
    availability({
      controlPlane: draft,
      machines,
      components: seen.provider.componentPods(draft).map(([, condition]) => condition),
      etcdManaged: seen.provider.isEtcdManaged(draft),
      initialized,
      members: seen.etcd?.members,
      health: seen.health,
      membersMatch: membersMatch(seen),
      nowMs,
    }),
  );
  lastRemediation(draft, seen);
  seen.provider.observe?.(draft, seen);
  observeLegacy(draft, seen);
}

function count(draft: MachinePlane, { cluster, machines }: ControlPlaneObservation): void {
  const having = (type: string): number => machines.filter((machine) => isTrue(machine, type)).length;
  const versions = versionsOf(machines);
  const { versions: _, ...before } = draft.status ?? {};
  draft.status = {
    ...before,
    selector: `${clusterNameLabel}=${cluster.metadata.name ?? ''},${controlPlaneLabel}`,
    replicas: machines.length,
    readyReplicas: having('Ready'),
    availableReplicas: having('Available'),
    upToDateReplicas: having('UpToDate'),
    ...(versions.length > 0 && { versions, version: versions[0]?.version ?? '' }),
  };
}

/** Tells whether etcd members and machines match; a machine that is starting may lack its member for a while. */
function membersMatch({ machines, nodes, etcd, nowMs }: ControlPlaneObservation): boolean {
  const names = new Set(etcd?.members?.map(({ name }) => name));
  const known = new Set(machines.flatMap(({ status }) => (status?.nodeRef ? [status.nodeRef.name] : [])));
  const coming = machines.some(({ status }) => !status?.nodeRef);
  const settledMs = 2 * 60_000;
  const lacking = machines.some((machine) => {
    const name = machine.status?.nodeRef?.name;
    if (name === undefined || names.has(name) || isDeleting(machine)) return false;
    const node = nodes?.find(({ metadata }) => metadata.name === name);
    const created = parseRfc3339(node?.metadata.creationTimestamp ?? '');
    return created !== undefined && nowMs - created > settledMs;
  });
  const strange = !coming && [...names].some((name) => !known.has(name));
  return !lacking && !strange;
}

function rollingOut({ machines, waiting }: ControlPlaneObservation): Verdict {
  const old = machines.flatMap((machine) => {
    const condition = conditionOf(machine, 'UpToDate');
    // a rollout does not replace a machine whose image has a different kubelet version
    return condition?.status === 'False' && condition.reason !== kubeletVersionReason ? [condition] : [];
  });
  if (old.length === 0) return { status: 'False', reason: 'NotRollingOut' };
  const isVersion = (line: string): number => (line.startsWith('* Version') ? 0 : 1);
  const reasons = [...new Set(old.flatMap(({ message }) => (message === '' ? [] : message.split('\n'))))].sort(
    (a, b) => isVersion(a) - isVersion(b) || (a < b ? -1 : 1),
  );
  const message = [blocked(`Rolling out ${old.length} not up-to-date replicas`, waiting), ...reasons].join('\n');
  return { status: 'True', reason: 'RollingOut', message };
}

const waitingForReplicas: Verdict = {
  status: 'Unknown',
  reason: 'WaitingForReplicasSet',
  message: 'Waiting for spec.replicas set',
};

function scalingUp(draft: MachinePlane, seen: ControlPlaneObservation): Verdict {
  if (draft.spec.replicas === undefined) return waitingForReplicas;
  const desired = isDeleting(draft) ? 0 : draft.spec.replicas;
  const has = seen.machines.length;
  const missing = seen.missingTemplate
    ? `${draft.spec.machineTemplate.spec.infrastructureRef.kind} does not exist`
    : '';
  if (has >= desired) {
    const message = missing === '' || isDeleting(draft) ? '' : `Scaling up would be blocked because ${missing}`;
    return { status: 'False', reason: 'NotScalingUp', message };
  }
  const obstacles = [...seen.waiting];
  if (missing !== '') obstacles.push(missing);
  if (seen.creationProblem) obstacles.push(seen.creationProblem.message);
  return {
    status: 'True',
    reason: 'ScalingUp',
    message: blocked(`Scaling up from ${has} to ${desired} replicas`, obstacles),
  };
}

function scalingDown(draft: MachinePlane, { machines, waiting, nowMs }: ControlPlaneObservation): Verdict {
  if (draft.spec.replicas === undefined) return waitingForReplicas;
  const desired = isDeleting(draft) ? 0 : draft.spec.replicas;
  const has = machines.length;
  if (has <= desired) return { status: 'False', reason: 'NotScalingDown' };
  const stale = staleMachinesText(machines, nowMs);
  const obstacles = [...waiting, ...(stale === '' ? [] : [stale])];
  return {
    status: 'True',
    reason: 'ScalingDown',
    message: blocked(`Scaling down from ${has} to ${desired} replicas`, obstacles),
  };
}

function blocked(progress: string, obstacles: readonly string[]): string {
  if (obstacles.length === 0) return progress;
  return `${progress} is blocked because:\n${obstacles.map((obstacle) => `* ${obstacle}`).join('\n')}`;
}

/** Returns the running remediation, or the latest one recorded on machines. */
function lastRemediation(draft: MachinePlane, { provider, machines }: ControlPlaneObservation): void {
  let latest = parseRemediation(draft.metadata.annotations?.[remediationInProgressAnnotation]);
  if (!latest) {
    for (const { metadata } of machines) {
      const record = parseRemediation(metadata.annotations?.[remediationForAnnotation]);
      if (record && (!latest || latest.timestamp < record.timestamp)) latest = record;
    }
  }
  if (latest) provider.rememberRemediation(draft, latest);
}

function observeLegacy(draft: MachinePlane, seen: ControlPlaneObservation): void {
  const { machines, nodes, creationProblem, nowMs } = seen;
  const set = (type: string, verdict: LegacyVerdict | undefined): void => {
    if (verdict) setLegacy(draft, type, verdict, nowMs);
  };
  const ready = isDeleting(draft) ? 0 : readyNodes(machines, nodes, draft);
  draft.status = {
    ...draft.status,
    deprecated: {
      v1beta1: {
        ...draft.status?.deprecated?.v1beta1,
        updatedReplicas: machines.filter((machine) => isTrue(machine, 'UpToDate')).length,
        readyReplicas: ready,
        unavailableReplicas: machines.length - ready,
      },
    },
  };
  set('MachinesReady', legacyMachinesReady(machines));
  const outdated = legacyConditionOf(draft, 'MachinesSpecUpToDate');
  if (outdated?.status === 'False' && seen.waiting.length > 0) {
    const message = `${outdated.message ?? ''}: ${seen.waiting.join('; ')}`;
    set('MachinesSpecUpToDate', legacyFalse('RollingUpdateHeld', 'Warning', message));
  }
  if (!isDeleting(draft)) {
    const desired = draft.spec.replicas ?? 0;
    const actual = `control plane to ${desired} replicas (actual ${machines.length})`;
    if (machines.length < desired) set('Resized', legacyFalse('ScalingUp', 'Warning', `Scaling up ${actual}`));
    else if (machines.length > desired) set('Resized', legacyFalse('ScalingDown', 'Warning', `Scaling down ${actual}`));
    else if (machines.every((machine) => legacyConditionOf(machine, 'Ready')?.status === 'True'))
      set('Resized', legacyTrue);
    if (creationProblem) {
      set('MachinesCreated', legacyFalse(creationProblem.legacyReason, 'Error', creationProblem.message));
    } else if (machines.length >= desired) set('MachinesCreated', legacyTrue);
    if (isInitialized(draft)) set('Available', legacyTrue);
    else if (legacyConditionOf(draft, 'Available')?.status !== 'True') {
      set('Available', legacyFalse(seen.provider.waitingForInit, 'Info'));
    }
  }
  set(
    'Ready',
    summarizeLegacy(draft, {
      of: ['MachinesCreated', 'MachinesSpecUpToDate', 'Resized', 'MachinesReady', 'Available', 'CertificatesAvailable'],
    }),
  );
}

/** Keeps the last known count while Nodes cannot be read. */
function readyNodes(machines: readonly Machine[], nodes: readonly Node[] | undefined, draft: MachinePlane): number {
  if (!nodes) return Math.min(draft.status?.deprecated?.v1beta1?.readyReplicas ?? 0, machines.length);
  const names = new Set(machines.map(({ status }) => status?.nodeRef?.name));
  return nodes.filter(
    ({ metadata, status }) =>
      names.has(metadata.name) &&
      status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True'),
  ).length;
}
