import type { Cluster, Machine, MachineDeployment, MachineSet } from '../../../api/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import type { Follower, MachineApplies, MachineCreationProblem } from '../../shared/index.ts';

/** State of one reconcile of a set. */
export interface MachineSetScope {
  readonly context: ReconcileContext;
  readonly follower: Follower;
  readonly applies: MachineApplies;
  /** undefined if the cluster is gone and the set is being deleted */
  readonly cluster: Cluster | undefined;
  readonly original: MachineSet;
  /** private copy that the phases change; written once at the end */
  readonly set: MachineSet;
  readonly deployment: MachineDeployment | undefined;
  /** machines of the set as known to this reconcile */
  machines: Machine[];
  missingTemplates: string[];
  /** why no machine is created now */
  blocked: string[];
  /** failure during machine creation */
  creationProblem?: MachineCreationProblem;
}

export const machineSetManager = 'capi-machineset';
export const machineSetMetadataManager = 'capi-machineset-metadata';
