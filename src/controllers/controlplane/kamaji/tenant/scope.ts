import type { TenantControlPlane } from '../../../../api/index.ts';
import type { ReconcileContext } from '../../../../runtime/index.ts';
import type { Follower, WorkloadClusters } from '../../../shared/index.ts';
import type { PlaneConnections } from '../../plane-connections.ts';
import type { PlaneDriver } from '../../plane-driver/index.ts';
import type { OpenStore } from '../data-store/connect.ts';
import type { KamajiSettings } from '../scope.ts';
import type { TenantFamily } from './family.ts';

/** State of one reconcile of a control plane: the inputs and the draft that is written at the end. */
export interface TenantScope extends TenantFamily {
  readonly context: ReconcileContext;
  readonly driver: PlaneDriver;
  readonly follower: Follower;
  /** super admin connections; until RBAC is set up nobody else has permissions in the cluster */
  readonly ways: PlaneConnections;
  readonly workloads: WorkloadClusters;
  readonly open: OpenStore;
  readonly settings: KamajiSettings;
  readonly tenant: TenantControlPlane;
  readonly draft: TenantControlPlane;
}
