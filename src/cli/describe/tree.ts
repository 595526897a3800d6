import type { ConditionView } from './conditions.ts';
import type { AnyObject } from './fields.ts';

/** What the tree shows and what it leaves out. */
export interface TreeOptions {
  /** conditions of v1beta1, as older clusterctl shows them; else those of v1beta2, with what else is not as it should be */
  legacyConditions: boolean;
  /** machines in the same state share a line */
  grouping: boolean;
  /** show the infrastructure and bootstrap of a machine also when they say what the machine says */
  echo: boolean;
  showMachineSets: boolean;
  showTemplates: boolean;
  showResourceSets: boolean;
  /** kinds or kind/name whose conditions are all shown; `all` for everything, a `+` at the end for what is not as it should be */
  showConditions: readonly string[];
}

export interface ReplicaCounters {
  replicas?: string;
  available?: number;
  ready?: number;
  upToDate?: number;
}

/** A line of the tree with everything below it. */
export interface TreeNode {
  /** `Cluster/a`, `ControlPlane - KubeadmControlPlane/a`, `Workers`, `3 Machines...` */
  title: string;
  /** what the object is to its parent, as `MachineInfrastructure` */
  role?: string;
  /** the object itself; absent for lines that only hold others together */
  object?: AnyObject;
  deleting: boolean;
  /** the condition that stands for the state of the object */
  condition?: ConditionView;
  /** of all conditions those that were asked for */
  shownConditions: readonly ConditionView[];
  counters: ReplicaCounters;
  /** names of the objects that share this line */
  members?: readonly string[];
  /** lines of higher rank come first */
  rank: number;
  children: TreeNode[];
}
