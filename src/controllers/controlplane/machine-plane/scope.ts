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

/** What the controller is given. */
export interface ControlPlaneDependencies {
  /** the shared caches of the manager, for finding who is concerned by an event */
  cache: CacheReader;
  random: Random;
  externals: ExternalObjects;
  workloads: WorkloadClusters;
  etcd: OpenEtcd;
  servingCertificate: ReadServingCertificate;
  watchFilter?: string;
  concurrency?: number;
  remoteConditionsGracePeriodMs?: number;
  /** who asks runtime extensions; without, no machine is updated in place */
  hooks?: HookCaller;
}

/** What is remembered of one control plane between passes. It saves questions; nothing is decided by it. */
export interface ControlPlaneMemory {
  inspection?: Inspection;
  /** since when not all is well, for the pace of looking again */
  uneasySince?: number;
  certificatesCheckedAt?: number;
  /** the kubeconfig Secret of this version was found good for this server */
  kubeconfigChecked?: { at: number; server: string; resourceVersion: string | undefined };
  /** the add-ons were as this text says */
  addOns?: { desired: string; at: number };
  /** when the certificate of a machine's API server was last looked at */
  expiryTriedAt?: Map<string, number>;
  /** what was last told in an event about waiting */
  told?: string;
}

/** One pass over one control plane: what was read, and the drafts that will be written. */
export interface ControlPlaneScope<P extends MachinePlane = MachinePlane> {
  readonly context: ReconcileContext;
  readonly dependencies: ControlPlaneDependencies;
  readonly follower: Follower;
  readonly applies: MachineApplies;
  readonly memory: ControlPlaneMemory;
  readonly cluster: Cluster;
  readonly provider: PlaneProvider;
  readonly original: P;
  /** private copy: phases change it, one place writes it */
  readonly controlPlane: P;
  /** the machines of this control plane, as stored, by name */
  machines: Machine[];
  /** private copies of machines whose status changes in this pass, by name */
  readonly drafts: Map<string, Machine>;
  /** by name of the machine */
  configs: ReadonlyMap<string, KubeObject>;
  infrastructure: ReadonlyMap<string, UnstructuredObject>;
  /** why machines are to be replaced, by name; those that are up to date are not in it */
  outdated: ReadonlyMap<string, readonly string[]>;
  missingTemplate: boolean;
  certificatesAvailable: boolean;
  /** what was seen of the workload cluster; undefined while nobody could look */
  inspection: Inspection | undefined;
  health: ReadonlyMap<string, MachineHealth>;
  /** why the next step has to wait, one line each */
  waiting: string[];
  creationProblem: MachineCreationProblem | undefined;
  deletion: { reason: string; message: string } | undefined;
  /** when to look again, whatever else happens */
  later: Result;
}

/** One named step of a pass. A result ends the pass: what comes after must not be built on what is not there yet. */
export type Step = (scope: ControlPlaneScope) => Promise<Result | undefined> | Result | undefined;

/** Stacked etcd is ours to care for; an external one is not. */
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

/** The copy of a machine this pass may change. */
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

/** As soon as there is nothing more urgent to do in the whole program. */
export function requeuePatiently(scope: ControlPlaneScope, reason: string): void {
  scope.later = soonest(scope.later, afterPatiently(1, reason));
}

/** Notes why the next step has to wait; told in an event when it is news. */
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
