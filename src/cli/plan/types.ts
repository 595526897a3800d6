import type { CloudChange } from '../../openstack/index.ts';

/** Why a change would be made: the cloud is not as it should be already, or the edit asks for it. */
export type Cause = 'drift' | 'edit';

/** One change a cloud would see. */
export interface PlannedChange {
  readonly action: CloudChange['action'];
  readonly type: CloudChange['type'];
  /** `*` stands for what is drawn by lot when the time comes */
  readonly name: string;
  /** of what exists */
  readonly id?: string;
  /** the object it is made for: `MachineDeployment default/basic-md-0` */
  readonly object: string;
  readonly cause: Cause;
  /** what people want to know of it: `m1.medium, zone az1` */
  readonly detail: string;
  /** of a change: what of it */
  readonly fields: readonly string[];
}

/** Machines that an owner makes, takes away, or replaces. */
export interface PlannedMachines {
  readonly object: string;
  readonly create: number;
  readonly delete: number;
  /** of these, so many take the place of others */
  readonly replace: number;
  /** why those that are replaced are outdated */
  readonly because: readonly string[];
}

export interface PlanProblem {
  /** `OpenStackMachineTemplate default/basic-md-0` */
  readonly object: string;
  /** what is wrong, with the field and what to do */
  readonly message: string;
  /** a warning does not keep anything from working */
  readonly severity: 'error' | 'warning';
}

/** What is left of a quota, and what the plan takes of it at its height. */
export interface QuotaLine {
  readonly cloud: string;
  readonly resource: string;
  readonly needed: number;
  /** null: as much as there is; absent: the cloud does not tell */
  readonly left?: number | null;
  readonly enough: boolean;
}

export interface ClusterCosts {
  /** per hour; what is paid now, and after the plan */
  readonly before: number;
  readonly after: number;
}

export interface ClusterPlan {
  readonly namespace: string;
  readonly name: string;
  /** it is there already */
  readonly exists: boolean;
  /** titles of the projects it lives in */
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
  /** what a plan does not show, where it matters */
  readonly notes: readonly string[];
}
