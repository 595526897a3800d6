import type { Cluster, Machine } from '../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../client/index.ts';
import { clone, type KubeObject, type Random, type UnstructuredObject } from '../../../machinery/index.ts';
import {
  after,
  afterPatiently,
  type CacheReader,
  type ReconcileContext,
  type Result,
  soonest,
} from '../../../runtime/index.ts';
import {
  type ExternalObjects,
  type Follower,
  type HookCaller,
  isDeleting,
  type MachineApplies,
  type MachineCreationProblem,
  type WorkloadClusters,
} from '../../shared/index.ts';
import type { OpenEtcd } from '../etcd-client/types.ts';
import type { Inspection } from './health/inspection.ts';
import type { MachineHealth } from './health/machine-health.ts';
import type { MachinePlane, PlaneProvider } from './provider.ts';
import type { ReadServingCertificate } from './workload/serving-certificate.ts';

export interface ControlPlaneDependencies {
  /** shared caches of the manager, used to map events to affected objects */
  cache: CacheReader;
  random: Random;
  externals: ExternalObjects;
  workloads: WorkloadClusters;
  etcd: OpenEtcd;
  servingCertificate: ReadServingCertificate;
  watchFilter?: string;
  concurrency?: number;
  remoteConditionsGracePeriodMs?: number;
  /** calls runtime extensions; without it machines cannot be updated in place */
  hooks?: HookCaller;
}

/** Memory of a control plane between reconciles. It saves requests only; no decision depends on it. */
export interface ControlPlaneMemory {
  inspection?: Inspection;
  /** since when something is unhealthy; sets the poll interval */
  uneasySince?: number;
  certificatesCheckedAt?: number;
  /** last check of the kubeconfig Secret, for this server and resourceVersion */
  kubeconfigChecked?: { at: number; server: string; resourceVersion: string | undefined };
  /** last applied state of the add-ons */
  addOns?: { desired: string; at: number };
  /** when the certificate of a machine's API server was last read */
  expiryTriedAt?: Map<string, number>;
  /** last event about waiting */
  told?: string;
}

/** State of one reconcile of a control plane: the inputs and the drafts that are written at the end. */
export interface ControlPlaneScope<P extends MachinePlane = MachinePlane> {
  readonly context: ReconcileContext;
  readonly dependencies: ControlPlaneDependencies;
  readonly follower: Follower;
  readonly applies: MachineApplies;
  readonly memory: ControlPlaneMemory;
  readonly cluster: Cluster;
  readonly provider: PlaneProvider;
  readonly original: P;
  /** private copy that the phases change; written once at the end */
  readonly controlPlane: P;
  /** machines of this control plane as stored, sorted by name */
  machines: Machine[];
  /** private copies of machines whose status this reconcile changes, by name */
  readonly drafts: Map<string, Machine>;
  /** by machine name */
  configs: ReadonlyMap<string, KubeObject>;
  infrastructure: ReadonlyMap<string, UnstructuredObject>;
  /** reasons for a replacement by machine name; absent for up-to-date machines */
  outdated: ReadonlyMap<string, readonly string[]>;
  missingTemplate: boolean;
  certificatesAvailable: boolean;
  /** last inspection of the workload cluster; undefined without access */
  inspection: Inspection | undefined;
  health: ReadonlyMap<string, MachineHealth>;
  /** why the next step has to wait, one line each */
  waiting: string[];
  creationProblem: MachineCreationProblem | undefined;
  deletion: { reason: string; message: string } | undefined;
  /** requeue of this reconcile */
  later: Result;
}

/** A named step. A result ends the reconcile, because later steps depend on this one. */
export type Step = (scope: ControlPlaneScope) => Promise<Result | undefined> | Result | undefined;

/** Tells whether Capstan manages etcd: stacked etcd yes, external etcd no. */
export function isEtcdManaged({
  provider,
  controlPlane,
}: Pick<ControlPlaneScope, 'provider' | 'controlPlane'>): boolean {
  return provider.isEtcdManaged(controlPlane);
}

export function isInitialized({ status }: MachinePlane): boolean {
  return status?.initialization?.controlPlaneInitialized === true;
}

export const clusterKeyOf = ({ cluster }: ControlPlaneScope): ObjectKey => objectKey(cluster);

export const nameOf = ({ metadata }: Machine): string => metadata.name ?? '';

/** Returns the mutable copy of a machine in this reconcile. */
export function draftOf(scope: ControlPlaneScope, machine: Machine): Machine {
  const name = nameOf(machine);
  const known = scope.drafts.get(name);
  if (known) return known;
  const draft = clone(machine);
  scope.drafts.set(name, draft);
  return draft;
}

export const living = ({ machines }: ControlPlaneScope): Machine[] =>
  machines.filter((machine) => !isDeleting(machine));
export const leaving = ({ machines }: ControlPlaneScope): Machine[] => machines.filter(isDeleting);

export function requeueAfter(scope: ControlPlaneScope, ms: number, reason: string): void {
  scope.later = soonest(scope.later, after(ms, reason));
}

/** Requeues with low priority, after all other queued work of the process. */
export function requeuePatiently(scope: ControlPlaneScope, reason: string): void {
  scope.later = soonest(scope.later, afterPatiently(1, reason));
}

/** Records why the next step has to wait; emits an event if the reason is new. */
export function waitBecause(scope: ControlPlaneScope, summary: readonly string[], details: readonly string[]): void {
  for (const line of summary) if (!scope.waiting.includes(line)) scope.waiting.push(line);
  const text = details.join('; ');
  if (text === '' || scope.memory.told === text) return;
  scope.memory.told = text;
  scope.context.events.event(
    scope.controlPlane,
    'Warning',
    'ControlPlaneUnhealthy',
    `Waiting for control plane to pass preflight checks to continue reconciliation: ${text}`,
  );
}
