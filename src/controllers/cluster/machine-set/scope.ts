import type { Cluster, Machine, MachineDeployment, MachineSet } from '../../../api/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import type { Follower, MachineApplies, MachineCreationProblem } from '../../shared/index.ts';

/** One pass over one set. */
export interface MachineSetScope {
  readonly context: ReconcileContext;
  readonly follower: Follower;
  readonly applies: MachineApplies;
  /** undefined when the cluster is gone and the set is on its way too */
  readonly cluster: Cluster | undefined;
  readonly original: MachineSet;
  /** private copy: phases change it, one place writes it */
  readonly set: MachineSet;
  readonly deployment: MachineDeployment | undefined;
  /** machines of the set, as far as this pass knows */
  machines: Machine[];
  /** kinds of the templates that do not exist */
  missingTemplates: string[];
  /** why no machine is made at the moment */
  blocked: string[];
  /** what went wrong while making machines */
  creationProblem?: MachineCreationProblem;
}

export const machineSetManager = 'capi-machineset';
export const machineSetMetadataManager = 'capi-machineset-metadata';
