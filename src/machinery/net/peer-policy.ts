import { CapstanError } from '../errors/index.ts';
import { type Cidr, maskAddress, parseCidr, parseIp } from './ip.ts';

// Tenants name peers: the URL of a cloud, the server of a kubeconfig, the host of a bucket. This program asks them from where it
// runs, which may reach more than the tenant can. The operator says which addresses it must not ask on a tenant's word.

/** Which addresses may be asked on the word of a tenant. */
export interface PeerPolicy {
  allows(address: string): boolean;
}

export interface PeerNetworks {
  /** CIDRs or single addresses that must not be asked */
  readonly deny: readonly string[];
  /** exceptions from these */
  readonly allow: readonly string[];
}

/** Addresses that serve this machine alone, such as the metadata service of a cloud: nothing a tenant names is there. */
export const linkLocalNetworks: readonly string[] = ['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254/128'];
/** The machine itself. The unspecified addresses lead there as well. */
export const loopbackNetworks: readonly string[] = ['127.0.0.0/8', '::1/128', '0.0.0.0/8', '::/128'];

export const anyPeer: PeerPolicy = { allows: () => true };

/** A peer the operator does not want to be asked. */
export class PeerRefusedError extends CapstanError {
  constructor(host: string, address: string) {
    const where = host === address ? host : `${host} (${address})`;
    super('CAP_PEER_REFUSED', `${where} must not be connected to from here`, {
      hint: 'use another address, or ask the operator to allow it (--allow-peers)',
    });
    this.name = 'PeerRefusedError';
  }
}

/** Throws CapstanError for what is no network. */
export function peerPolicy({ deny, allow }: PeerNetworks): PeerPolicy {
  const denied = deny.map(networkOf);
  const allowed = allow.map(networkOf);
  return {
    allows(text) {
      const address = addressOf(text);
      // what cannot be read cannot be judged
      if (!address) return false;
      return !denied.some((network) => contains(network, address)) || allowed.some((one) => contains(one, address));
    },
  };
}

/** Throws PeerRefusedError for a host that is an address and not allowed; names are judged by what they resolve to. */
export function checkPeerHost(policy: PeerPolicy, host: string): void {
  const address = host.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  if (parseIp(address) && !policy.allows(address)) throw new PeerRefusedError(address, address);
}

type Found = string | readonly { readonly address: string; readonly family: number }[];
type Lookup = (
  host: string,
  options: object,
  done: (error: Error | null, found: Found, family?: number) => void,
) => void;

/** A resolver of names, as sockets use it, that gives only addresses which may be asked. */
export function guardedLookup(policy: PeerPolicy, lookup: Lookup): Lookup {
  return (host, options, done) => {
    lookup(host, options, (error, found, family) => {
      if (error) return done(error, found, family);
      if (typeof found === 'string') {
        return policy.allows(found)
          ? done(null, found, family)
          : done(new PeerRefusedError(host, found), found, family);
      }
      const usable = found.filter(({ address }) => policy.allows(address));
      if (usable.length > 0) return done(null, usable);
      const [first] = found;
      done(first ? new PeerRefusedError(host, first.address) : null, usable);
    });
  };
}

function networkOf(text: string): Cidr {
  const address = parseIp(text);
  const network = address ? { address, prefixLength: address.length * 8 } : parseCidr(text);
  if (network) return network;
  throw new CapstanError('CAP_USAGE', `"${text}" is no network`, { hint: 'write it like 10.0.0.0/8 or 10.1.2.3' });
}

const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/** IPv4 inside of IPv6 is the same peer. */
function addressOf(text: string): Uint8Array | undefined {
  const address = parseIp(text.replace(/%.*$/, ''));
  const isMapped = address?.length === 16 && mappedPrefix.every((byte, index) => address[index] === byte);
  return isMapped ? address.slice(12) : address;
}

function contains({ address: network, prefixLength }: Cidr, address: Uint8Array): boolean {
  if (network.length !== address.length) return false;
  const [a, b] = [maskAddress(network, prefixLength), maskAddress(address, prefixLength)];
  return a.every((byte, index) => byte === b[index]);
}
