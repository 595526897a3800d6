/** Addresses of one network. */
export interface AddressPool {
  /** takes the desired address if it is free, else the next free one */
  take(desired?: string): string;
  giveBack(address: string): void;
}

/** Creates a pool for a network with a prefix of 16 or 24 bits. */
export function createAddressPool(network: string, bits: 16 | 24 = 16): AddressPool {
  const prefix = network
    .split('.')
    .slice(0, bits / 8)
    .join('.');
  const size = bits === 16 ? 65_536 : 256;
  const taken = new Set<string>();
  // The first addresses of a network are reserved for its infrastructure.
  let next = 2;
  const format = (index: number): string =>
    bits === 16 ? `${prefix}.${index >> 8}.${index & 255}` : `${prefix}.${index}`;
  return {
    take(desired) {
      if (desired?.startsWith(`${prefix}.`) && !taken.has(desired)) {
        taken.add(desired);
        return desired;
      }
      for (let tries = 0; tries < size; tries++) {
        const address = format(next);
        next = next >= size - 2 ? 2 : next + 1;
        if (taken.has(address)) continue;
        taken.add(address);
        return address;
      }
      throw new Error(`all addresses of ${network}/${bits} are taken`);
    },
    giveBack: (address) => {
      taken.delete(address);
    },
  };
}
