import {
  type Cluster,
  type OpenStackCluster,
  type OpenStackClusterStatus,
  OpenStackClusters,
} from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import type { HealthMonitor, Listener, ObservedType, ObservedTypes, Pool, Subnet } from '../../../openstack/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { draftOf } from '../../shared/index.ts';
import type { Attention, Followed } from '../common/attention.ts';
import type { CloudAccess } from '../common/clouds.ts';
import type { InfrastructureDependencies } from '../common/dependencies.ts';
import { openStackClusterFinalizer } from '../common/names.ts';
import { recordIntent } from '../common/record-intent.ts';
import type { LookupCache } from '../server/lookup-cache.ts';

/** Existing parts of one load balancer port. */
export interface PortParts {
  listener: Listener | undefined;
  pool: Pool | undefined;
  /** some load balancer providers support no monitors */
  monitor: HealthMonitor | 'unsupported' | undefined;
}

/**
 * Memory about a cluster's resources that is not in its status. It saves requests only and is rebuilt after a restart.
 */
export interface ClusterMemory {
  /** router port by subnet */
  readonly interfaces: Map<string, string>;
  /** newly created router, which has only the interfaces above */
  newRouterId: string | undefined;
  readonly subnets: Map<string, Subnet>;
  readonly routerAddresses: Map<string, { subnetId: string; address: string | undefined }>;
  /** load balancer parts by port; undefined until read */
  parts: Map<number, PortParts> | undefined;
  /** listeners and pools of the load balancer when its parts were read */
  partsSeen: string;
  /** spec and time of the last zone list */
  zones: { readonly desired: string; readonly at: number } | undefined;
  /** when a load balancer that failed to come up was deleted */
  brokenSince: number | undefined;
}

export function newMemory(): ClusterMemory {
  return {
    interfaces: new Map(),
    newRouterId: undefined,
    subnets: new Map(),
    routerAddresses: new Map(),
    parts: undefined,
    partsSeen: '',
    zones: undefined,
    brokenSince: undefined,
  };
}

/** State of one reconcile of an OpenStackCluster: the inputs and the draft that is written at the end. */
export interface ClusterScope {
  readonly context: ReconcileContext;
  readonly dependencies: InfrastructureDependencies;
  /** undefined if the Cluster is gone and the OpenStackCluster is being deleted */
  readonly cluster: Cluster | undefined;
  /** as stored; replaced when the intent is recorded */
  original: OpenStackCluster;
  /** private copy that the phases change; written once at the end */
  readonly draft: OpenStackCluster;
  readonly access: CloudAccess;
  /** namespace and name of the Cluster, as in cloud resource names */
  readonly base: string;
  readonly clusterName: string;
  /** owner id in the marks of this cluster's resources */
  readonly owner: string;
  /**
   * taken over from upstream's provider: unmarked resources with upstream's names and descriptions belong to this
   * cluster
   */
  readonly isBegunByUpstream: boolean;
  readonly memory: ClusterMemory;
  readonly lookups: LookupCache;
  readonly attention: Attention;
  /** cloud resources that this reconcile depends on */
  readonly followed: Followed[];
}

/**
 * Adds finalizer and owner mark before the first resource is created. Without them, an object with mistyped credentials
 * or networks can be deleted without access to a cloud.
 */
export async function beginToMake(scope: ClusterScope): Promise<undefined> {
  const stored = await recordIntent(scope.context, OpenStackClusters, scope.original, openStackClusterFinalizer);
  if (stored === scope.original) return;
  scope.original = stored;
  const { finalizers, annotations, resourceVersion } = draftOf(stored).metadata;
  Object.assign(scope.draft.metadata, { finalizers, annotations, resourceVersion });
}

/** Returns the status of the draft; creates it if absent. */
export function statusOf({ draft }: Pick<ClusterScope, 'draft'>): OpenStackClusterStatus {
  draft.status ??= {};
  return draft.status;
}

/**
 * Tells whether the cluster was provisioned before, so that a recent list contains its parts. A part missing in that
 * list is looked up individually.
 */
export function wasThereBefore({ original }: Pick<ClusterScope, 'original'>): boolean {
  return original.status?.initialization?.provisioned === true;
}

/** Enqueues the cluster when this resource changes. */
export function follow(
  scope: ClusterScope,
  type: ObservedType,
  id: string,
  { closely = false }: { closely?: boolean } = {},
): void {
  const thing: Followed = { type, id, ...(closely && { closely }) };
  scope.followed.push(thing);
  scope.attention.also(objectKey(scope.original), scope.access.observer, thing);
}

/**
 * Returns a resource from the shared lists, or requests it individually; undefined if it does not exist. After a
 * restart, one list thus serves all clusters.
 */
export async function look<K extends ObservedType>(
  scope: ClusterScope,
  type: K,
  id: string,
): Promise<ObservedTypes[K] | undefined> {
  const { view, observer } = scope.access;
  const { signal } = scope.context;
  follow(scope, type, id);
  const known = view.current(type, id);
  if (known !== undefined) return known;
  if (!observer.health(type).synced) {
    await observer.refresh(type);
    const seen = view.current(type, id);
    if (seen !== undefined) return seen;
  }
  return view.readAnew(type, id, signal);
}
