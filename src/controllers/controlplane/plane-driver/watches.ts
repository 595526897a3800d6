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

// Watches of the owner of a plane. Events that advance the API are handled at once; events that only change counts get
// low priority, because many planes that start together would otherwise delay each other.

/** Every change counts: their status has the address of the API, or they have no status. */
const told: readonly Resource<KubeObject>[] = [Services, ConfigMaps, Secrets];
/** Their status is aggregated in conditions. */
const counted: readonly Resource<KubeObject>[] = [StatefulSets, Deployments, Ingresses];
/** Their status is not used. */
const kept: readonly Resource<KubeObject>[] = [NetworkPolicies, PodDisruptionBudgets, CronJobs];

/** Tells whether the current reconcile of a plane is creating the object. */
export type IsBeingMade = (resource: Resource<KubeObject>, object: KubeObject) => boolean;

export function planeWatches(cache: CacheReader, owner: Resource<KubeObject>, isBeingMade: IsBeingMade): Watch[] {
  // the creator knows its object and continues by itself
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

/** Tells whether a Pod became ready or unready, was deleted, or cannot run; these changes matter at once. */
function podTurned(event: ObjectEvent<Pod>): boolean {
  // a new Pod has no effect yet; its set reports the count
  if (event.type !== 'update') return event.type === 'delete' || event.initial;
  const { object, old } = event;
  return (
    isPodReady(object) !== isPodReady(old) ||
    object.metadata.deletionTimestamp !== old.metadata.deletionTimestamp ||
    problemOf(object) !== problemOf(old)
  );
}

/** Phase changes; the set reports everything else about a Pod. */
function podWentOn(event: ObjectEvent<Pod>): boolean {
  return event.type === 'update' && event.object.status?.phase !== event.old.status?.phase;
}
