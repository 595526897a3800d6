import type { Cluster, Machine, MachineDeployment, MachineSet } from '../../../api/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import type { Follower, ProviderObject } from '../../shared/index.ts';
import type { ClusterControllerDependencies } from '../common/dependencies.ts';

/** Result of looking up a referenced object. */
export type Referenced =
  | { state: 'found'; provider: ProviderObject }
  | { state: 'missing' }
  | { state: 'failed'; problem: string }
  | { state: 'none' };

/** Objects that belong to a cluster. */
export interface Descendants {
  deployments: readonly MachineDeployment[];
  sets: readonly MachineSet[];
  controlPlaneMachines: readonly Machine[];
  workerMachines: readonly Machine[];
}

/** State of one reconcile of a cluster. */
export interface ClusterScope {
  readonly context: ReconcileContext;
  readonly dependencies: ClusterControllerDependencies;
  readonly follower: Follower;
  readonly original: Cluster;
  /** private copy that the phases change; written once at the end */
  readonly cluster: Cluster;
  readonly descendants: Descendants;
  infrastructure: Referenced;
  controlPlane: Referenced;
  deletion?: { reason: string; message: string };
  /** why there is no kubeconfig yet */
  kubeconfigProblem?: string;
}
