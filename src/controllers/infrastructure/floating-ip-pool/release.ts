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

/** Takes back addresses nobody claims any more: into the pool, or out of the cloud, as the pool's policy says. */
export async function releaseAddresses(scope: PoolScope): Promise<readonly IPAddress[]> {
  const kept: IPAddress[] = [];
  for (const address of scope.addresses) {
    if (isDeleting(address)) await release(scope, address);
    else if (await isOrphan(scope, address)) await remove(scope, address);
    else kept.push(address);
  }
  return kept;
}

/** Its claim is gone. What the cache does not show is asked for: an address is not taken from anybody by mistake. */
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
    // back in the pool before the object is forgotten
    pool.status = { ...pool.status, availableIPs: [...listsOf(pool).available, address].sort() };
    await save(scope);
  }
  await forgetAddress(scope, object);
}

/** From now on nobody waits for the pool to let an address go. */
export async function forgetAddress({ context }: PoolScope, object: IPAddress): Promise<void> {
  const finalizers = withoutFinalizer(object.metadata.finalizers, deleteFloatingIpFinalizer);
  const { resourceVersion } = object.metadata;
  const patch = { metadata: { finalizers, ...(resourceVersion !== undefined && { resourceVersion }) } };
  await context.client
    .patch(IPAddresses, objectKey(object), 'merge', patch, { fieldManager, signal: context.signal })
    .catch(ignoreNotFound);
}

/** Deletes a floating IP if it is ours; what somebody else has made of the address is theirs. */
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

/** By our mark, or by the words and the tag of upstream's provider. Its words do not say of which namespace the pool is: the pool has noted the address. */
function isOfPool({ owner, pool, isBegunByUpstream }: PoolScope, { description, tags }: FloatingIp): boolean {
  if (carriesMark({ description }, owner)) return true;
  const { name = '' } = pool.metadata;
  return isBegunByUpstream && description === upstreamPoolDescription(name) && tags.includes(poolTag(name));
}

/** Floating IPs that carry the pool's mark: also those whose making was never heard of again. */
export async function ownFloatingIps({ cloud, pool, owner, context }: PoolScope): Promise<FloatingIp[]> {
  const description = poolDescription(pool.metadata.name ?? '', ownerMark(owner));
  return await attempt('Floating IPs of the pool cannot be listed', openStackErrorReason, () =>
    collect(cloud.openstack.network.floatingIps.list({ description }, { signal: context.signal })),
  );
}
