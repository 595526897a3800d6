import type { TenantControlPlane } from '../../../../api/index.ts';
import type { ReconcileContext } from '../../../../runtime/index.ts';
import type { Follower, WorkloadClusters } from '../../../shared/index.ts';
import type { PlaneConnections } from '../../plane-connections.ts';
import type { PlaneDriver } from '../../plane-driver/index.ts';
import type { OpenStore } from '../data-store/connect.ts';
import type { KamajiSettings } from '../scope.ts';
import type { TenantFamily } from './family.ts';

/** One pass over one control plane: what was read, and the draft that will be written. */
export interface TenantScope extends TenantFamily {
  readonly context: ReconcileContext;
  readonly driver: PlaneDriver;
  readonly follower: Follower;
  /** ours into the cluster, as a super admin: until the first rights are given nobody else gets in */
  readonly ways: PlaneConnections;
  readonly workloads: WorkloadClusters;
  readonly open: OpenStore;
  readonly settings: KamajiSettings;
  readonly tenant: TenantControlPlane;
  readonly draft: TenantControlPlane;
}
