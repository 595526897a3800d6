import { must, type Random } from '../../../machinery/index.ts';
import type { Cidr } from './cidr.ts';
import { formatIp, type IpVersion, knownIp, parseIp } from './ip.ts';
import { TakenSet } from './taken-set.ts';

/** Range of allocatable addresses, both ends included. */
export interface Pool {
  readonly start: string;
  readonly end: string;
}

/** Neutron chooses randomly among this many of the lowest free addresses of a pool. */
const window = 1000;

/** Bound on automatic allocation per pool. The rest of an IPv6 pool is available only for requests with an address. */
const poolBound = 2 ** 32;

interface CountedPool {
  readonly first: bigint;
  readonly taken: TakenSet;
}

/** Used addresses of a subnet's pools, and the choice of the next one. */
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

  /** Number of free addresses. */
  get free(): number {
    let free = 0;
    for (const { taken } of this.#pools) free += taken.free;
    return free;
  }

  /** Returns a free address of the first pool that has one, without taking it, or undefined if all are taken. */
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

  /** Marks an address as used. Returns whether it was free; addresses outside of the pools never are. */
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

/** Default pools of a subnet: all host addresses except the gateway. */
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
