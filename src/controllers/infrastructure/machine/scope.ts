import type { Cluster, Machine, OpenStackCluster, OpenStackMachine, OpenStackServer } from '../../../api/index.ts';
import type { ObjectKey } from '../../../client/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { setVerdict, type Verdict } from '../../shared/index.ts';
import type { Followed } from '../common/attention.ts';
import type { CloudAccess } from '../common/clouds.ts';
import type { ServerMemories } from '../server/memory.ts';
import type { ClusterMemories } from './memory.ts';

/**
 * State of one reconcile of a machine: the inputs, the draft that is written at the end, and the cloud resources to
 * follow.
 */
export interface MachineScope {
  readonly context: ReconcileContext;
  readonly key: ObjectKey;
  /** as stored */
  original: OpenStackMachine;
  /** private copy that the phases change; written once at the end */
  readonly machine: OpenStackMachine;
  /** undefined if the Machine is gone and this object is being deleted */
  readonly owner: Machine | undefined;
  readonly cluster: Cluster | undefined;
  readonly openStackCluster: OpenStackCluster | undefined;
  readonly isControlPlane: boolean;
  readonly memories: ClusterMemories;
  readonly serverMemories: ServerMemories;
  /** OpenStackServer of the machine, once it exists */
  server: OpenStackServer | undefined;
  readonly follows: Followed[];
  /** opens the cloud on demand; most machines never need it */
  cloud(): Promise<CloudAccess>;
}

/** Scope of a machine whose cluster exists. */
export type WholeScope = MachineScope & {
  readonly owner: Machine;
  readonly cluster: Cluster;
  readonly openStackCluster: OpenStackCluster;
};

export function judge(scope: Pick<MachineScope, 'machine' | 'context'>, type: string, verdict: Verdict): void {
  setVerdict(scope.machine, type, verdict, scope.context.clock.now());
}
