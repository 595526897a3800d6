import type {
  Cluster,
  ClusterReplicas,
  Machine,
  MachineDeployment,
  MachineSet,
  ReplicaVersion,
} from '../../../api/index.ts';
import { asTyped, type Condition, formatTime, getCondition, type KubeObject } from '../../../machinery/index.ts';
import { after, done, type Result } from '../../../runtime/index.ts';
import {
  aggregate,
  type Conditioned,
  conditionOf,
  controlPlaneCounts,
  controlPlaneVersions,
  findCondition,
  isControlPlaneInitialized,
  isDeleting,
  isOwnedBy,
  isToBeRemediated,
  isTrue,
  isUnhealthy,
  machinesReady,
  machinesUpToDate,
  mergeReported,
  mirrorProgress,
  type Reported,
  setVerdict,
  summarize,
  unhealthyMachinesText,
  unreadableNodes,
  type Verdict,
  versionsOf,
  type Weight,
  type WorkloadState,
  weigh,
} from '../../shared/index.ts';
import { isEndpointValid } from './references.ts';
import type { Descendants, Referenced } from './scope.ts';

/** Inputs of the cluster status. */
export interface ClusterObservation {
  infrastructure: Referenced;
  controlPlane: Referenced;
  descendants: Descendants;
  workload: WorkloadState;
  /** why there is no kubeconfig */
  kubeconfigProblem: string | undefined;
  deletion: { reason: string; message: string } | undefined;
  /** whether a controller reconciles spec.topology */
  topologies: boolean;
  nowMs: number;
}

/** Time a connection may fail before the condition reports it. */
const probeGraceMs = 50_000;
const waitingForTopology = 'Waiting for cluster topology to be reconciled';

/** Computes counters, phase and conditions on a draft. */
export function observeCluster(draft: Cluster, seen: ClusterObservation): Result {
  const { descendants, nowMs } = seen;
  const { deployments, sets, controlPlaneMachines, workerMachines } = descendants;
  const set = (type: string, verdict: Verdict | undefined): void => {
    if (verdict) setVerdict(draft, type, verdict, nowMs);
  };
  count(draft, seen);
  setPhase(draft);
  const probe = probeVerdict(draft, seen);
  set('RemoteConnectionProbe', probe.verdict);
  set('InfrastructureReady', infrastructureVerdict(draft, seen.infrastructure));
  set('ControlPlaneInitialized', initializedVerdict(draft, seen));
  set('ControlPlaneAvailable', controlPlaneVerdict(draft, seen));
  set('WorkersAvailable', workersVerdict(deployments));
  set('ControlPlaneMachinesReady', machinesReady(controlPlaneMachines));
  set('WorkerMachinesReady', machinesReady(workerMachines));
  set('ControlPlaneMachinesUpToDate', machinesUpToDate(controlPlaneMachines, nowMs));
  set('WorkerMachinesUpToDate', machinesUpToDate(workerMachines, nowMs));
  const standAlone = sets.filter((machineSet) => isOwnedBy(machineSet, draft));
  set('RollingOut', activity('RollingOut', seen.controlPlane, deployments));
  set('ScalingUp', activity('ScalingUp', seen.controlPlane, [...deployments, ...standAlone]));
  set('ScalingDown', activity('ScalingDown', seen.controlPlane, [...deployments, ...standAlone]));
  set('Remediating', remediatingVerdict([...controlPlaneMachines, ...workerMachines]));
  set(
    'Deleting',
    isDeleting(draft)
      ? { status: 'True', reason: seen.deletion?.reason ?? 'Deleting', message: seen.deletion?.message ?? '' }
      : { status: 'False', reason: 'NotDeleting' },
  );
  set('TopologyReconciled', topologyVerdict(draft, seen));
  set('Available', availableVerdict(draft));
  return probe.result;
}

/**
 * Reports spec.topology as unsupported if no topology controller runs. Otherwise that controller sets the condition.
 */
function topologyVerdict({ spec }: Cluster, { topologies }: ClusterObservation): Verdict | undefined {
  if (!spec.topology || topologies) return undefined;
  const message =
    'spec.topology is not acted on: this program does not build clusters from a ClusterClass; apply the objects the class stands for (Cluster with infrastructureRef and controlPlaneRef, MachineDeployments)';
  return { status: 'False', reason: 'TopologyNotSupported', message };
}

function setPhase(cluster: Cluster): void {
  let phase: NonNullable<Cluster['status']>['phase'] = cluster.status?.phase ?? 'Pending';
  if (cluster.spec.infrastructureRef || cluster.spec.controlPlaneRef) phase = 'Provisioning';
  if (cluster.status?.initialization?.infrastructureProvisioned && isEndpointValid(cluster)) phase = 'Provisioned';
  if (isDeleting(cluster)) phase = 'Deleting';
  if (phase !== cluster.status?.phase) cluster.status = { ...cluster.status, phase };
}

function count(draft: Cluster, { controlPlane, descendants }: ClusterObservation): void {
  const { deployments, sets, controlPlaneMachines, workerMachines } = descendants;
  const status = { ...draft.status };
  const put = (part: 'controlPlane' | 'workers', counts: ClusterReplicas): void => {
    // the topology controller stores its upgrade plan in the same struct
    const upgradePlan = status[part]?.upgradePlan;
    const merged = { ...counts, ...(upgradePlan && { upgradePlan }) };
    if (Object.keys(merged).length > 0) status[part] = merged;
    else delete status[part];
  };
  const ofProvider = draft.spec.controlPlaneRef !== undefined || draft.spec.topology !== undefined;
  if (!ofProvider) put('controlPlane', countMachines(controlPlaneMachines));
  else if (controlPlane.state === 'found') {
    const versions = controlPlaneVersions(controlPlane.provider);
    put('controlPlane', { ...controlPlaneCounts(controlPlane.provider), ...(versions && { versions }) });
  } else put('controlPlane', {});
  put(
    'workers',
    countWorkers(
      deployments,
      sets.filter((set) => isOwnedBy(set, draft)),
      workerMachines.filter((machine) => isOwnedBy(machine, draft)),
      versionsOf(workerMachines),
    ),
  );
  draft.status = status;
}

function countMachines(machines: readonly Machine[]): ClusterReplicas {
  if (machines.length === 0) return {};
  const having = (type: string): number => machines.filter((machine) => isTrue(machine, type)).length;
  const versions = versionsOf(machines);
  return {
    desiredReplicas: machines.length,
    replicas: machines.length,
    readyReplicas: having('Ready'),
    availableReplicas: having('Available'),
    upToDateReplicas: having('UpToDate'),
    ...(versions.length > 0 && { versions }),
  };
}

function countWorkers(
  deployments: readonly MachineDeployment[],
  sets: readonly MachineSet[],
  standAlone: readonly Machine[],
  versions: readonly ReplicaVersion[],
): ClusterReplicas {
  const parts: ClusterReplicas[] = [countMachines(standAlone)];
  for (const { spec, status } of [...deployments, ...sets]) {
    const { replicas, readyReplicas, availableReplicas, upToDateReplicas } = status ?? {};
    parts.push({
      ...(spec.replicas !== undefined && { desiredReplicas: spec.replicas }),
      ...(replicas !== undefined && { replicas }),
      ...(readyReplicas !== undefined && { readyReplicas }),
      ...(availableReplicas !== undefined && { availableReplicas }),
      ...(upToDateReplicas !== undefined && { upToDateReplicas }),
    });
  }
  const total: ClusterReplicas = {};
  for (const field of [
    'desiredReplicas',
    'replicas',
    'readyReplicas',
    'availableReplicas',
    'upToDateReplicas',
  ] as const) {
    for (const part of parts) if (part[field] !== undefined) total[field] = (total[field] ?? 0) + part[field];
  }
  if (versions.length > 0) total.versions = [...versions];
  return total;
}

function probeVerdict(cluster: Cluster, seen: ClusterObservation): { verdict?: Verdict; result: Result } {
  const { nowMs } = seen;
  const { lastSuccess, failures, failingSince = nowMs, problem } = seen.workload;
  const failed = (message: string): { verdict: Verdict; result: Result } => ({
    verdict: { status: 'False', reason: 'ProbeFailed', message },
    result: done(),
  });
  if (lastSuccess === 0 && seen.kubeconfigProblem !== undefined) {
    return failed(`Remote connection not established yet (${seen.kubeconfigProblem})`);
  }
  if (lastSuccess === 0 && failures < 5) {
    // after a restart the first probe may be pending, so the old condition stays
    return conditionOf(cluster, 'RemoteConnectionProbe')
      ? { result: done() }
      : failed('Remote connection not established yet');
  }
  const why = problem === undefined ? '' : ` (${problem})`;
  if (lastSuccess === 0) return failed(`Remote connection probe failed${why}`);
  // counted from the first failure, not the last success: healthy connections are probed less often than the grace
  // period
  const silence = nowMs - failingSince;
  if (failures > 0 && silence > probeGraceMs) {
    return failed(`Remote connection probe failed, probe last succeeded at ${formatTime(lastSuccess)}${why}`);
  }
  const unreadable = unreadableNodes(seen.workload);
  const unreadFor = nowMs - (seen.workload.unreadable?.since ?? nowMs);
  if (unreadable !== undefined) {
    if (unreadFor > probeGraceMs) return failed(unreadable);
    return {
      verdict: { status: 'True', reason: 'ProbeSucceeded' },
      result: after(probeGraceMs - unreadFor + 1_000, 'the Nodes cannot be read'),
    };
  }
  return {
    verdict: { status: 'True', reason: 'ProbeSucceeded' },
    result: failures > 0 ? after(probeGraceMs - silence + 1_000, 'the workload API fails to answer') : done(),
  };
}

function goneVerdict(cluster: Cluster, kind: string, wasThere: boolean): Verdict {
  if (!wasThere) return { status: 'False', reason: 'ObjectDoesNotExist', message: `${kind} does not exist` };
  return {
    status: 'False',
    reason: 'ObjectDeleted',
    message: `${kind} has been deleted${isDeleting(cluster) ? '' : ' while the cluster still exists'}`,
  };
}

function infrastructureVerdict(cluster: Cluster, infrastructure: Referenced): Verdict | undefined {
  const kind = cluster.spec.infrastructureRef?.kind ?? '';
  const provisioned = cluster.status?.initialization?.infrastructureProvisioned === true;
  switch (infrastructure.state) {
    case 'none':
      if (!cluster.spec.topology) return { status: 'True', reason: 'Ready' };
      return {
        status: 'False',
        reason: 'ObjectDoesNotExist',
        message: isDeleting(cluster) ? '' : waitingForTopology,
      };
    case 'found':
      return mirrorProgress(infrastructure.provider.object, { type: 'Ready', done: provisioned, field: 'provisioned' });
    case 'failed':
      return { status: 'Unknown', reason: 'InternalError', message: infrastructure.problem };
    case 'missing':
      return goneVerdict(cluster, kind, provisioned);
  }
}

function controlPlaneVerdict(cluster: Cluster, { controlPlane, descendants }: ClusterObservation): Verdict {
  const kind = cluster.spec.controlPlaneRef?.kind ?? '';
  const initialized = cluster.status?.initialization?.controlPlaneInitialized === true;
  switch (controlPlane.state) {
    case 'none': {
      if (cluster.spec.topology) {
        const message = isDeleting(cluster) ? '' : waitingForTopology;
        return { status: 'False', reason: 'ObjectDoesNotExist', message };
      }
      // standalone machines: the control plane is available when one of them is
      const available = descendants.controlPlaneMachines.some((machine) => isTrue(machine, 'Available'));
      return available
        ? { status: 'True', reason: 'Available' }
        : { status: 'False', reason: 'NotAvailable', message: 'No control plane Machine is available' };
    }
    case 'found':
      return mirrorProgress(controlPlane.provider.object, {
        type: 'Available',
        done: initialized,
        field: 'controlPlaneInitialized',
      });
    case 'failed':
      return { status: 'Unknown', reason: 'InternalError', message: controlPlane.problem };
    case 'missing':
      return goneVerdict(cluster, kind, initialized);
  }
}

function initializedVerdict(cluster: Cluster, { controlPlane }: ClusterObservation): Verdict | undefined {
  // once True, it stays True
  if (isTrue(cluster, 'ControlPlaneInitialized')) return undefined;
  const initialized: Verdict = { status: 'True', reason: 'Initialized' };
  if (cluster.status?.initialization?.controlPlaneInitialized === true) return initialized;
  const kind = cluster.spec.controlPlaneRef?.kind ?? '';
  switch (controlPlane.state) {
    case 'none':
      if (cluster.spec.topology) {
        const message = isDeleting(cluster) ? '' : waitingForTopology;
        return { status: 'Unknown', reason: 'ObjectDoesNotExist', message };
      }
      return {
        status: 'False',
        reason: 'NotInitialized',
        message: 'Waiting for the first control plane machine to have status.nodeRef set',
      };
    case 'found':
      return isControlPlaneInitialized(controlPlane.provider)
        ? initialized
        : { status: 'False', reason: 'NotInitialized', message: 'Control plane not yet initialized' };
    case 'failed':
      return { status: 'Unknown', reason: 'InternalError', message: controlPlane.problem };
    case 'missing':
      return { status: 'Unknown', reason: 'ObjectDoesNotExist', message: `${kind} does not exist` };
  }
}

function workersVerdict(deployments: readonly MachineDeployment[]): Verdict {
  if (deployments.length === 0) return { status: 'True', reason: 'NoWorkers' };
  return aggregate(deployments, 'Available', {
    reasons: { issue: 'NotAvailable', unknown: 'AvailableUnknown', good: 'Available' },
  });
}

/** Aggregates a condition that is True while some part is changing. */
function activity(
  type: 'RollingOut' | 'ScalingUp' | 'ScalingDown',
  controlPlane: Referenced,
  parts: readonly (KubeObject & Conditioned)[],
): Verdict {
  const reported: Reported[] = [];
  const add = (kind: string, name: string, condition: Condition): void => {
    reported.push({ kind, name, condition, weight: weigh(condition, [type]) });
  };
  if (controlPlane.state === 'found') {
    const { object } = controlPlane.provider;
    const condition = findCondition(object, type);
    if (condition) add(object.kind, object.metadata.name ?? '', asTyped<Condition>(condition));
  }
  for (const part of parts) {
    const condition = getCondition(part.status?.conditions, type) ?? {
      type,
      status: 'Unknown' as const,
      reason: 'NotYetReported',
      message: `Condition ${type} not yet reported`,
    };
    add(part.kind, part.metadata.name ?? '', condition);
  }
  const idle = `Not${type}`;
  if (reported.length === 0) return { status: 'False', reason: idle };
  const merged = mergeReported(reported, { issue: type, unknown: `${type}Unknown`, good: idle });
  const flipped = merged.status === 'Unknown' ? 'Unknown' : merged.status === 'False' ? 'True' : 'False';
  return { ...merged, status: flipped };
}

function remediatingVerdict(machines: readonly Machine[]): Verdict {
  const concerned = machines.filter(isToBeRemediated);
  if (concerned.length === 0) {
    const text = unhealthyMachinesText(machines.filter(isUnhealthy), '').replace(/ by \)$/, ')');
    return { status: 'False', reason: 'NotRemediating', message: text };
  }
  const { message = '' } = aggregate(concerned, 'OwnerRemediated', {
    reasons: { issue: 'Remediating', unknown: 'Remediating', good: 'Remediating' },
  });
  return { status: 'True', reason: 'Remediating', message };
}

const expectedWhenDeleting: readonly string[] = ['InfrastructureReady', 'ControlPlaneAvailable'];
const goneReasons: readonly string[] = ['ObjectDeleted', 'ObjectDoesNotExist'];
const topologyFailures: readonly string[] = ['ReconcileFailed', 'ClusterClassNotReconciled', 'TopologyNotSupported'];

function availableVerdict(cluster: Cluster): Verdict {
  const gates = cluster.spec.availabilityGates ?? [];
  const negative = ['Deleting'];
  for (const { conditionType, polarity } of gates) if (polarity === 'Negative') negative.push(conditionType);
  const deleting = isDeleting(cluster);
  return summarize(cluster, {
    of: [
      'Deleting',
      'RemoteConnectionProbe',
      'InfrastructureReady',
      'ControlPlaneAvailable',
      'WorkersAvailable',
      'TopologyReconciled',
      ...gates.map(({ conditionType }) => conditionType),
    ],
    negative,
    optional: cluster.spec.topology ? [] : ['TopologyReconciled'],
    reasons: { issue: 'NotAvailable', unknown: 'AvailableUnknown', good: 'Available' },
    weigh: (condition: Condition): Weight => {
      const reason = condition.reason ?? '';
      if (deleting && expectedWhenDeleting.includes(condition.type) && goneReasons.includes(reason)) return 'info';
      // a topology waiting for its turn does not make the cluster unavailable
      if (
        condition.type === 'TopologyReconciled' &&
        condition.status === 'False' &&
        !topologyFailures.includes(reason)
      ) {
        return 'info';
      }
      return weigh(condition, negative);
    },
  });
}
