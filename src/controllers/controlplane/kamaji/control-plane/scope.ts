import type { Cluster, KamajiControlPlane } from '../../../../api/index.ts';
import type { ReconcileContext } from '../../../../runtime/index.ts';
import type { ApplyOnce } from '../../../shared/index.ts';

/** One pass over one control plane: what was read, and the draft that will be written. */
export interface ControlPlaneScope {
  readonly context: ReconcileContext;
  /** writes TenantControlPlanes, and stays silent while they are as desired */
  readonly tenants: ApplyOnce;
  /** undefined when it is gone and the control plane is on its way too */
  readonly cluster: Cluster | undefined;
  readonly original: KamajiControlPlane;
  /** private copy: steps change it, one place writes it */
  readonly draft: KamajiControlPlane;
}
