import { type Container, type Job, type Pod, Pods } from '../../../api/index.ts';
import { type Client, objectKey } from '../../../client/index.ts';
import { ignoreNotFound, must, parseRfc3339 } from '../../../machinery/index.ts';
import { fieldManager } from '../common/names.ts';
import { isTerminating, podFromTemplate } from '../common/pods.ts';

/** finalizer that keeps a Pod until its outcome is counted */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
const indexMark = 'batch.kubernetes.io/job-completion-index';
const failuresMark = 'batch.kubernetes.io/job-index-failure-count';
const ignoredMark = 'batch.kubernetes.io/job-index-ignored-failure-count';
const indexVariable = 'JOB_COMPLETION_INDEX';

export function isIndexed({ spec }: Job): boolean {
  return spec.completionMode === 'Indexed';
}

/** Completion index of a Pod; undefined when it has none. */
export function indexOf({ metadata }: Pod): number | undefined {
  const text = metadata.annotations?.[indexMark];
  return text === undefined ? undefined : Number(text);
}

export function isTracked({ metadata }: Pod): boolean {
  return metadata.finalizers?.includes(trackingFinalizer) ?? false;
}

/** Reports whether a Pod counts as failed. A deleted Pod may never report a final phase. */
export function isFailedPod(job: Job, pod: Pod): boolean {
  if (pod.status?.phase === 'Failed') return true;
  if (pod.status?.phase === 'Succeeded' || job.spec.podReplacementPolicy === 'Failed') return false;
  return isTerminating(pod);
}

/** Time at which the last container ended or the Pod was deleted. */
export function endOf(pod: Pod): number | undefined {
  let latest: number | undefined;
  for (const { state } of pod.status?.containerStatuses ?? []) {
    const at = parseRfc3339(state?.terminated?.finishedAt ?? '');
    if (at !== undefined && (latest === undefined || at > latest)) latest = at;
  }
  if (latest !== undefined) return latest;
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  return (
    parseRfc3339(pod.metadata.deletionTimestamp ?? '') ??
    parseRfc3339(ready?.lastTransitionTime ?? '') ??
    parseRfc3339(pod.metadata.creationTimestamp ?? '')
  );
}

/** Failures of an index before one of its Pods was created. */
export interface IndexFailures {
  readonly counted: number;
  /** failures that a rule of the pod failure policy ignores */
  readonly ignored: number;
}

export function failuresBefore({ metadata }: Pod): IndexFailures {
  const read = (mark: string): number => Number(metadata.annotations?.[mark]) || 0;
  return { counted: read(failuresMark), ignored: read(ignoredMark) };
}

/**
 * Builds the next Pod of a Job. `index` is set for indexed Jobs, `failures` for those with a backoff limit per index.
 */
export function jobPod(job: Job, index: number | undefined, failures?: IndexFailures): Pod {
  const name = must(job.metadata.name, 'job.metadata.name');
  const template = job.spec.template ?? {};
  const pod = podFromTemplate(job, template, {
    generateName: index === undefined ? `${name}-` : `${name}-${index}-`,
    finalizers: [trackingFinalizer],
    ...(index !== undefined && { labels: { [indexMark]: String(index) } }),
  });
  if (index === undefined) return pod;
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [indexMark]: String(index),
    ...(failures && { [failuresMark]: String(failures.counted) }),
    ...(failures && failures.ignored > 0 && { [ignoredMark]: String(failures.ignored) }),
  };
  pod.spec.hostname = `${name}-${index}`;
  for (const container of [...pod.spec.containers, ...(pod.spec.initContainers ?? [])]) reportIndex(container);
  return pod;
}

function reportIndex(container: Container): void {
  if (container.env?.some(({ name }) => name === indexVariable)) return;
  const fieldRef = { apiVersion: 'v1', fieldPath: `metadata.labels['${indexMark}']` };
  container.env = [...(container.env ?? []), { name: indexVariable, valueFrom: { fieldRef } }];
}

/** Removes the tracking finalizer from Pods that were counted or need no counting. */
export async function releasePods(client: Client, pods: readonly Pod[]): Promise<void> {
  for (const pod of pods) {
    if (!isTracked(pod)) continue;
    const { finalizers = [], resourceVersion } = pod.metadata;
    const rest = finalizers.filter((name) => name !== trackingFinalizer);
    const patch = { metadata: { resourceVersion: must(resourceVersion, 'resourceVersion'), finalizers: rest } };
    await client.patch(Pods, objectKey(pod), 'merge', patch, { fieldManager }).catch(ignoreNotFound);
  }
}
