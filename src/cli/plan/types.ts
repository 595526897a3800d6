import type { CloudChange } from '../../openstack/index.ts';

/** Reason of a change: the cloud has drifted already, or the edit requires it. */
export type Cause = 'drift' | 'edit';

export interface PlannedChange {
  readonly action: CloudChange['action'];
  readonly type: CloudChange['type'];
  /** `*` replaces random parts */
  readonly name: string;
  /** id of an existing resource */
  readonly id?: string;
  /** object that needs the change: `MachineDeployment default/basic-md-0` */
  readonly object: string;
  readonly cause: Cause;
  /** details for users: `m1.medium, zone az1` */
  readonly detail: string;
  readonly fields: readonly string[];
}

/** Machines that an owner creates, deletes or replaces. */
export interface PlannedMachines {
  readonly object: string;
  readonly create: number;
  readonly delete: number;
  /** number of these that replace others */
  readonly replace: number;
  /** why the replaced machines are outdated */
  readonly because: readonly string[];
}

export interface PlanProblem {
  /** `OpenStackMachineTemplate default/basic-md-0` */
  readonly object: string;
  /** problem with its field and a suggested fix */
  readonly message: string;
  /** warnings do not prevent the plan from working */
  readonly severity: 'error' | 'warning';
}

/** Remaining quota, and its maximum use by the plan. */
export interface QuotaLine {
  readonly cloud: string;
  readonly resource: string;
  readonly needed: number;
  /** null: unlimited; absent: not reported by the cloud */
  readonly left?: number | null;
  readonly enough: boolean;
}

export interface ClusterCosts {
  /** costs per hour, now and after the plan */
  readonly before: number;
  readonly after: number;
}

export interface ClusterPlan {
  readonly namespace: string;
  readonly name: string;
  /** whether the cluster already exists */
  readonly exists: boolean;
  /** titles of its projects */
  readonly clouds: readonly string[];
  readonly changes: readonly PlannedChange[];
  readonly machines: readonly PlannedMachines[];
  readonly costs: ClusterCosts;
}

export interface Plan {
  readonly clusters: readonly ClusterPlan[];
  readonly quotas: readonly QuotaLine[];
  readonly problems: readonly PlanProblem[];
  readonly costs: ClusterCosts & { readonly currency: string; readonly unpriced: readonly string[] };
  /** relevant parts that a plan does not show */
  readonly notes: readonly string[];
}
