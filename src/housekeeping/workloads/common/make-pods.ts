import type { Pod } from '../../../api/index.ts';
import { ApiStatusError, errorMessage, type KubeObject } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { createPod, deletePod } from './pods.ts';

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
    const name = pod.metadata.name!;
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
