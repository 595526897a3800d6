/** Something that is served, so that manifests and other programs find it, and that no controller of Capstan acts on. */
export interface NotActedOn {
  readonly kind: string;
  /** `plural.group` */
  readonly resource: string;
  /** what happens, or what to write instead */
  readonly note: string;
}

/** The one list of them. The API warns whoever writes one; `docs/reference/not-acted-on.md` is made from it. */
export const notActedOn: readonly NotActedOn[] = [
  { kind: 'MachinePool', resource: 'machinepools.cluster.x-k8s.io', note: 'Write a MachineDeployment.' },
];

/** What the API says, in a Warning header, to whoever writes one. */
export function notActedOnWarning({ kind, note }: NotActedOn): string {
  return `no controller acts on ${kind}: it is stored and nothing else happens. ${note}`;
}
