import {
  type Cluster,
  CronJobs,
  Deployments,
  Ingresses,
  Machines,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  StatefulSets,
} from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import type { PlaneSpec } from '../../../hosting/index.ts';
import { isNotFound, type KubeObject, type Resource } from '../../../machinery/index.ts';
import { after, done, type ReconcileContext } from '../../../runtime/index.ts';
import { isDeleting } from '../../shared/index.ts';
import type { RemovalReport } from './types.ts';

export interface RemovalRequest {
  context: ReconcileContext;
  /** the user's object, whose finalizer is removed last */
  owner: KubeObject;
  /** its machines are deleted first */
  cluster?: Cluster;
  desired: Pick<PlaneSpec, 'identity' | 'naming'>;
  /** whose claims are deleted with the plane */
  volumes: { etcd: boolean; controlPlane: boolean };
}

/** Fallback in case a deletion event is lost. */
const recheckMs = 30_000;
/** Claims have no owner, so their events do not enqueue the plane; polling the cache is cheap. */
const volumesMs = 1_000;
const removingVolumes = 'RemovingVolumes';
const maxNames = 5;

/**
 * Deletes a plane in order: workers, external access, components, etcd, volumes. Owner references cover everything
 * else. Does not need the workload API.
 */
export async function removePlane(request: RemovalRequest): Promise<RemovalReport> {
  const workers = workersOf(request);
  if (workers.length > 0) {
    const more = workers.length > maxNames ? `, ... (${workers.length - maxNames} more)` : '';
    return waiting(
      'WaitingForWorkersDeletion',
      `these Machines must be gone first: ${workers.slice(0, maxNames).join(', ')}${more}`,
    );
  }
  for (const group of groupsOf(request)) {
    const left = await removeAll(request, group.objects);
    if (left.length === 0) continue;
    const isVolumes = group.reason === removingVolumes;
    return waiting(group.reason, `${group.what} being removed: ${left.join(', ')}`, isVolumes ? volumesMs : recheckMs);
  }
  return { isGone: true, reason: 'DeletionCompleted', message: 'Deletion completed', result: done() };
}

const waiting = (reason: string, message: string, ms: number = recheckMs): RemovalReport => ({
  isGone: false,
  reason,
  message,
  result: after(ms, 'the plane is being removed'),
});

function workersOf({ context, cluster }: RemovalRequest): string[] {
  if (!cluster) return [];
  const { namespace, name } = cluster.metadata;
  return context.cache
    .lister(Machines)
    .list({ ...(namespace !== undefined && { namespace }), filter: (machine) => machine.spec.clusterName === name })
    .map(({ metadata }) => metadata.name ?? '')
    .sort();
}

interface Found {
  readonly resource: Resource<KubeObject>;
  readonly object: KubeObject;
}

interface Group {
  readonly reason: string;
  readonly what: string;
  readonly objects: readonly Found[];
}

function groupsOf(request: RemovalRequest): Group[] {
  const { naming } = request.desired;
  const isEtcd = ({ object }: Found): boolean => object.kind === 'StatefulSet' && object.metadata.name === naming.etcd;
  const sets = [...owned(request, StatefulSets), ...owned(request, Deployments)];
  return [
    { reason: 'RemovingRoutes', what: 'ways in are', objects: owned(request, Ingresses) },
    {
      reason: 'RemovingControlPlane',
      what: 'programs of the control plane are',
      objects: [...owned(request, CronJobs), ...sets.filter((found) => !isEtcd(found))],
    },
    { reason: 'RemovingEtcd', what: 'etcd is', objects: sets.filter(isEtcd) },
    { reason: removingVolumes, what: 'volumes are', objects: claimsOf(request) },
  ];
}

function owned<T extends KubeObject>({ context, owner, desired }: RemovalRequest, resource: Resource<T>): Found[] {
  const { uid } = owner.metadata;
  return context.cache
    .lister(resource)
    .list({
      namespace: desired.identity.namespace,
      filter: ({ metadata }) => metadata.ownerReferences?.some((reference) => reference.uid === uid) === true,
    })
    .map((object) => ({ resource, object }));
}

/** Claims have no owner; they are found by the labels of their StatefulSets. */
function claimsOf({ context, desired, volumes }: RemovalRequest): Found[] {
  const selectors = [
    ...(volumes.etcd ? [desired.naming.selector('etcd'), ...(desired.naming.formerSelectors?.('etcd') ?? [])] : []),
    ...(volumes.controlPlane ? [desired.naming.selector('control-plane')] : []),
  ];
  if (selectors.length === 0) return [];
  const matches = ({ metadata }: PersistentVolumeClaim): boolean =>
    selectors.some((selector) => Object.entries(selector).every(([key, value]) => metadata.labels?.[key] === value));
  return context.cache
    .lister(PersistentVolumeClaims)
    .list({ namespace: desired.identity.namespace, filter: matches })
    .map((object) => ({ resource: PersistentVolumeClaims, object }));
}

/**
 * Deletes objects and returns the names that still exist. Uses foreground deletion, so that Pods go before their
 * controller.
 */
async function removeAll({ context }: RemovalRequest, objects: readonly Found[]): Promise<string[]> {
  const left: string[] = [];
  const { client, signal } = context;
  for (const { resource, object } of objects) {
    left.push(`${object.kind} ${object.metadata.name ?? ''}`);
    if (isDeleting(object)) continue;
    try {
      const propagationPolicy =
        object.kind === 'StatefulSet' || object.kind === 'Deployment' ? 'Foreground' : 'Background';
      await client.delete(resource, objectKey(object), { propagationPolicy, signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return left.sort();
}
