import type { Server } from '../../../openstack/index.ts';

export interface NodeAddress {
  type: string;
  address: string;
}

/** Converts server addresses for a machine status: by network, IPv4 first, then the name. */
export function addressesOf(server: Pick<Server, 'addresses' | 'name'>): NodeAddress[] {
  const addresses: NodeAddress[] = [];
  for (const network of Object.keys(server.addresses).sort()) {
    const all = server.addresses[network] ?? [];
    for (const { type, address } of all.toSorted((a, b) => a.version - b.version)) {
      addresses.push({ type: type === 'floating' ? 'ExternalIP' : 'InternalIP', address });
    }
  }
  addresses.push({ type: 'InternalDNS', address: server.name });
  return addresses;
}

/** Returns the fixed address in a network: IPv4, otherwise IPv6. */
export function fixedAddressOn(server: Pick<Server, 'addresses'>, networkName: string): string | undefined {
  const fixed = (server.addresses[networkName] ?? []).filter(({ type }) => type === 'fixed');
  return fixed.toSorted((a, b) => a.version - b.version)[0]?.address;
}
