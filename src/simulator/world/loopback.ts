import type { Logger } from '../../runtime/index.ts';
import { type ClaimedRange, claimLoopbackRange, type LoopbackRange, loopbackRangeOf } from '../../simkube/index.ts';
import type { World, WorldExternalNetwork } from './world.ts';

/** Loopback ranges reserved for a cloud on this host. */
export interface HeldRanges {
  release(): Promise<void>;
}

const purpose = 'simulated cloud';

/** Reserves the ranges of a persisted cloud. Its servers already have addresses in them. */
export async function holdRanges(cidrs: Iterable<string>, log: Logger): Promise<HeldRanges> {
  return { release: releaseAll(await claimAll(rangesOf(cidrs), { isKept: true }, log)) };
}

/**
 * Reserves ranges for a new cloud. The returned world has other ranges in place of those that another program holds.
 */
export async function settleWorld(world: World, log: Logger): Promise<HeldRanges & { readonly world: World }> {
  const { externalNetworks = [] } = world;
  const claims = await claimAll(rangesOf(externalNetworks.map(({ cidr }) => cidr)), { isKept: false }, log);
  return {
    world: { ...world, externalNetworks: externalNetworks.map((network) => moved(network, claims)) },
    release: releaseAll(claims),
  };
}

/** Claimed ranges by requested CIDR. */
type Claims = ReadonlyMap<string, ClaimedRange>;

async function claimAll(
  ranges: ReadonlyMap<string, LoopbackRange>,
  { isKept }: { isKept: boolean },
  log: Logger,
): Promise<Claims> {
  const claims = new Map<string, ClaimedRange>();
  try {
    for (const [cidr, usual] of ranges) {
      claims.set(cidr, await claimLoopbackRange({ purpose, usual, isKept, log }));
    }
  } catch (error) {
    await releaseAll(claims)();
    throw error;
  }
  return claims;
}

/** Returns the complete loopback ranges among the CIDRs. Smaller parts are not managed here. */
function rangesOf(cidrs: Iterable<string>): Map<string, LoopbackRange> {
  const found = new Map<string, LoopbackRange>();
  for (const cidr of cidrs) {
    const range = loopbackRangeOf(cidr.slice(0, Math.max(0, cidr.indexOf('/'))));
    if (range?.cidr === cidr) found.set(cidr, range);
  }
  return found;
}

function moved(network: WorldExternalNetwork, claims: Claims): WorldExternalNetwork {
  const claim = claims.get(network.cidr);
  if (!claim || claim.cidr === network.cidr) return network;
  const move = (address: string): string => claim.prefix + address.split('.').slice(2).join('.');
  const { gateway, pool } = network;
  return {
    ...network,
    cidr: claim.cidr,
    gateway: move(gateway),
    pool: { start: move(pool.start), end: move(pool.end) },
  };
}

function releaseAll(claims: Claims): () => Promise<void> {
  return async () => {
    await Promise.all(Array.from(claims.values(), (claim) => claim.release()));
  };
}
