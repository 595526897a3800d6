import type { Cluster, Machine, MachineDeployment, MachineSet } from '../../../api/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import type { ApplyOnce, Follower, HookCaller } from '../../shared/index.ts';
import type { Refusals } from './in-place.ts';

/** One pass over one deployment. */
export interface MachineDeploymentScope {
  readonly context: ReconcileContext;
  readonly follower: Follower;
  readonly applies: ApplyOnce;
  readonly dependencies: { readonly hooks?: HookCaller };
  readonly refusals: Refusals;
  /** undefined when the cluster is gone and the deployment is on its way too */
  readonly cluster: Cluster | undefined;
  readonly original: MachineDeployment;
  /** private copy: phases change it, one place writes it */
  readonly deployment: MachineDeployment;
  sets: MachineSet[];
  machines: Machine[];
  missingTemplates: string[];
}

export const machineDeploymentManager = 'capi-machinedeployment';
