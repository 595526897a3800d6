import type { HostAddresses } from './addresses.ts';
import type { HostSockets, ListenProblem } from './sockets.ts';

/** Address requirements of an object. */
export interface AddressSpec {
  /** name of the object; the same owner gets the same address again */
  readonly owner: string;
  readonly ports: readonly number[];
  /** the address in its status, which others rely on */
  readonly recorded?: string;
  /** the address its user requests */
  readonly asked?: string;
  /** the address the host reserved for it */
  readonly reserved?: string;
  /** reports whether the address is recorded for another object that has not been reconciled yet */
  isHeldByOther(address: string): boolean;
}

export interface AddressGrant {
  readonly address: string;
  /** ports that could not be opened on this machine, and why; callers in this process reach them anyway */
  readonly problems: readonly { readonly port: number; readonly problem: ListenProblem }[];
}

/** Assigns addresses to load balancers and Gateways and keeps their sockets open. */
export interface AddressBook {
  /**
   * Opens the desired ports and closes the owner's other ones. Returns undefined if the requested address is not
   * available.
   */
  grant(desired: AddressSpec): Promise<AddressGrant | undefined>;
  /** called when the owner is gone */
  release(owner: string): Promise<void>;
  addressOf(owner: string): string | undefined;
}

interface Holding {
  readonly address: string;
  readonly ports: ReadonlySet<number>;
}

/** Maximum addresses to try at once. If none works, the cause is not that they are taken. */
const maxTries = 64;

export function addressBook(
  sockets: HostSockets,
  addresses: Pick<HostAddresses, 'candidates' | 'mayBeAsked'>,
): AddressBook {
  const holdings = new Map<string, Holding>();
  const owners = new Map<string, string>();

  const openAll = async (address: string, ports: readonly number[]): Promise<AddressGrant['problems']> => {
    const problems: { port: number; problem: ListenProblem }[] = [];
    for (const port of ports) {
      const problem = await sockets.open(address, port);
      if (problem) problems.push({ port, problem });
    }
    return problems;
  };

  const hold = async (owner: string, address: string, ports: readonly number[]): Promise<AddressGrant> => {
    const before = holdings.get(owner);
    // Reserved before the first await, so that nobody else chooses it in between.
    owners.set(address, owner);
    holdings.set(owner, { address, ports: new Set(ports) });
    if (before) await closeOthers(before, address, new Set(ports));
    return { address, problems: await openAll(address, ports) };
  };

  const closeOthers = async (before: Holding, address: string, ports: ReadonlySet<number>): Promise<void> => {
    const isMoved = before.address !== address;
    if (isMoved) owners.delete(before.address);
    for (const port of before.ports) if (isMoved || !ports.has(port)) await sockets.close(before.address, port);
  };

  const isFree = (address: string, owner: string): boolean => (owners.get(address) ?? owner) === owner;

  return {
    async grant({ owner, ports, recorded, asked, reserved, isHeldByOther }) {
      if (reserved) return isFree(reserved, owner) ? hold(owner, reserved, ports) : undefined;
      if (asked) {
        const isGiven = addresses.mayBeAsked(asked) && isFree(asked, owner) && !isHeldByOther(asked);
        return isGiven ? hold(owner, asked, ports) : undefined;
      }
      const kept = holdings.get(owner)?.address ?? recorded;
      // An address already reported to users is kept even while another program holds it, because that program may
      // exit.
      if (kept && addresses.mayBeAsked(kept) && isFree(kept, owner)) return hold(owner, kept, ports);
      let tries = 0;
      for (const address of addresses.candidates(owner)) {
        if (!isFree(address, owner) || isHeldByOther(address)) continue;
        const granted = await hold(owner, address, ports);
        if (++tries >= maxTries || !granted.problems.some(({ problem }) => problem.code === 'EADDRINUSE'))
          return granted;
      }
      return undefined;
    },
    async release(owner) {
      const holding = holdings.get(owner);
      if (!holding) return;
      holdings.delete(owner);
      owners.delete(holding.address);
      for (const port of holding.ports) await sockets.close(holding.address, port);
    },
    addressOf: (owner) => holdings.get(owner)?.address,
  };
}
