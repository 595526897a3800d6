import type { Cluster, HostedControlPlane } from '../../../api/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import type { Follower } from '../../shared/index.ts';
import type { PlaneDriver } from '../plane-driver/index.ts';

/** State of one reconcile of a control plane: the inputs and the draft that is written at the end. */
export interface HostedScope {
  readonly context: ReconcileContext;
  readonly driver: PlaneDriver;
  readonly follower: Follower;
  readonly controlPlane: HostedControlPlane;
  /** private copy that the steps change; written once at the end */
  readonly draft: HostedControlPlane;
  readonly clusterName: string;
  /** undefined if the cluster is gone and the control plane is being deleted */
  readonly cluster: Cluster | undefined;
}
