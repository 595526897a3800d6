/** A kind that is served for compatibility with manifests and other programs, but has no controller in Capstan. */
export interface NotActedOn {
  readonly kind: string;
  /** `plural.group` */
  readonly resource: string;
  /** effect of the object, or an alternative */
  readonly note: string;
}

/**
 * The API warns clients that write one of these kinds. `docs/reference/not-acted-on.md` is generated from this list.
 */
export const notActedOn: readonly NotActedOn[] = [
  { kind: 'MachinePool', resource: 'machinepools.cluster.x-k8s.io', note: 'Use a MachineDeployment.' },
];

/** Returns the Warning header for a client that writes such an object. */
export function notActedOnWarning({ kind, note }: NotActedOn): string {
  return `no controller acts on ${kind}: it is stored and nothing else happens. ${note}`;
}
