import {
  type RKE2ControlPlane,
  restoreAnnotation,
  restoredAnnotation,
  restoresAnnotation,
} from '../../../api/index.ts';
import { isDeleting } from '../../shared/index.ts';
import type { ControlPlaneScope } from '../machine-plane/scope.ts';

/** Returns the name of a snapshot that was not restored yet. */
export function requestedRestore({ metadata: { annotations } }: RKE2ControlPlane): string | undefined {
  const snapshot = annotations?.[restoreAnnotation] ?? '';
  return snapshot === '' || snapshot === annotations?.[restoredAnnotation] ? undefined : snapshot;
}

/** Records a restore once its server is a Node, so that the same value never restores twice. */
export function recordRestore(scope: ControlPlaneScope<RKE2ControlPlane>): void {
  const { context, controlPlane, inspection, machines } = scope;
  const snapshot = requestedRestore(controlPlane);
  if (!inspection || snapshot === undefined) return;
  const isServed = machines.some(
    (machine) =>
      machine.metadata.annotations?.[restoresAnnotation] === snapshot &&
      machine.status?.nodeRef &&
      !isDeleting(machine),
  );
  if (!isServed) return;
  const annotations = { ...controlPlane.metadata.annotations, [restoredAnnotation]: snapshot };
  controlPlane.metadata.annotations = annotations;
  context.events.event(controlPlane, 'Normal', 'Restored', `etcd was restored from the snapshot ${snapshot}`);
}
