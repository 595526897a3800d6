import { must } from '../../../machinery/index.ts';
import { bitsOf, formatIp, type Ip, type IpVersion, parseIp } from './ip.ts';

/** A network with its first and last address. `ip` is the address as written, including host bits. */
export interface Cidr {
  readonly version: IpVersion;
  readonly prefix: number;
  readonly ip: bigint;
  readonly first: bigint;
  readonly last: bigint;
}

/** Parses a range that was validated before. */
export function knownCidr(text: string): Cidr {
  return must(parseCidr(text), text);
}

/**
 * Parses `address/prefix`, `address/netmask` or a single address (a network of one). Returns undefined if it is
 * invalid.
 */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/');
  const ip = parseIp(slash < 0 ? text : text.slice(0, slash));
  if (!ip) return undefined;
  const prefix = slash < 0 ? bitsOf[ip.version] : prefixOf(text.slice(slash + 1), ip.version);
  return prefix === undefined ? undefined : cidrOf(ip, prefix);
}

/** Returns the network of an address with the given prefix length. */
export function cidrOf({ version, value }: Ip, prefix: number): Cidr {
  const hostBits = BigInt(bitsOf[version] - prefix);
  const first = (value >> hostBits) << hostBits;
  return { version, prefix, ip: value, first, last: first + (1n << hostBits) - 1n };
}

/** Formats as `network/prefix` without host bits. */
export function formatCidr({ version, first, prefix }: Cidr): string {
  return `${formatIp({ version, value: first })}/${prefix}`;
}

export function contains(cidr: Cidr, ip: Ip): boolean {
  return ip.version === cidr.version && ip.value >= cidr.first && ip.value <= cidr.last;
}

export function overlap(a: Cidr, b: Cidr): boolean {
  return a.version === b.version && a.first <= b.last && b.first <= a.last;
}

/**
 * Reports whether a port may use the address. Excluded are the network address and, for IPv4, the broadcast address.
 * Routers may use the first IPv6 address.
 */
export function isUsable(cidr: Cidr, ip: Ip, isRouter: boolean): boolean {
  if (!contains(cidr, ip)) return false;
  if (cidr.version === 6) return isRouter || ip.value !== cidr.first;
  return ip.value !== cidr.first && (cidr.prefix > 30 || ip.value !== cidr.last);
}

function prefixOf(text: string, version: IpVersion): number | undefined {
  if (/^\d{1,3}$/.test(text)) {
    const prefix = Number(text);
    return prefix <= bitsOf[version] ? prefix : undefined;
  }
  const mask = parseIp(text);
  if (!mask || mask.version !== version) return undefined;
  const all = (1n << BigInt(bitsOf[version])) - 1n;
  const host = all ^ mask.value;
  // A mask is ones followed by zeros, so its complement plus one is a power of two.
  if ((host & (host + 1n)) !== 0n) return undefined;
  return bitsOf[version] - host.toString(2).replace(/^0$/, '').length;
}
