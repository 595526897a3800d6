import { type K0smotronCluster, type K0smotronControlPlane, spelledLike } from '../../../api/index.ts';
import { conditionOf, isTrue, setVerdict, type Verdict } from '../../shared/index.ts';
import { copyConditions, setNotDeleting, setReplicaConditions, verdictOf } from '../plane-conditions.ts';
import type { ReplicaCounts } from '../scaling-conditions.ts';
import { shownConditions } from './plane-status.ts';

/**
 * Writes the state of the plane to the status of a K0smotronControlPlane. `version` is the lowest running version, if
 * any.
 */
export function observeControlPlane(
  draft: K0smotronControlPlane,
  plane: K0smotronCluster,
  version: string | undefined,
  nowMs: number,
): void {
  const { replicas = 0, readyReplicas = 0, updatedReplicas = 0, selector = '' } = plane.status ?? {};
  const counts: ReplicaCounts = { desired: draft.spec.replicas ?? 1, replicas, upToDate: updatedReplicas };
  const isFunctional = isTrue(plane, 'ControlPlaneFunctional');
  draft.status = {
    ...draft.status,
    externalManagedControlPlane: true,
    replicas,
    readyReplicas,
    availableReplicas: readyReplicas,
    upToDateReplicas: updatedReplicas,
    selector,
    ...(version !== undefined && { version: spelledLike(version, draft.spec.version) }),
    // once initialized, it stays initialized
    ...(isFunctional && { initialization: { controlPlaneInitialized: true } }),
  };
  setVerdict(draft, 'Available', availability(plane), nowMs);
  setReplicaConditions(draft, counts, nowMs);
  setNotDeleting(draft, nowMs);
  copyConditions(draft, plane, shownConditions, nowMs);
}

/** Reports an invalid spec; existing objects stay unchanged. */
export function refuseControlPlane(draft: K0smotronControlPlane, reason: string, message: string, nowMs: number): void {
  draft.status = { ...draft.status, externalManagedControlPlane: true };
  setVerdict(draft, 'Available', { status: 'False', reason, message }, nowMs);
}

function availability(plane: K0smotronCluster): Verdict {
  const known = conditionOf(plane, 'Available');
  if (!known)
    return { status: 'False', reason: 'ControlPlaneDoesNotExist', message: 'the plane has not been looked at' };
  return verdictOf(known);
}
