import {
  type ContainerStatus,
  type Deployment,
  Deployments,
  type Pod,
  Pods,
  type ReplicaSet,
  ReplicaSets,
  type StatefulSet,
  StatefulSets,
} from '../../../api/index.ts';
import type { InformerFactory, ObjectKey } from '../../../client/index.ts';
import type { KubeObject } from '../../../machinery/index.ts';
import type { CacheReader } from '../../../runtime/index.ts';
import { controllerOf } from '../../shared/index.ts';
import type { PlaneCounts } from './types.ts';

// Observed state of the Deployments and StatefulSets of a plane.

const byController = 'plane-controller';
const revisionAnnotation = 'deployment.kubernetes.io/revision';

/** Indexes Pods by controller, because labels differ between providers. */
export function registerPodIndexes(informers: InformerFactory): void {
  const controllers = (object: KubeObject): string[] => {
    const owner = controllerOf(object);
    return owner ? [owner.uid] : [];
  };
  informers.informer(Pods).addIndexer(byController, controllers);
  informers.informer(ReplicaSets).addIndexer(byController, controllers);
}

export interface PodSight {
  readonly pod: Pod;
  readonly name: string;
  readonly isReady: boolean;
  /** has the current revision of its set */
  readonly isUpToDate: boolean;
  readonly isTerminating: boolean;
  /** why it does not run, quoting kubelet or container messages */
  readonly problem?: string;
}

export interface SetSight {
  readonly set: StatefulSet | Deployment;
  /** desired replicas */
  readonly wanted: number;
  readonly pods: readonly PodSight[];
  readonly counts: PlaneCounts;
  /** exactly the desired Pods run, all up to date */
  readonly isRolledOut: boolean;
}

export function readStatefulSet(cache: CacheReader, key: ObjectKey, stored?: StatefulSet): SetSight | undefined {
  const set = newest(stored, cache.lister(StatefulSets).get(key));
  if (!set) return undefined;
  const revision = set.status?.updateRevision;
  const pods = podsOf(cache, set.metadata.uid).map((pod) =>
    sightOf(pod, pod.metadata.labels?.['controller-revision-hash'] === revision && isObserved(set)),
  );
  return sight(set, pods);
}

export function readDeployment(cache: CacheReader, key: ObjectKey, stored?: Deployment): SetSight | undefined {
  const deployment = newest(stored, cache.lister(Deployments).get(key));
  if (!deployment) return undefined;
  const revision = deployment.metadata.annotations?.[revisionAnnotation];
  const sets: ReplicaSet[] = cache.lister(ReplicaSets).byIndex(byController, deployment.metadata.uid ?? '');
  const pods = sets.flatMap((set) => {
    const isNewest = set.metadata.annotations?.[revisionAnnotation] === revision && isObserved(deployment);
    return podsOf(cache, set.metadata.uid).map((pod) => sightOf(pod, isNewest));
  });
  return sight(deployment, pods);
}

/** Returns the newer object: the response to an own write may be newer than the cache. */
function newest<T extends KubeObject>(stored: T | undefined, cached: T | undefined): T | undefined {
  if (!stored || !cached) return cached ?? stored;
  return (stored.metadata.generation ?? 0) > (cached.metadata.generation ?? 0) ? stored : cached;
}

function podsOf(cache: CacheReader, uid: string | undefined): Pod[] {
  return cache
    .lister(Pods)
    .byIndex(byController, uid ?? '')
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}

const isObserved = (set: StatefulSet | Deployment): boolean =>
  (set.status?.observedGeneration ?? 0) >= (set.metadata.generation ?? 0);

function sight(set: StatefulSet | Deployment, pods: readonly PodSight[]): SetSight {
  const wanted = set.spec.replicas ?? 1;
  const living = pods.filter(({ isTerminating }) => !isTerminating);
  const ready = living.filter(({ isReady }) => isReady).length;
  const upToDate = living.filter(({ isUpToDate }) => isUpToDate).length;
  const counts: PlaneCounts = {
    desired: wanted,
    replicas: living.length,
    ready,
    available: Math.min(ready, set.status?.availableReplicas ?? 0),
    upToDate,
  };
  const isRolledOut =
    isObserved(set) && pods.length === wanted && living.length === wanted && ready === wanted && upToDate === wanted;
  return { set, wanted, pods, counts, isRolledOut };
}

function sightOf(pod: Pod, isUpToDate: boolean): PodSight {
  const problem = problemOf(pod);
  return {
    pod,
    name: pod.metadata.name ?? '',
    isReady: isPodReady(pod),
    isUpToDate,
    isTerminating: pod.metadata.deletionTimestamp !== undefined,
    ...(problem !== undefined && { problem }),
  };
}

export const isPodReady = ({ status }: Pod): boolean =>
  status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true;

/** Normal waiting reasons, which are not reported. */
const ordinary = new Set(['ContainerCreating', 'PodInitializing']);

/** Explains why a Pod does not run, quoting its messages. */
export function problemOf(pod: Pod): string | undefined {
  const { name } = pod.metadata;
  const unschedulable = pod.status?.conditions?.find(
    ({ type, status }) => type === 'PodScheduled' && status === 'False',
  );
  if (unschedulable) return `Pod ${name} cannot be placed: ${unschedulable.message || unschedulable.reason || ''}`;
  const isReady = isPodReady(pod);
  const problems = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].flatMap(
    (status) => problemOfContainer(status, isReady) ?? [],
  );
  return problems.length === 0 ? undefined : `Pod ${name}, ${problems.join('; ')}`;
}

/** Returns the problem of one container. All containers are reported, because one may fail due to another. */
function problemOfContainer({ name, state, lastState }: ContainerStatus, isReady: boolean): string | undefined {
  const said = lastState?.terminated?.message?.trim() ?? '';
  const waiting = state?.waiting;
  if (waiting?.reason && !ordinary.has(waiting.reason)) {
    const words = said || waiting.message || '';
    return `container ${name}: ${waiting.reason}${words === '' ? '' : `: ${words}`}`;
  }
  // restarted, but likely to fail again as before
  return state?.running && !isReady && said !== '' ? `container ${name} ended: ${said}` : undefined;
}

/** Returns the first problem among the Pods of a set. */
export function problemOfSet({ pods }: SetSight): string | undefined {
  for (const { problem } of pods) if (problem !== undefined) return problem;
  return undefined;
}
