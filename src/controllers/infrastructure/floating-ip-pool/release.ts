import { type IPAddress, IPAddressClaims, IPAddresses } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { ignoreNotFound, isNotFound } from '../../../machinery/index.ts';
import { collect, type FloatingIp } from '../../../openstack/index.ts';
import { fieldManager, isDeleting, withoutFinalizer } from '../../shared/index.ts';
import { openStackErrorReason } from '../common/conditions.ts';
import { deleteFloatingIpFinalizer, poolDescription, poolTag, upstreamPoolDescription } from '../common/names.ts';
import { attempt } from '../common/outcomes.ts';
import { carriesMark, ownerMark } from '../common/ownership.ts';
import { isPreallocated, listsOf, type PoolScope, save } from './scope.ts';

/** Releases addresses without a claim: back to the pool or deleted, according to the reclaim policy. */
export async function releaseAddresses(scope: PoolScope): Promise<readonly IPAddress[]> {
  const kept: IPAddress[] = [];
  for (const address of scope.addresses) {
    if (isDeleting(address)) await release(scope, address);
    else if (await isOrphan(scope, address)) await remove(scope, address);
    else kept.push(address);
  }
  return kept;
}

/**
 * Tells whether the claim is gone. A claim missing in the cache is requested from the API, so that no address in use is
 * released.
 */
async function isOrphan({ claims, context }: PoolScope, { metadata, spec }: IPAddress): Promise<boolean> {
  const { name } = spec.claimRef;
  if (claims.some((claim) => claim.metadata.name === name)) return false;
  try {
    await context.client.get(
      IPAddressClaims,
      { namespace: metadata.namespace ?? '', name },
      { signal: context.signal },
    );
    return false;
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
}

async function remove({ context }: PoolScope, address: IPAddress): Promise<void> {
  await context.client.delete(IPAddresses, objectKey(address), { signal: context.signal }).catch(ignoreNotFound);
}

async function release(scope: PoolScope, object: IPAddress): Promise<void> {
  const { pool } = scope;
  const { address } = object.spec;
  if (object.metadata.finalizers?.includes(deleteFloatingIpFinalizer) !== true) return;
  if (pool.spec.reclaimPolicy === 'Delete' && !isPreallocated(pool, address)) {
    await deleteFloatingIp(scope, address);
  } else if (!listsOf(pool).available.includes(address)) {
    // record the address in the pool before the finalizer is removed
    pool.status = { ...pool.status, availableIPs: [...listsOf(pool).available, address].sort() };
    await save(scope);
  }
  await forgetAddress(scope, object);
}

/** Removes the finalizer, so that the address object can be deleted. */
export async function forgetAddress({ context }: PoolScope, object: IPAddress): Promise<void> {
  const finalizers = withoutFinalizer(object.metadata.finalizers, deleteFloatingIpFinalizer);
  const { resourceVersion } = object.metadata;
  const patch = { metadata: { finalizers, ...(resourceVersion !== undefined && { resourceVersion }) } };
  await context.client
    .patch(IPAddresses, objectKey(object), 'merge', patch, { fieldManager, signal: context.signal })
    .catch(ignoreNotFound);
}

/** Deletes a floating IP if it belongs to the pool; one that others use meanwhile stays. */
export async function deleteFloatingIp(scope: PoolScope, address: string): Promise<void> {
  const { floatingIps } = scope.cloud.openstack.network;
  const { signal, events } = scope.context;
  await attempt(`Floating IP ${address} cannot be deleted`, openStackErrorReason, async () => {
    const found = await floatingIps.find(address, { signal });
    if (!found || !isOfPool(scope, found)) return;
    await floatingIps.delete(found.id, { signal });
    events.event(scope.pool, 'Normal', 'Successfuldeletefloatingip', `Deleted floating IP ${address}`);
  });
}

/**
 * Tells whether a floating IP belongs to the pool, by our mark, or by upstream's description and tag. Those do not
 * contain the namespace, so the pool must also have recorded the address.
 */
function isOfPool({ owner, pool, isBegunByUpstream }: PoolScope, { description, tags }: FloatingIp): boolean {
  if (carriesMark({ description }, owner)) return true;
  const { name = '' } = pool.metadata;
  return isBegunByUpstream && description === upstreamPoolDescription(name) && tags.includes(poolTag(name));
}

/** Lists floating IPs with the pool's mark, including those whose creation response was lost. */
export async function ownFloatingIps({ cloud, pool, owner, context }: PoolScope): Promise<FloatingIp[]> {
  const description = poolDescription(pool.metadata.name ?? '', ownerMark(owner));
  return await attempt('Floating IPs of the pool cannot be listed', openStackErrorReason, () =>
    collect(cloud.openstack.network.floatingIps.list({ description }, { signal: context.signal })),
  );
}
