import type { Cluster, Machine, MachineDeployment, MachineSet, Node } from '../../../api/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import type { Follower, ProviderObject } from '../../shared/index.ts';
import type { ClusterControllerDependencies } from '../common/dependencies.ts';

/** What was found of an object the machine refers to. */
export type Referenced =
  | { state: 'found'; provider: ProviderObject }
  | { state: 'missing' }
  | { state: 'failed'; problem: string }
  /** there is no such reference */
  | { state: 'none' };

/** What was found of the machine's Node. */
export type NodeView =
  | { state: 'found'; node: Node }
  /** `seeming` has the machine's name or address, but does not say that it runs on the machine's server */
  | { state: 'missing'; likely?: Node }
  /** there is no connection to the workload API */
  | { state: 'unreachable' }
  | { state: 'failed'; problem: string }
  /** nobody has looked: the machine has no provider ID yet */
  | { state: 'unknown' };

/** Where the deletion of a machine stands. */
export interface DeletionProgress {
  reason: string;
  message: string;
}

/** One pass over one machine: what was read, and the draft that will be written. */
export interface MachineScope {
  readonly context: ReconcileContext;
  readonly dependencies: ClusterControllerDependencies;
  readonly follower: Follower;
  /** undefined when the cluster is gone and the machine is on its way too */
  readonly cluster: Cluster | undefined;
  readonly original: Machine;
  /** private copy: phases change it, one place writes it */
  readonly machine: Machine;
  readonly machineSet: MachineSet | undefined;
  readonly machineDeployment: MachineDeployment | undefined;
  /** first attempts to delete a Node, by uid of the machine */
  readonly nodeDeletionAttempts: Map<string, number>;
  bootstrap: Referenced;
  infrastructure: Referenced;
  node: NodeView;
  deletion?: DeletionProgress;
  /** where an update in place stands, if it is under way */
  updating?: { reason: 'InPlaceUpdating' | 'InPlaceUpdateFailed'; message: string };
}
