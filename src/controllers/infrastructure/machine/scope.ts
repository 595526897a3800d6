import type { Cluster, Machine, OpenStackCluster, OpenStackMachine, OpenStackServer } from '../../../api/index.ts';
import type { ObjectKey } from '../../../client/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { setVerdict, type Verdict } from '../../shared/index.ts';
import type { Followed } from '../common/attention.ts';
import type { CloudAccess } from '../common/clouds.ts';
import type { ClusterMemories } from './memory.ts';

/** One pass over one machine: what was read, the draft that will be written, and what of the cloud is to be followed. */
export interface MachineScope {
  readonly context: ReconcileContext;
  readonly key: ObjectKey;
  /** as it is stored */
  original: OpenStackMachine;
  /** private copy: phases change it, one place writes it */
  readonly machine: OpenStackMachine;
  /** undefined when the owner is gone and this one is on its way too */
  readonly owner: Machine | undefined;
  readonly cluster: Cluster | undefined;
  readonly openStackCluster: OpenStackCluster | undefined;
  readonly isControlPlane: boolean;
  readonly memories: ClusterMemories;
  /** the server's object, once there is one */
  server: OpenStackServer | undefined;
  readonly follows: Followed[];
  /** the cloud, asked for when it is needed: most machines never need it themselves */
  cloud(): Promise<CloudAccess>;
}

/** Of a machine whose cluster is there. */
export type WholeScope = MachineScope & {
  readonly owner: Machine;
  readonly cluster: Cluster;
  readonly openStackCluster: OpenStackCluster;
};

export function judge(scope: Pick<MachineScope, 'machine' | 'context'>, type: string, verdict: Verdict): void {
  setVerdict(scope.machine, type, verdict, scope.context.clock.now());
}
