import type { Pod } from '../../../api/index.ts';
import { ApiStatusError, errorMessage, type KubeObject, must } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { createPod, deletePod, isActive } from './pods.ts';

/**
 * Maximum number of Pods one round creates or deletes. Then the owner is read again, and other owners get their turn.
 */
export const podsPerRound = 100;

/**
 * Maximum number of Pods of one owner that may wait for a node. More would not run sooner and would only fill the store
 * if somebody asks for two thousand million.
 */
export const maxWaitingPods = 1_000;

/** Returns how many of the missing Pods may be created now. */
export function podsToMake(missing: number, owned: readonly Pod[]): number {
  let waiting = 0;
  for (const pod of owned) if (pod.spec.nodeName === undefined && isActive(pod)) waiting++;
  return Math.max(0, Math.min(missing, podsPerRound, maxWaitingPods - waiting));
}

/** A failed create or delete, which is retried later. */
export interface PodFailure {
  readonly reason: 'FailedCreate' | 'FailedDelete';
  readonly error: unknown;
}

/**
 * Creates Pods one by one and records events. Stops at the first failure, because the next create would fail the same
 * way.
 */
export async function createPods(
  { client, events }: Pick<ReconcileContext, 'client' | 'events'>,
  owner: KubeObject,
  pods: Iterable<Pod>,
): Promise<PodFailure | undefined> {
  for (const pod of pods) {
    try {
      const { metadata } = await createPod(client, pod);
      events.event(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${metadata.name}`);
    } catch (error) {
      // The owner is deleted together with the namespace, so no event is recorded.
      if (isNamespaceTerminating(error)) return undefined;
      events.event(owner, 'Warning', 'FailedCreate', `Error creating: ${errorMessage(error)}`);
      return { reason: 'FailedCreate', error };
    }
  }
  return undefined;
}

/** Deletes Pods and records events. */
export async function deletePods(
  { client, events }: Pick<ReconcileContext, 'client' | 'events'>,
  owner: KubeObject,
  pods: Iterable<Pod>,
): Promise<PodFailure | undefined> {
  for (const pod of pods) {
    const name = must(pod.metadata.name, 'pod.metadata.name');
    try {
      await deletePod(client, pod);
      events.event(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`);
    } catch (error) {
      events.event(owner, 'Warning', 'FailedDelete', `Error deleting: ${errorMessage(error)}`);
      return { reason: 'FailedDelete', error };
    }
  }
  return undefined;
}

export function isNamespaceTerminating(error: unknown): boolean {
  return (
    error instanceof ApiStatusError &&
    (error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false)
  );
}
