import type { ConditionView } from './conditions.ts';
import type { AnyObject } from './fields.ts';

/** Options that select the contents of the tree. */
export interface TreeOptions {
  /** true: v1beta1 conditions, as in older clusterctl; false: v1beta2 conditions and other findings */
  legacyConditions: boolean;
  /** group machines in the same state in one line */
  grouping: boolean;
  /** show infrastructure and bootstrap objects of a machine even if they repeat its state */
  echo: boolean;
  showMachineSets: boolean;
  showTemplates: boolean;
  showResourceSets: boolean;
  /**
   * kinds or kind/name whose conditions are all shown; `all` for everything, with a final `+` only conditions that are
   * not good
   */
  showConditions: readonly string[];
}

export interface ReplicaCounters {
  replicas?: string;
  available?: number;
  ready?: number;
  upToDate?: number;
}

/** A line of the tree and the lines below it. */
export interface TreeNode {
  /** `Cluster/a`, `ControlPlane - KubeadmControlPlane/a`, `Workers`, `3 Machines...` */
  title: string;
  /** role of the object for its parent, such as `MachineInfrastructure` */
  role?: string;
  /** absent for lines that group others */
  object?: AnyObject;
  deleting: boolean;
  /** summary condition of the object */
  condition?: ConditionView;
  /** conditions that the options request */
  shownConditions: readonly ConditionView[];
  counters: ReplicaCounters;
  /** names of the objects grouped in this line */
  members?: readonly string[];
  /** lines with higher rank come first */
  rank: number;
  children: TreeNode[];
}
