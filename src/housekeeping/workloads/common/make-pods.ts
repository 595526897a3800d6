import type { Pod } from '../../../api/index.ts';
import { ApiStatusError, errorMessage, type KubeObject, must } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { createPod, deletePod, isActive } from './pods.ts';

/** How many Pods one round makes or removes at most; then the owner is read again, and others get their turn. */
export const podsPerRound = 100;

/**
 * How many Pods of one owner may wait for a node. More of them would not run any sooner; they would only fill the store
 * when somebody asks for two thousand million.
 */
export const maxWaitingPods = 1_000;

/** How many of the missing Pods may be made now, given those the owner has. */
export function podsToMake(missing: number, owned: readonly Pod[]): number {
  let waiting = 0;
  for (const pod of owned) if (pod.spec.nodeName === undefined && isActive(pod)) waiting++;
  return Math.max(0, Math.min(missing, podsPerRound, maxWaitingPods - waiting));
}

/** What could not be made or removed; tried again later. */
export interface PodFailure {
  readonly reason: 'FailedCreate' | 'FailedDelete';
  readonly error: unknown;
}

/** Creates Pods one after the other and tells users; the first failure ends it, for the next would fail alike. */
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
      // A namespace that goes away takes the owner with it; there is nothing to tell.
      if (isNamespaceTerminating(error)) return undefined;
      events.event(owner, 'Warning', 'FailedCreate', `Error creating: ${errorMessage(error)}`);
      return { reason: 'FailedCreate', error };
    }
  }
  return undefined;
}

/** Deletes Pods and tells users. */
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
