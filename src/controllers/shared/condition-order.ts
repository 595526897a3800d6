import type { Condition } from '../../machinery/index.ts';

/** Where upstream lists its conditions; types that are not named here stand between these and the last ones, by alphabet. */
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

/** Conditions in the order upstream stores them; the same list when it is in order already. */
export function inStoredOrder(conditions: readonly Condition[]): readonly Condition[] {
  return sorted(conditions, compare);
}

/** Legacy conditions: Ready leads, the others by alphabet. */
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
