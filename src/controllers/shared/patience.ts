import { Clusters, Machines, OpenStackMachines, OpenStackServers } from '../../api/index.ts';
import type { KubeObject } from '../../machinery/index.ts';
import type { StatusChange } from '../../runtime/index.ts';
import { controlPlaneLabel } from './names.ts';

// Where every write is a request, a status that no controller and no script waits for is written together with the
// next one that somebody waits for, or some seconds later. Only what every reconcile observes anew may wait: what
// cannot be observed again is written at once.

/** Members of the status of any kind. */
const observations: ReadonlySet<string> = new Set([
  'deprecated',
  'lastUpdated',
  'observedGeneration',
  'phase',
  'selector',
  'version',
]);

/** Further members of the status of one kind. */
const observationsOf: Readonly<Record<string, ReadonlySet<string>>> = {
  [Clusters.kind]: new Set(['controlPlane', 'workers']),
  [Machines.kind]: new Set(['addresses', 'nodeInfo', 'failureDomain', 'certificatesExpiryDate']),
  [OpenStackMachines.kind]: new Set(['addresses', 'instanceID']),
  [OpenStackServers.kind]: new Set(['addresses']),
};

/** Milestones of workers: only those of control planes let others continue. */
const milestonesOfWorkers: ReadonlySet<string> = new Set(['initialization', 'nodeRef']);

/** Numbers of machines: a controller continues when they are those of the spec, and not before. */
const counts: ReadonlySet<string> = new Set([
  'replicas',
  'readyReplicas',
  'availableReplicas',
  'upToDateReplicas',
  'fullyLabeledReplicas',
  'versions',
]);

/** Conditions that inform, whatever their status. */
const informing: ReadonlySet<string> = new Set([
  'APIServerPodHealthy',
  'BootstrapConfigReady',
  'CertificatesAvailable',
  'ControlPlaneAvailable',
  'ControlPlaneComponentsHealthy',
  'ControlPlaneMachinesReady',
  'ControlPlaneMachinesUpToDate',
  'ControllerManagerPodHealthy',
  'DataSecretAvailable',
  'Deleting',
  'EtcdClusterHealthy',
  'EtcdMemberHealthy',
  'EtcdPodHealthy',
  'InfrastructureReady',
  'InstanceReady',
  'MachinesReady',
  'MachinesUpToDate',
  'NodeHealthy',
  'NodeKubeadmLabelsAndTaintsSet',
  'NodeReady',
  'OpenStackAuthenticationSucceeded',
  'RemoteConnectionProbe',
  'Remediating',
  'RollingOut',
  'ScalingDown',
  'ScalingUp',
  'SchedulerPodHealthy',
  'UpToDate',
  'Updating',
  'WorkerMachinesReady',
  'WorkerMachinesUpToDate',
  'WorkersAvailable',
]);

/** Conditions of which every change makes a controller act. */
const acting: ReadonlySet<string> = new Set(['HealthCheckSucceeded', 'OwnerRemediated']);

/** Tells whether neither a controller nor a user's script waits for a change of the status of an object. */
export function nobodyWaitsFor({ fields, conditions }: StatusChange, object: KubeObject): boolean {
  const isWorker = object.kind === Machines.kind && object.metadata.labels?.[controlPlaneLabel] === undefined;
  const isObservation = (field: string): boolean =>
    observations.has(field) ||
    (counts.has(field) && !isComplete(object)) ||
    observationsOf[object.kind]?.has(field) === true ||
    (isWorker && milestonesOfWorkers.has(field));
  return (
    fields.every(isObservation) &&
    conditions.every(
      ({ type, from, to }) =>
        !acting.has(type) && (informing.has(type) || to?.status !== 'True' || from?.status === 'True'),
    )
  );
}

/** Tells whether as many machines as wanted are there and work. */
function isComplete(object: KubeObject): boolean {
  const { spec, status } = object as { spec?: { replicas?: number }; status?: Record<string, unknown> };
  const wanted = spec?.replicas;
  const numbers = ['replicas', 'readyReplicas', 'availableReplicas', 'upToDateReplicas'];
  return wanted === undefined || numbers.every((number) => (status?.[number] ?? 0) === wanted);
}
