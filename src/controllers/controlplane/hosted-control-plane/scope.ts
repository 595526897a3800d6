import type { Cluster, HostedControlPlane } from '../../../api/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import type { Follower } from '../../shared/index.ts';
import type { PlaneDriver } from '../plane-driver/index.ts';

/** One pass over one control plane: what was read, and the draft that will be written. */
export interface HostedScope {
  readonly context: ReconcileContext;
  readonly driver: PlaneDriver;
  readonly follower: Follower;
  readonly controlPlane: HostedControlPlane;
  /** private copy: steps change it, one place writes it */
  readonly draft: HostedControlPlane;
  readonly clusterName: string;
  /** undefined when it is gone and the control plane is on its way too */
  readonly cluster: Cluster | undefined;
}
