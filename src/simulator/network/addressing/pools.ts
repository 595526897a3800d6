import { must, type Random } from '../../../machinery/index.ts';
import type { Cidr } from './cidr.ts';
import { formatIp, type IpVersion, knownIp, parseIp } from './ip.ts';
import { TakenSet } from './taken-set.ts';

/** A range of addresses that are given out, both ends included. */
export interface Pool {
  readonly start: string;
  readonly end: string;
}

/** Neutron chooses among so many free addresses of a pool, beginning with the lowest. */
const window = 1000;

/** More than anybody takes one by one; the rest of an IPv6 pool is reached by asking for an address. */
const poolBound = 2 ** 32;

interface CountedPool {
  readonly first: bigint;
  readonly taken: TakenSet;
}

/** Which addresses of a subnet's pools are taken, and which to give out next. */
export class SubnetAddresses {
  readonly #version: IpVersion;
  readonly #pools: readonly CountedPool[];

  constructor(version: IpVersion, pools: readonly Pool[]) {
    this.#version = version;
    this.#pools = pools.map(({ start, end }) => {
      const first = knownIp(start).value;
      const size = knownIp(end).value - first + 1n;
      return { first, taken: new TakenSet(Math.min(Number(size), poolBound)) };
    });
  }

  /** Addresses that can still be given out. */
  get free(): number {
    let free = 0;
    for (const { taken } of this.#pools) free += taken.free;
    return free;
  }

  /** A free address of the first pool that has one; undefined when all are taken. Nothing is taken yet. */
  choose(random: Random, { preferLowest }: { preferLowest: boolean }): string | undefined {
    for (const { first, taken } of this.#pools) {
      const { free } = taken;
      if (free === 0) continue;
      const rank = preferLowest ? 0 : Math.floor(random.next() * Math.min(free, window));
      return formatIp({
        version: this.#version,
        value: first + BigInt(must(taken.nthFree(rank), 'taken.nthFree(rank)')),
      });
    }
    return undefined;
  }

  /** An address came into use. Says whether it was free; those outside of the pools never are. */
  take(address: string): boolean {
    const place = this.#placeOf(address);
    return place?.taken.add(place.number) ?? false;
  }

  giveBack(address: string): void {
    const place = this.#placeOf(address);
    place?.taken.delete(place.number);
  }

  #placeOf(address: string): { taken: TakenSet; number: number } | undefined {
    const value = parseIp(address)?.value;
    if (value === undefined) return undefined;
    for (const { first, taken } of this.#pools) {
      if (value < first) continue;
      const offset = value - first;
      if (offset < BigInt(taken.size)) return { taken, number: Number(offset) };
    }
    return undefined;
  }
}

/** The pools of a subnet whose owner named none: all its addresses but the gateway's and those no host may have. */
export function defaultPools(cidr: Cidr, gateway: bigint | undefined): Pool[] {
  const { version } = cidr;
  let { first, last } = cidr;
  if (first !== last) {
    if (version === 6) first += 1n;
    else if (cidr.prefix <= 30) {
      first += 1n;
      last -= 1n;
    }
  }
  const pool = (from: bigint, to: bigint): Pool[] =>
    from > to ? [] : [{ start: formatIp({ version, value: from }), end: formatIp({ version, value: to }) }];
  if (gateway === undefined || gateway < first || gateway > last || first === last) return pool(first, last);
  return [...pool(first, gateway - 1n), ...pool(gateway + 1n, last)];
}
