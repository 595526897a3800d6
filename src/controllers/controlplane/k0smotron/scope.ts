import type { K0smotronControlPlane } from '../../../api/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import type { ApplyOnce, Follower } from '../../shared/index.ts';
import type { ClusterOfPlane } from '../cluster-of-plane.ts';
import type { ProviderDependencies } from '../plane-reconcile.ts';

/** One pass over one control plane: what was read, and the draft that will be written. */
export interface ControlPlaneScope extends ClusterOfPlane {
  readonly context: ReconcileContext;
  readonly dependencies: ProviderDependencies;
  /** writes planes, and stays silent while they are as desired */
  readonly planes: ApplyOnce;
  readonly follower: Follower;
  readonly original: K0smotronControlPlane;
  /** private copy: steps change it, one place writes it */
  readonly draft: K0smotronControlPlane;
}
