/** Addresses of one /16 network. */
export interface AddressPool {
  /** the wished one when it is free, else the next */
  take(wished?: string): string;
  giveBack(address: string): void;
}

const size = 65_536;

export function createAddressPool(network: string): AddressPool {
  const prefix = network.split('.').slice(0, 2).join('.');
  const taken = new Set<string>();
  // The first addresses of a network are for those who run it.
  let next = 2;
  const format = (index: number): string => `${prefix}.${index >> 8}.${index & 255}`;
  return {
    take(wished) {
      if (wished?.startsWith(`${prefix}.`) && !taken.has(wished)) {
        taken.add(wished);
        return wished;
      }
      for (let tries = 0; tries < size; tries++) {
        const address = format(next);
        next = next >= size - 2 ? 2 : next + 1;
        if (taken.has(address)) continue;
        taken.add(address);
        return address;
      }
      throw new Error(`all addresses of ${network}/16 are taken`);
    },
    giveBack: (address) => {
      taken.delete(address);
    },
  };
}
