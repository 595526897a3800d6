/** What becomes of one object. */
export type PlannedAction = 'create' | 'change' | 'replace' | 'delete' | 'unchanged';

export interface PlannedObject {
  readonly action: PlannedAction;
  readonly kind: string;
  readonly name: string;
  /** the template that takes the place of this one */
  readonly replacedBy?: string;
  /** what differs, as paths */
  readonly fields: readonly string[];
  /** machines that are made anew because of it */
  readonly rolls?: { readonly machines: number | undefined; readonly because: readonly string[] };
}

/** What an edit would do to one cluster. */
export interface TopologyPlan {
  readonly namespace: string;
  readonly name: string;
  readonly className: string;
  readonly version: string;
  /** versions that are passed, when the version changes */
  readonly steps: { readonly controlPlane: readonly string[]; readonly workers: readonly string[] };
  readonly objects: readonly PlannedObject[];
  readonly notes: readonly string[];
}
