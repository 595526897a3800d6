import { CapstanError } from '../errors/index.ts';
import { type Cidr, maskAddress, parseCidr, parseIp } from './ip.ts';

// Tenants specify peers: the URL of a cloud, the server of a kubeconfig, the host of a bucket. This program connects to
// them from its own network, which may reach more than the tenant can. The operator configures which addresses are
// denied.

/** Decides which tenant-specified addresses may be contacted. */
export interface PeerPolicy {
  allows(address: string): boolean;
}

export interface PeerNetworks {
  /** CIDRs or single addresses that are denied */
  readonly deny: readonly string[];
  /** exceptions from `deny` */
  readonly allow: readonly string[];
}

/**
 * Link-local addresses serve only this machine, such as the metadata service of a cloud. No tenant has a legitimate
 * peer there.
 */
export const linkLocalNetworks: readonly string[] = ['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254/128'];
/** Loopback networks. Unspecified addresses also reach this machine. */
export const loopbackNetworks: readonly string[] = ['127.0.0.0/8', '::1/128', '0.0.0.0/8', '::/128'];

export const anyPeer: PeerPolicy = { allows: () => true };

/** The operator's policy denies a peer. */
export class PeerRefusedError extends CapstanError {
  constructor(host: string, address: string) {
    const where = host === address ? host : `${host} (${address})`;
    super('CAP_PEER_REFUSED', `${where} must not be connected to from here`, {
      hint: 'use another address, or ask the operator to allow it (--allow-peers)',
    });
    this.name = 'PeerRefusedError';
  }
}

/** Builds a policy. Throws CapstanError for an invalid network. */
export function peerPolicy({ deny, allow }: PeerNetworks): PeerPolicy {
  const denied = deny.map(networkOf);
  const allowed = allow.map(networkOf);
  return {
    allows(text) {
      const address = addressOf(text);
      // Addresses that cannot be parsed are denied.
      if (!address) return false;
      return !denied.some((network) => contains(network, address)) || allowed.some((one) => contains(one, address));
    },
  };
}

/** Throws PeerRefusedError if the host is a denied address. Names are checked when they are resolved. */
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

/** Wraps a DNS lookup for sockets, so that it yields only permitted addresses. */
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

/** An IPv4-mapped IPv6 address counts as its IPv4 address. */
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
