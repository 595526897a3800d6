import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from '../../../api/index.ts';
import { must } from '../../../machinery/index.ts';
import { revisionHashLabel } from '../common/names.ts';
import { availableIn, isFinished, isPodReady, isTerminating, podFromTemplate } from '../common/pods.ts';
import { templateOf } from '../common/revisions.ts';

const podNameLabel = 'statefulset.kubernetes.io/pod-name';
const podIndexLabel = 'apps.kubernetes.io/pod-index';

export function firstOrdinal({ spec }: StatefulSet): number {
  return spec.ordinals?.start ?? 0;
}

export function replicasOf({ spec }: StatefulSet): number {
  return spec.replicas ?? 1;
}

export function memberName({ metadata }: StatefulSet, ordinal: number): string {
  return `${metadata.name}-${ordinal}`;
}

/** Ordinal of a Pod in the set; undefined when its name does not belong to the set. */
export function ordinalOf(set: StatefulSet, { metadata }: Pod): number | undefined {
  const prefix = `${set.metadata.name}-`;
  const name = metadata.name ?? '';
  if (!name.startsWith(prefix)) return undefined;
  const rest = name.slice(prefix.length);
  return /^(?:0|[1-9]\d*)$/.test(rest) ? Number(rest) : undefined;
}

export function revisionName({ metadata }: Pod): string {
  return metadata.labels?.[revisionHashLabel] ?? '';
}

export function isRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === 'Running' && isPodReady(pod);
}

/** Milliseconds until a Pod counts as available; undefined while it is not running and ready. */
export function memberAvailableIn(set: StatefulSet, pod: Pod, now: number): number | undefined {
  return isRunningAndReady(pod) ? availableIn(pod, set.spec.minReadySeconds, now) : undefined;
}

const hopelessReasons: ReadonlySet<string> = new Set([
  'CrashLoopBackOff',
  'CreateContainerConfigError',
  'CreateContainerError',
  'ErrImagePull',
  'ErrImageNeverPull',
  'ImagePullBackOff',
  'InvalidImageName',
  'RunContainerError',
]);

/**
 * Reports whether a Pod cannot become ready as it is: it cannot be scheduled, or a container cannot start or keeps
 * crashing.
 */
export function isHopeless(pod: Pod): boolean {
  if (isTerminating(pod) || isFinished(pod)) return false;
  const { conditions = [], initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  if (
    conditions.some(
      ({ type, status, reason }) => type === 'PodScheduled' && status === 'False' && reason === 'Unschedulable',
    )
  )
    return true;
  return [...initContainerStatuses, ...containerStatuses].some(({ state }) =>
    hopelessReasons.has(state?.waiting?.reason ?? ''),
  );
}

export function claimName(template: PersistentVolumeClaim, podName: string): string {
  return `${template.metadata.name}-${podName}`;
}

/** Builds the Pod with an ordinal from the template of a revision. */
export function memberPod(set: StatefulSet, ordinal: number, revision: ControllerRevision): Pod {
  const name = memberName(set, ordinal);
  const labels = {
    [podIndexLabel]: String(ordinal),
    [revisionHashLabel]: must(revision.metadata.name, 'revision.metadata.name'),
    [podNameLabel]: name,
  };
  const pod = podFromTemplate(set, templateOf(revision), { name, labels });
  const templates = set.spec.volumeClaimTemplates ?? [];
  const claimed = new Set(templates.map(({ metadata }) => metadata.name));
  pod.spec.hostname = name;
  if (set.spec.serviceName) pod.spec.subdomain = set.spec.serviceName;
  if (templates.length > 0) {
    pod.spec.volumes = [
      ...templates.map((template) => ({
        name: must(template.metadata.name, 'template.metadata.name'),
        persistentVolumeClaim: { claimName: claimName(template, name) },
      })),
      ...(pod.spec.volumes ?? []).filter((volume) => !claimed.has(volume.name)),
    ];
  }
  return pod;
}
