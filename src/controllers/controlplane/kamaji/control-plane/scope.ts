import type { Cluster, KamajiControlPlane } from '../../../../api/index.ts';
import type { ReconcileContext } from '../../../../runtime/index.ts';
import type { ApplyOnce } from '../../../shared/index.ts';

/** State of one reconcile of a control plane: the inputs and the draft that is written at the end. */
export interface ControlPlaneScope {
  readonly context: ReconcileContext;
  /** applies TenantControlPlanes, but skips the write if nothing changed */
  readonly tenants: ApplyOnce;
  /** undefined if the cluster is gone and the control plane is being deleted */
  readonly cluster: Cluster | undefined;
  readonly original: KamajiControlPlane;
  /** private copy that the steps change; written once at the end */
  readonly draft: KamajiControlPlane;
}
