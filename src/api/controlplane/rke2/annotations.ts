/** on an RKE2ControlPlane, which has no field for it: days before the expiry of a certificate */
export const rolloutBeforeExpiryAnnotation = 'controlplane.cluster.x-k8s.io/rollout-before-certificates-expiry-days';
/** on an RKE2ControlPlane: name of the restored snapshot; a restore with this name is done */
export const restoredAnnotation = 'controlplane.cluster.x-k8s.io/restored';
/** on the Machine that starts from a snapshot: name of the snapshot */
export const restoresAnnotation = 'controlplane.cluster.x-k8s.io/restores';

const longestSnapshotName = 253;

/** Tells whether a text is the name of a snapshot. These names become arguments of a command. */
export function isSnapshotName(text: string): boolean {
  return text.length <= longestSnapshotName && /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(text);
}
