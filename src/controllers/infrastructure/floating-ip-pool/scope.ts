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

/** As upstream spells it. */
export const poolReadyCondition = 'OpenstackFloatingIPPoolReadyCondition';
export const maxIpsReachedReason = 'MaxIPsReached';
export const unableToFindNetworkReason = 'UnableToFindNetwork';

/** One pass over one pool. */
export interface PoolScope {
  readonly context: ReconcileContext;
  original: OpenStackFloatingIPPool;
  /** private copy: phases change it, `save` writes it */
  readonly pool: OpenStackFloatingIPPool;
  readonly cloud: CloudAccess;
  /** what the pool's floating IPs are marked with */
  readonly owner: string;
  /** upstream's provider had begun with it: addresses with its words on them are the pool's, too */
  readonly isBegunByUpstream: boolean;
  /** addresses given out by this pool, those on their way back included */
  readonly addresses: readonly IPAddress[];
  /** claims of this pool */
  readonly claims: readonly IPAddressClaim[];
}

export async function save(scope: PoolScope): Promise<void> {
  const { context, original, pool } = scope;
  scope.original = await writeObject(context, OpenStackFloatingIPPools, original, pool, { observed: false });
  const { resourceVersion } = scope.original.metadata;
  if (resourceVersion !== undefined) pool.metadata.resourceVersion = resourceVersion;
}

/** Records, before the first address is taken, that the pool has some. Until then it can be deleted without any cloud. */
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

/** The pool's lists of addresses, as its draft has them. */
export function listsOf({ status }: OpenStackFloatingIPPool): { available: string[]; failed: string[] } {
  return { available: [...(status?.availableIPs ?? [])], failed: [...(status?.failedIPs ?? [])] };
}
