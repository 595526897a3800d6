import {
  ConfigMaps,
  CronJobs,
  type Deployment,
  Deployments,
  Ingresses,
  NetworkPolicies,
  type Pod,
  PodDisruptionBudgets,
  Pods,
  ReplicaSets,
  Secrets,
  Services,
  StatefulSets,
} from '../../../api/index.ts';
import type { ObjectKey } from '../../../client/index.ts';
import type { KubeObject, Resource } from '../../../machinery/index.ts';
import {
  allOf,
  type CacheReader,
  changedBesidesStatus,
  not,
  type ObjectEvent,
  ownerKeys,
  type Predicate,
  type Watch,
  watchMapped,
  watchOwned,
} from '../../../runtime/index.ts';
import { controllerOf } from '../../shared/index.ts';
import { isPodReady, problemOf } from './sets.ts';

// What wakes the owner of a plane. What brings an API nearer that answers is looked at immediately; what is only counted, when
// there is nothing else to do: many planes that begin together would keep each other busy with sums.

/** Their status tells where the API is, or belongs to nobody: every change counts. */
const told: readonly Resource<KubeObject>[] = [Services, ConfigMaps, Secrets];
/** Their status is summed up in conditions. */
const counted: readonly Resource<KubeObject>[] = [StatefulSets, Deployments, Ingresses];
/** Nobody here reads their status. */
const kept: readonly Resource<KubeObject>[] = [NetworkPolicies, PodDisruptionBudgets, CronJobs];

/** Whether the pass under way over a plane is making this object. */
export type IsBeingMade = (resource: Resource<KubeObject>, object: KubeObject) => boolean;

export function planeWatches(cache: CacheReader, owner: Resource<KubeObject>, isBeingMade: IsBeingMade): Watch[] {
  // whoever makes an object knows what it is like, and goes on by itself
  const news =
    (resource: Resource<KubeObject>): Predicate =>
    (event) =>
      event.type !== 'add' || event.initial || !isBeingMade(resource, event.object);
  const ownersOf = (pod: Pod): ObjectKey[] => ownersOfPod(cache, pod, owner);
  return [
    ...told.map((resource) => watchOwned(resource, owner, { predicates: [news(resource)] })),
    ...counted.map((resource) => watchOwned(resource, owner, { predicates: [news(resource)], patient: true })),
    ...kept.map((resource) => watchOwned(resource, owner, { predicates: [news(resource), changedBesidesStatus] })),
    watchMapped(Pods, ownersOf, { predicates: [podTurned] }),
    watchMapped(Pods, ownersOf, { predicates: [allOf(podWentOn, not(podTurned))], patient: true }),
  ];
}

function ownersOfPod(cache: CacheReader, pod: Pod, owner: Resource<KubeObject>): ObjectKey[] {
  const set = controllerOf(pod);
  const { namespace = '' } = pod.metadata;
  if (set?.kind === 'StatefulSet') {
    const found = cache.lister(StatefulSets).get({ namespace, name: set.name });
    return found ? ownerKeys(found, owner) : [];
  }
  if (set?.kind !== 'ReplicaSet') return [];
  const replicaSet = cache.lister(ReplicaSets).get({ namespace, name: set.name });
  const deployment: Deployment | undefined =
    replicaSet && cache.lister(Deployments).get({ namespace, name: controllerOf(replicaSet)?.name ?? '' });
  return deployment ? ownerKeys(deployment, owner) : [];
}

/** It answers from now on or no longer, goes away, or cannot run: what others wait for, or have to do something about. */
function podTurned(event: ObjectEvent<Pod>): boolean {
  // one that was just made does nothing yet; that there is one more its set tells
  if (event.type !== 'update') return event.type === 'delete' || event.initial;
  const { object, old } = event;
  return (
    isPodReady(object) !== isPodReady(old) ||
    object.metadata.deletionTimestamp !== old.metadata.deletionTimestamp ||
    problemOf(object) !== problemOf(old)
  );
}

/** The rest of a Pod's life is told by its set. */
function podWentOn(event: ObjectEvent<Pod>): boolean {
  return event.type === 'update' && event.object.status?.phase !== event.old.status?.phase;
}
