import type { Cluster, Machine, MachineDeployment, MachineSet } from '../../../api/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import type { Follower, ProviderObject } from '../../shared/index.ts';
import type { ClusterControllerDependencies } from '../common/dependencies.ts';

/** What was found of an object the cluster refers to. */
export type Referenced =
  | { state: 'found'; provider: ProviderObject }
  | { state: 'missing' }
  | { state: 'failed'; problem: string }
  | { state: 'none' };

/** Everything that belongs to a cluster. */
export interface Descendants {
  deployments: readonly MachineDeployment[];
  sets: readonly MachineSet[];
  controlPlaneMachines: readonly Machine[];
  workerMachines: readonly Machine[];
}

/** One pass over one cluster. */
export interface ClusterScope {
  readonly context: ReconcileContext;
  readonly dependencies: ClusterControllerDependencies;
  readonly follower: Follower;
  readonly original: Cluster;
  /** private copy: phases change it, one place writes it */
  readonly cluster: Cluster;
  readonly descendants: Descendants;
  infrastructure: Referenced;
  controlPlane: Referenced;
  deletion?: { reason: string; message: string };
  /** why there is no kubeconfig yet */
  kubeconfigProblem?: string;
}
