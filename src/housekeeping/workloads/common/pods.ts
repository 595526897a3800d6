import { type Pod, Pods, type PodTemplateSpec } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import {
  clone,
  formatTime,
  ignoreNotFound,
  isConflict,
  type KubeObject,
  must,
  parseRfc3339,
} from '../../../machinery/index.ts';
import { fieldManager } from './names.ts';
import { controllerReference } from './ownership.ts';

export function isFinished({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

export function isTerminating({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** A Pod that counts: not on its way out, not over. */
export function isActive(pod: Pod): boolean {
  return !isTerminating(pod) && !isFinished(pod);
}

export function isPodReady({ status }: Pod): boolean {
  const conditions = status?.conditions;
  if (!conditions) return false;
  for (const { type, status } of conditions) if (type === 'Ready') return status === 'True';
  return false;
}

/** When it became ready; undefined when it is not. */
export function readySince(pod: Pod): number | undefined {
  const condition = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  if (condition?.status !== 'True') return undefined;
  return parseRfc3339(condition.lastTransitionTime ?? '') ?? 0;
}

/** In how many milliseconds a Pod counts as available, 0 when it does already; undefined while it is not ready. */
export function availableIn(pod: Pod, minReadySeconds: number | undefined, now: number): number | undefined {
  if (!minReadySeconds) return isPodReady(pod) ? 0 : undefined;
  const since = readySince(pod);
  return since === undefined ? undefined : Math.max(0, since + minReadySeconds * 1_000 - now);
}

export function isAvailable(pod: Pod, minReadySeconds: number | undefined, now: number): boolean {
  return availableIn(pod, minReadySeconds, now) === 0;
}

/** The soonest of the Pods that are ready and do not count as available yet; undefined when there is none. */
export function nextAvailableIn(
  pods: readonly Pod[],
  minReadySeconds: number | undefined,
  now: number,
): number | undefined {
  if (!minReadySeconds) return undefined;
  let soonest: number | undefined;
  for (const pod of pods) {
    const inMs = availableIn(pod, minReadySeconds, now);
    if (inMs !== undefined && inMs > 0 && (soonest === undefined || inMs < soonest)) soonest = inMs;
  }
  return soonest;
}

/** A Pod from the template of what controls it; the caller may change it. */
export function podFromTemplate(
  owner: KubeObject,
  template: PodTemplateSpec,
  identity: { name?: string; generateName?: string; labels?: Record<string, string>; finalizers?: string[] },
): Pod {
  const { metadata = {}, spec } = clone(template);
  const { name, generateName, labels, finalizers } = identity;
  const kept = [...(metadata.finalizers ?? []), ...(finalizers ?? [])];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...(name !== undefined && { name }),
      ...(generateName !== undefined && { generateName }),
      namespace: must(owner.metadata.namespace, 'owner.metadata.namespace'),
      labels: { ...metadata.labels, ...labels },
      ...(metadata.annotations && { annotations: metadata.annotations }),
      ...(kept.length > 0 && { finalizers: kept }),
      ownerReferences: [controllerReference(owner)],
    },
    spec: must(spec, 'spec'),
  };
}

export function createPod(client: Client, pod: Pod): Promise<Pod> {
  return client.create(Pods, pod, { fieldManager });
}

/** Deletes exactly this Pod, not a successor of its name. */
export async function deletePod(client: Client, pod: Pod, gracePeriodSeconds?: number): Promise<void> {
  const { namespace, name, uid } = pod.metadata;
  await client
    .delete(
      Pods,
      { namespace: must(namespace, 'namespace'), name: must(name, 'name') },
      { preconditions: { uid: must(uid, 'uid') }, ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }) },
    )
    .catch(ignoreGone);
}

/** Why somebody takes a Pod away that has not failed by itself. */
export interface Disruption {
  readonly reason: string;
  readonly message: string;
  /** whether nobody is left who could say how its containers ended */
  readonly isLost?: boolean;
}

/** Says why a Pod is about to be deleted: what counts failures, such as a Job, goes by it. */
export async function markDisrupted(client: Client, pod: Pod, disruption: Disruption, now: number): Promise<void> {
  const { namespace, name, uid, generation } = pod.metadata;
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: disruption.reason,
    message: disruption.message,
    observedGeneration: generation ?? 1,
    lastTransitionTime: formatTime(now),
  };
  const patch = {
    metadata: { uid: must(uid, 'uid') },
    status: { conditions: [condition], ...(disruption.isLost && !isFinished(pod) && { phase: 'Failed' }) },
  };
  await client
    .patch(Pods, { namespace: must(namespace, 'namespace'), name: must(name, 'name') }, 'strategic', patch, {
      fieldManager,
      subresource: 'status',
    })
    .catch(ignoreGone);
}

/** A precondition on the uid that fails means that the Pod itself is gone. */
function ignoreGone(error: unknown): undefined {
  return isConflict(error) ? undefined : ignoreNotFound(error);
}
