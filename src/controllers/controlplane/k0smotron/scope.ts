import type { Cluster, K0smotronControlPlane } from '../../../api/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import type { ApplyOnce, ExternalObjects, Follower } from '../../shared/index.ts';
import type { PlaneDependencies } from '../hosting/index.ts';

/** What the controllers of k0smotron's kinds are given. */
export interface K0smotronDependencies extends PlaneDependencies {
  externals: ExternalObjects;
  watchFilter?: string;
  concurrency?: number;
}

/** One pass over one control plane: what was read, and the draft that will be written. */
export interface ControlPlaneScope {
  readonly context: ReconcileContext;
  readonly dependencies: K0smotronDependencies;
  /** writes planes, and stays silent while they are as wished */
  readonly planes: ApplyOnce;
  readonly follower: Follower;
  /** undefined when it is gone and the control plane is on its way too */
  readonly cluster: Cluster | undefined;
  readonly clusterName: string | undefined;
  readonly original: K0smotronControlPlane;
  /** private copy: steps change it, one place writes it */
  readonly draft: K0smotronControlPlane;
}
