export type PlannedAction = 'create' | 'change' | 'replace' | 'delete' | 'unchanged';

export interface PlannedObject {
  readonly action: PlannedAction;
  readonly kind: string;
  readonly name: string;
  /** the template that replaces this one */
  readonly replacedBy?: string;
  /** paths that differ */
  readonly fields: readonly string[];
  /** machines that are replaced because of it */
  readonly rolls?: { readonly machines: number | undefined; readonly because: readonly string[] };
}

/** Effects of an edit on one cluster. */
export interface TopologyPlan {
  readonly namespace: string;
  readonly name: string;
  readonly className: string;
  readonly version: string;
  /** intermediate versions of an upgrade */
  readonly steps: { readonly controlPlane: readonly string[]; readonly workers: readonly string[] };
  readonly objects: readonly PlannedObject[];
  readonly notes: readonly string[];
}
