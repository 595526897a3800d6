import type { HostAddresses } from './addresses.ts';
import type { HostSockets, ListenProblem } from './sockets.ts';

/** What an object wants to be reached at. */
export interface AddressSpec {
  /** names the object: the same one gets the same address again */
  readonly owner: string;
  readonly ports: readonly number[];
  /** the address it has already, which others count on */
  readonly recorded?: string;
  /** the address its user asks for */
  readonly asked?: string;
  /** the address the host set aside for it */
  readonly reserved?: string;
  /** addresses that are written down for others who have not come by yet */
  isHeldByOther(address: string): boolean;
}

export interface AddressGrant {
  readonly address: string;
  /** ports that could not be opened on this machine, and why; callers in this process reach them all the same */
  readonly problems: readonly { readonly port: number; readonly problem: ListenProblem }[];
}

/** Gives addresses to load balancers and Gateways and keeps their sockets open. */
export interface AddressBook {
  /** Opens the desired state and closes what the owner had beyond that. Undefined: the address asked for cannot be had. */
  grant(desired: AddressSpec): Promise<AddressGrant | undefined>;
  /** the owner is gone */
  release(owner: string): Promise<void>;
  addressOf(owner: string): string | undefined;
}

interface Holding {
  readonly address: string;
  readonly ports: ReadonlySet<number>;
}

/** Addresses tried in one go; after that something else is wrong than that one of them is taken. */
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
    // Taken before anything is awaited: nobody else may choose it meanwhile.
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
      // What was told to others stays, also while another program holds it: that one may go.
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
