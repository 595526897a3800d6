import {
  type IPAddress,
  type IPAddressClaim,
  type OpenStackFloatingIPPool,
  OpenStackFloatingIPPools,
} from '../../../api/index.ts';
import { clone } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { setVerdict, type Verdict, writeObject } from '../../shared/index.ts';
import type { CloudAccess } from '../common/clouds.ts';
import { floatingIpPoolFinalizer } from '../common/names.ts';
import { recordIntent } from '../common/record-intent.ts';

/** Spelled as upstream. */
export const poolReadyCondition = 'OpenstackFloatingIPPoolReadyCondition';
export const maxIpsReachedReason = 'MaxIPsReached';
export const unableToFindNetworkReason = 'UnableToFindNetwork';

export interface PoolScope {
  readonly context: ReconcileContext;
  original: OpenStackFloatingIPPool;
  /** private copy that the phases change; written by `save` */
  readonly pool: OpenStackFloatingIPPool;
  readonly cloud: CloudAccess;
  /** owner id in the marks of the pool's floating IPs */
  readonly owner: string;
  /** taken over from upstream's provider: addresses with upstream's description belong to the pool, too */
  readonly isBegunByUpstream: boolean;
  /** addresses assigned from this pool, including those being released */
  readonly addresses: readonly IPAddress[];
  readonly claims: readonly IPAddressClaim[];
}

export async function save(scope: PoolScope): Promise<void> {
  const { context, original, pool } = scope;
  scope.original = await writeObject(context, OpenStackFloatingIPPools, original, pool, { observed: false });
  const { resourceVersion } = scope.original.metadata;
  if (resourceVersion !== undefined) pool.metadata.resourceVersion = resourceVersion;
}

/**
 * Adds finalizer and owner mark before the first address is allocated. Without them, the pool can be deleted without
 * access to a cloud.
 */
export async function beginToMake(scope: PoolScope): Promise<void> {
  const { context, original, pool } = scope;
  const stored = await recordIntent(context, OpenStackFloatingIPPools, original, floatingIpPoolFinalizer);
  if (stored === original) return;
  scope.original = stored;
  const { finalizers, annotations, resourceVersion } = clone(stored).metadata;
  Object.assign(pool.metadata, { finalizers, annotations, resourceVersion });
}

export function judge(scope: Pick<PoolScope, 'pool' | 'context'>, verdict: Verdict): void {
  setVerdict(scope.pool, poolReadyCondition, verdict, scope.context.clock.now());
}

export function isPreallocated({ spec }: OpenStackFloatingIPPool, address: string): boolean {
  return spec.preAllocatedFloatingIPs?.includes(address) === true;
}

export function listsOf({ status }: OpenStackFloatingIPPool): { available: string[]; failed: string[] } {
  return { available: [...(status?.availableIPs ?? [])], failed: [...(status?.failedIPs ?? [])] };
}
