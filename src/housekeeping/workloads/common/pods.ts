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

/** Reports whether the Pod is neither terminating nor finished. */
export function isActive(pod: Pod): boolean {
  return !isTerminating(pod) && !isFinished(pod);
}

export function isPodReady({ status }: Pod): boolean {
  const conditions = status?.conditions;
  if (!conditions) return false;
  for (const { type, status } of conditions) if (type === 'Ready') return status === 'True';
  return false;
}

/** Time at which the Pod became ready; undefined when it is not ready. */
export function readySince(pod: Pod): number | undefined {
  const condition = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  if (condition?.status !== 'True') return undefined;
  return parseRfc3339(condition.lastTransitionTime ?? '') ?? 0;
}

/** Milliseconds until a Pod counts as available: 0 when it already does, undefined while it is not ready. */
export function availableIn(pod: Pod, minReadySeconds: number | undefined, now: number): number | undefined {
  if (!minReadySeconds) return isPodReady(pod) ? 0 : undefined;
  const since = readySince(pod);
  return since === undefined ? undefined : Math.max(0, since + minReadySeconds * 1_000 - now);
}

export function isAvailable(pod: Pod, minReadySeconds: number | undefined, now: number): boolean {
  return availableIn(pod, minReadySeconds, now) === 0;
}

/** Shortest time until one of the ready Pods becomes available; undefined when there is none. */
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

/** Builds a Pod from the template of its controller. The caller may modify it. */
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

/** Deletes exactly this Pod, never a successor with the same name. */
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

/** Reason for the deletion of a Pod that has not failed by itself. */
export interface Disruption {
  readonly reason: string;
  readonly message: string;
  /** true if no kubelet is left to report how the containers ended */
  readonly isLost?: boolean;
}

/**
 * Sets the DisruptionTarget condition before a Pod is deleted. Controllers that count failures, such as the Job
 * controller, read it.
 */
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

/** A failed precondition on the uid means that this Pod is gone. */
function ignoreGone(error: unknown): undefined {
  return isConflict(error) ? undefined : ignoreNotFound(error);
}
