import type { Cluster, Machine, MachineDeployment, MachineSet, Node } from '../../../api/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import type { Follower, ProviderObject } from '../../shared/index.ts';
import type { ClusterControllerDependencies } from '../common/dependencies.ts';

/** Result of looking up a referenced object. */
export type Referenced =
  | { state: 'found'; provider: ProviderObject }
  | { state: 'missing' }
  | { state: 'failed'; problem: string }
  /** no reference in the spec */
  | { state: 'none' };

/** Result of looking up the Node of the machine. */
export type NodeView =
  | { state: 'found'; node: Node }
  /** `likely` has the machine's name or address, but not its provider ID */
  | { state: 'missing'; likely?: Node }
  /** workload API not connected */
  | { state: 'unreachable' }
  | { state: 'failed'; problem: string }
  /** not looked up: the machine has no provider ID yet */
  | { state: 'unknown' };

/** Current step of a deletion. */
export interface DeletionProgress {
  reason: string;
  message: string;
}

/** State of one reconcile of a machine: the inputs and the draft that is written at the end. */
export interface MachineScope {
  readonly context: ReconcileContext;
  readonly dependencies: ClusterControllerDependencies;
  readonly follower: Follower;
  /** undefined if the cluster is gone and the machine is being deleted */
  readonly cluster: Cluster | undefined;
  readonly original: Machine;
  /** private copy that the phases change; written once at the end */
  readonly machine: Machine;
  readonly machineSet: MachineSet | undefined;
  readonly machineDeployment: MachineDeployment | undefined;
  /** time of the first attempt to delete a Node, by machine uid */
  readonly nodeDeletionAttempts: Map<string, number>;
  bootstrap: Referenced;
  infrastructure: Referenced;
  node: NodeView;
  deletion?: DeletionProgress;
  /** state of an in-place update, if one is running */
  updating?: { reason: 'InPlaceUpdating' | 'InPlaceUpdateFailed'; message: string };
}
