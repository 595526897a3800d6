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

/** What serves one port of the load balancer, as far as it is there. */
export interface PortParts {
  listener: Listener | undefined;
  pool: Pool | undefined;
  /** some providers of load balancers have no monitors */
  monitor: HealthMonitor | 'unsupported' | undefined;
}

/**
 * What was found out about a cluster's resources that has no place in its status. It saves requests and nothing else: a
 * program that starts anew finds it out again.
 */
export interface ClusterMemory {
  /** port of the router on each subnet */
  readonly interfaces: Map<string, string>;
  /** router that was made here and has no interface but those above */
  newRouterId: string | undefined;
  readonly subnets: Map<string, Subnet>;
  readonly routerAddresses: Map<string, { subnetId: string; address: string | undefined }>;
  /** of the load balancer, by port; undefined until they were looked for */
  parts: Map<number, PortParts> | undefined;
  /** which listeners and pools the load balancer had when its parts were looked at */
  partsSeen: string;
  /** for which spec the zones were last looked at, and when */
  zones: { readonly desired: string; readonly at: number } | undefined;
  /** when a load balancer that came up broken was deleted */
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

/** One pass over one OpenStackCluster: what was read, and the draft that will be written. */
export interface ClusterScope {
  readonly context: ReconcileContext;
  readonly dependencies: InfrastructureDependencies;
  /** undefined when it is gone and the OpenStackCluster is on its way too */
  readonly cluster: Cluster | undefined;
  /** as stored; moves on when the intent is recorded */
  original: OpenStackCluster;
  /** private copy: phases change it, one place writes it */
  readonly draft: OpenStackCluster;
  readonly access: CloudAccess;
  /** namespace and name of the Cluster, as names in the cloud have it */
  readonly base: string;
  readonly clusterName: string;
  /** what this cluster's resources are marked with */
  readonly owner: string;
  /** upstream's provider had begun with it: what carries its names and texts, and nobody's mark, is this cluster's, too */
  readonly isBegunByUpstream: boolean;
  readonly memory: ClusterMemory;
  readonly lookups: LookupCache;
  readonly attention: Attention;
  /** what this pass found the cluster to depend on */
  readonly followed: Followed[];
}

/**
 * Records, before the first resource is made, that there will be some. Until then the object has no finalizer: whoever mistyped
 * its credentials or networks deletes it without any cloud.
 */
export async function beginToMake(scope: ClusterScope): Promise<undefined> {
  const stored = await recordIntent(scope.context, OpenStackClusters, scope.original, openStackClusterFinalizer);
  if (stored === scope.original) return;
  scope.original = stored;
  const { finalizers, annotations, resourceVersion } = draftOf(stored).metadata;
  Object.assign(scope.draft.metadata, { finalizers, annotations, resourceVersion });
}

/** The status of the draft, made when there is none. */
export function statusOf({ draft }: Pick<ClusterScope, 'draft'>): OpenStackClusterStatus {
  draft.status ??= {};
  return draft.status;
}

/**
 * The cluster was made earlier, so that a list read a moment ago may be asked where its parts are. What such a list does not
 * show is looked for anew.
 */
export function wasThereBefore({ original }: Pick<ClusterScope, 'original'>): boolean {
  return original.status?.initialization?.provisioned === true;
}

/** From now on the cluster is woken when this changes. */
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
 * A resource as the shared lists know it; asked for by itself only when they do not. Undefined when it does not exist. A
 * program that has just started reads one list for all clusters instead of one resource for each.
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
