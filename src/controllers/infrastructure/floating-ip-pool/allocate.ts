import { type IPAddress, type IPAddressClaim, IPAddressClaims, IPAddresses, ipamGroup } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { ipFamily, isAlreadyExists } from '../../../machinery/index.ts';
import type { FloatingIp } from '../../../openstack/index.ts';
import { fieldManager, isDeleting, ownerReference } from '../../shared/index.ts';
import { openStackErrorReason } from '../common/conditions.ts';
import { deleteFloatingIpFinalizer, poolDescription, poolTag } from '../common/names.ts';
import { attempt, CloudFault } from '../common/outcomes.ts';
import { ownerMark } from '../common/ownership.ts';
import { ownFloatingIps } from './release.ts';
import { beginToMake, listsOf, maxIpsReachedReason, type PoolScope } from './scope.ts';

/** Lists claims without an address, oldest first. */
export function openClaims({ claims }: PoolScope): IPAddressClaim[] {
  return claims
    .filter((claim) => !isDeleting(claim) && (claim.status?.addressRef?.name ?? '') === '')
    .toSorted((a, b) => compare(a.metadata.creationTimestamp, b.metadata.creationTimestamp));
}

const compare = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0);

/** Answers claims one by one. Returns all allocated addresses, including earlier ones. */
export async function answerClaims(scope: PoolScope, given: readonly IPAddress[]): Promise<readonly IPAddress[]> {
  const waiting = openClaims(scope);
  if (waiting.length === 0) return given;
  await beginToMake(scope);
  const all = [...given];
  const stock = createStock(scope);
  for (const claim of waiting) {
    const known = all.find(({ spec }) => spec.claimRef.name === claim.metadata.name);
    const object = known ?? (await createAddress(scope, claim, await stock.take(all)));
    if (!known) all.push(object);
    await answer(scope, claim, object);
  }
  return all;
}

interface Stock {
  /** returns a free address from the pool, or a new floating IP */
  take(given: readonly IPAddress[]): Promise<string>;
}

function createStock(scope: PoolScope): Stock {
  const { pool, cloud, context } = scope;
  const { floatingIps } = cloud.openstack.network;
  const { signal } = context;
  let ours: Promise<FloatingIp[]> | undefined;
  const isFree = (found: FloatingIp | undefined): boolean => found !== undefined && found.portId === undefined;

  /** Takes a free address of the pool: supplied by the user, or released by an earlier claim. */
  const fromPool = async (taken: ReadonlySet<string>): Promise<string | undefined> => {
    const { available, failed } = listsOf(pool);
    const candidates = [...new Set([...(pool.spec.preAllocatedFloatingIPs ?? []), ...available])];
    const bad = new Set(failed);
    let chosen: string | undefined;
    for (const address of candidates) {
      if (taken.has(address)) continue;
      const found = await attempt(`Floating IP ${address} cannot be read`, openStackErrorReason, () =>
        floatingIps.find(address, { signal }),
      );
      // missing, or in use by someone else
      if (!isFree(found)) bad.add(address);
      else {
        bad.delete(address);
        chosen = address;
        break;
      }
    }
    pool.status = { ...pool.status, failedIPs: [...bad].sort() };
    return chosen;
  };

  const fromCloud = async (taken: ReadonlySet<string>): Promise<string> => {
    ours ??= ownFloatingIps(scope);
    const spare = (await ours).find((one) => isFree(one) && !taken.has(one.address));
    if (spare) return spare.address;
    return (await createFloatingIp(scope)).address;
  };

  return {
    async take(given) {
      const { maxIPs } = pool.spec;
      if (maxIPs !== undefined && given.length >= maxIPs) {
        throw new CloudFault(
          maxIpsReachedReason,
          `All ${maxIPs} addresses the pool may give are claimed; raise maxIPs, or delete machines that hold one`,
        );
      }
      const taken = new Set(given.map(({ spec }) => spec.address));
      return (await fromPool(taken)) ?? (await fromCloud(taken));
    },
  };
}

async function createFloatingIp(scope: PoolScope): Promise<FloatingIp> {
  const { pool, cloud, owner, context } = scope;
  const { floatingIps } = cloud.openstack.network;
  const { name = '' } = pool.metadata;
  const { signal } = context;
  return await attempt('A floating IP cannot be created', openStackErrorReason, async () => {
    const made = await floatingIps.create(
      {
        networkId: pool.status?.floatingIPNetwork?.id ?? '',
        description: poolDescription(name, ownerMark(owner)),
      },
      { signal },
    );
    await floatingIps.replaceTags(made.id, [poolTag(name)], { signal });
    context.events.event(pool, 'Normal', 'Successfulcreatefloatingip', `Created floating IP ${made.address}`);
    return made;
  });
}

async function createAddress(scope: PoolScope, claim: IPAddressClaim, address: string): Promise<IPAddress> {
  const { client, signal } = scope.context;
  const key = { namespace: claim.metadata.namespace ?? '', name: claim.metadata.name ?? '' };
  const object: IPAddress = {
    apiVersion: `${ipamGroup}/${IPAddresses.version}`,
    kind: IPAddresses.kind,
    metadata: {
      ...key,
      finalizers: [deleteFloatingIpFinalizer],
      ownerReferences: [ownerReference(claim, IPAddressClaims)],
    },
    spec: {
      claimRef: { name: key.name },
      poolRef: claim.spec.poolRef,
      address,
      prefix: ipFamily(address) === 'IPv6' ? 128 : 32,
    },
  };
  try {
    return await client.create(IPAddresses, object, { fieldManager, signal });
  } catch (error) {
    // created by an earlier reconcile and not in the cache yet
    if (!isAlreadyExists(error)) throw error;
    return await client.get(IPAddresses, key, { signal });
  }
}

async function answer({ context }: PoolScope, claim: IPAddressClaim, { metadata }: IPAddress): Promise<void> {
  const patch = { status: { addressRef: { name: metadata.name ?? '' } } };
  await context.client.patch(IPAddressClaims, objectKey(claim), 'merge', patch, {
    fieldManager,
    subresource: 'status',
    signal: context.signal,
  });
}
