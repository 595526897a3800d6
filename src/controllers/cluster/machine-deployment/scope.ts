import type { Cluster, Machine, MachineDeployment, MachineSet } from '../../../api/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import type { ApplyOnce, Follower, HookCaller } from '../../shared/index.ts';
import type { Refusals } from './in-place.ts';

/** State of one reconcile of a deployment. */
export interface MachineDeploymentScope {
  readonly context: ReconcileContext;
  readonly follower: Follower;
  readonly applies: ApplyOnce;
  readonly dependencies: { readonly hooks?: HookCaller };
  readonly refusals: Refusals;
  /** undefined if the cluster is gone and the deployment is being deleted */
  readonly cluster: Cluster | undefined;
  /** as stored; replaced when the finalizer is stored */
  original: MachineDeployment;
  /** private copy that the phases change; written at the end */
  readonly deployment: MachineDeployment;
  sets: MachineSet[];
  machines: Machine[];
  missingTemplates: string[];
}

export const machineDeploymentManager = 'capi-machinedeployment';
