import {
  Clusters,
  KubeadmControlPlanes,
  MachineDeployments,
  MachineSets,
  Machines,
  OpenStackMachines,
  OpenStackServers,
  RKE2ControlPlanes,
} from '../../api/index.ts';
import { type Condition, isJsonObject, type JsonObject, type KubeObject } from '../../machinery/index.ts';
import type { ConditionChange, StatusChange } from '../../runtime/index.ts';
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
]);

/** Further members of the status of one kind. */
const observationsOf: Readonly<Record<string, ReadonlySet<string>>> = {
  [Clusters.kind]: new Set(['controlPlane', 'workers']),
  [Machines.kind]: new Set(['addresses', 'nodeInfo', 'failureDomain', 'certificatesExpiryDate']),
  [OpenStackMachines.kind]: new Set(['addresses', 'instanceID']),
  [OpenStackServers.kind]: new Set(['addresses']),
};

/** Milestones of Machines: only those of control planes let others continue. */
const milestones: ReadonlySet<string> = new Set(['initialization', 'nodeRef']);

/** Numbers of machines: a controller continues when all machines are there and work, and not before. */
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
  'BootstrapConfigReady',
  'CertificatesAvailable',
  'ControlPlaneAvailable',
  'ControlPlaneComponentsHealthy',
  'ControlPlaneMachinesReady',
  'ControlPlaneMachinesUpToDate',
  'DataSecretAvailable',
  'Deleting',
  'EtcdClusterHealthy',
  'InfrastructureReady',
  'InstanceReady',
  'MachinesReady',
  'MachinesUpToDate',
  'NodeHealthy',
  'NodeReady',
  'OpenStackAuthenticationSucceeded',
  'RemoteConnectionProbe',
  'Remediating',
  'RollingOut',
  'ScalingDown',
  'ScalingUp',
  'UpToDate',
  'Updating',
  'WorkerMachinesReady',
  'WorkerMachinesUpToDate',
  'WorkersAvailable',
]);

/** Conditions of which every change makes a controller act. */
const acting: ReadonlySet<string> = new Set(['HealthCheckSucceeded', 'OwnerRemediated']);

/**
 * Conditions that the control plane reports of a machine. The machine sums them up, and becomes Ready when all of them are
 * True.
 */
const summedUp: ReadonlySet<string> = new Set([
  'APIServerPodHealthy',
  'ControllerManagerPodHealthy',
  'EtcdMemberHealthy',
  'EtcdPodHealthy',
  'NodeKubeadmLabelsAndTaintsSet',
  'SchedulerPodHealthy',
]);

/** Kinds that sum up others, and how much longer their status waits: each is written after those that it sums up. */
const patience: Readonly<Record<string, number>> = {
  [Machines.kind]: 1.25,
  [MachineSets.kind]: 1.5,
  [KubeadmControlPlanes.kind]: 1.5,
  [RKE2ControlPlanes.kind]: 1.5,
  [MachineDeployments.kind]: 1.75,
  [Clusters.kind]: 2,
};

/** The same for a new text about objects that report it themselves, while nothing is lost or reached. */
const patienceWithTexts: Readonly<Record<string, number>> = {
  [MachineSets.kind]: 3.5,
  [KubeadmControlPlanes.kind]: 3.5,
  [RKE2ControlPlanes.kind]: 3.5,
  [MachineDeployments.kind]: 3.75,
  [Clusters.kind]: 4,
};

/** Tells how much longer than others a change of the status of an object waits. */
export function patienceWith({ kind }: KubeObject, change: StatusChange): number {
  return (isText(change) ? patienceWithTexts[kind] : undefined) ?? patience[kind] ?? 1;
}

function isText({ fields, conditions }: StatusChange): boolean {
  const isUnwell = (condition: Condition | undefined): boolean =>
    condition !== undefined && condition.status !== 'True';
  return (
    fields.every((field) => observations.has(field)) &&
    conditions.every(({ from, to }) => isUnwell(from) && isUnwell(to))
  );
}

/** Tells whether neither a controller nor a user's script waits for a change of the status of an object. */
export function nobodyWaitsFor({ fields, conditions, patch }: StatusChange, object: KubeObject): boolean {
  const isObservation = (field: string): boolean =>
    observations.has(field) ||
    observationsOf[object.kind]?.has(field) === true ||
    (counts.has(field) && !isReached(object, field)) ||
    (object.kind === Machines.kind && milestones.has(field) && !isMilestone(object, field, patch));
  return (
    (fields.every(isObservation) || isBeingBuilt(object, patch)) &&
    conditions.every((condition) => isPatient(condition, object))
  );
}

function isPatient({ type, from, to }: ConditionChange, object: KubeObject): boolean {
  if (acting.has(type)) return false;
  if (from?.status === to?.status || informing.has(type)) return true;
  if (summedUp.has(type)) return from !== undefined && !isSummedUp(object);
  return to?.status !== 'True';
}

/** Tells whether all that a control plane reports of a machine is well. */
function isSummedUp(object: KubeObject): boolean {
  const { conditions = [] } = (object as { status?: { conditions?: readonly Condition[] } }).status ?? {};
  return conditions.every(({ type, status }) => !summedUp.has(type) || status === 'True');
}

/** Tells whether a server was just created. After a crash it is found by its mark. */
function isBeingBuilt({ kind }: KubeObject, { instanceState }: JsonObject): boolean {
  return kind === OpenStackServers.kind && instanceState === 'BUILD';
}

/** Tells whether a control plane continues: with the server of a machine, and with its Node. */
function isMilestone({ metadata }: KubeObject, field: string, patch: JsonObject): boolean {
  if (metadata.labels?.[controlPlaneLabel] === undefined) return false;
  const { initialization } = patch;
  return field !== 'initialization' || (isJsonObject(initialization) && 'infrastructureProvisioned' in initialization);
}

/** Counts that are those of the spec when a set of machines is complete; upToDateReplicas of an old set is 0. */
const completeness = ['replicas', 'readyReplicas', 'availableReplicas'] as const;

/** Tells whether a count is that of the spec, and the machines are complete. */
function isReached(object: KubeObject, field: string): boolean {
  const { spec, status = {} } = object as { spec?: { replicas?: number }; status?: Record<string, unknown> };
  if (field === 'versions') return false;
  const desired = spec?.replicas;
  if (desired === undefined) return true;
  return (status[field] ?? 0) === desired && completeness.every((count) => (status[count] ?? desired) === desired);
}
