import type { K0smotronControlPlane } from '../../../api/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import type { ApplyOnce, Follower } from '../../shared/index.ts';
import type { ClusterOfPlane } from '../cluster-of-plane.ts';
import type { ProviderDependencies } from '../plane-reconcile.ts';

/** State of one reconcile of a control plane: the inputs and the draft that is written at the end. */
export interface ControlPlaneScope extends ClusterOfPlane {
  readonly context: ReconcileContext;
  readonly dependencies: ProviderDependencies;
  /** applies planes, but skips the write if nothing changed */
  readonly planes: ApplyOnce;
  readonly follower: Follower;
  readonly original: K0smotronControlPlane;
  /** private copy that the steps change; written once at the end */
  readonly draft: K0smotronControlPlane;
}
