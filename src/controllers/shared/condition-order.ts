import type { Condition } from '../../machinery/index.ts';

/** Upstream's condition order; unlisted types go between these and the last ones, alphabetically. */
const first = [
  'Available',
  'Ready',
  'UpToDate',
  'RemoteConnectionProbe',
  'BootstrapConfigReady',
  'InfrastructureReady',
  'ControlPlaneInitialized',
  'ControlPlaneAvailable',
  'WorkersAvailable',
  'CertificatesAvailable',
  'Initialized',
  'EtcdClusterHealthy',
  'ControlPlaneComponentsHealthy',
  'NodeHealthy',
  'NodeReady',
  'NodeKubeadmLabelsAndTaintsSet',
  'EtcdPodHealthy',
  'EtcdMemberHealthy',
  'APIServerPodHealthy',
  'ControllerManagerPodHealthy',
  'SchedulerPodHealthy',
  'HealthCheckSucceeded',
  'OwnerRemediated',
  'TopologyReconciled',
  'Updating',
  'RollingOut',
  'Remediating',
  'ScalingDown',
  'ScalingUp',
  'MachinesReady',
  'ControlPlaneMachinesReady',
  'WorkerMachinesReady',
  'MachinesUpToDate',
  'ControlPlaneMachinesUpToDate',
  'WorkerMachinesUpToDate',
];
const last = ['Paused', 'Deleting'];

const others = first.length;
const rank: ReadonlyMap<string, number> = new Map([
  ...first.map((type, index) => [type, index] as const),
  ...last.map((type, index) => [type, others + 1 + index] as const),
]);

function compare(a: Condition, b: Condition): number {
  const difference = (rank.get(a.type) ?? others) - (rank.get(b.type) ?? others);
  return difference !== 0 ? difference : a.type < b.type ? -1 : a.type > b.type ? 1 : 0;
}

/** Sorts conditions in upstream's order; returns the same list if sorted. */
export function inStoredOrder(conditions: readonly Condition[]): readonly Condition[] {
  return sorted(conditions, compare);
}

/** Sorts v1beta1 conditions: Ready first, others alphabetically. */
export function inLegacyOrder(conditions: readonly Condition[]): readonly Condition[] {
  const order = (a: Condition, b: Condition): number =>
    a.type === 'Ready' ? -1 : b.type === 'Ready' ? 1 : a.type < b.type ? -1 : a.type > b.type ? 1 : 0;
  return sorted(conditions, order);
}

function sorted(conditions: readonly Condition[], order: (a: Condition, b: Condition) => number): readonly Condition[] {
  let before: Condition | undefined;
  for (const condition of conditions) {
    if (before && order(before, condition) > 0) return [...conditions].sort(order);
    before = condition;
  }
  return conditions;
}
