/** Parses an address to 4 or 16 bytes; undefined if invalid. Zones (`%eth0`) are rejected. */
export function parseIp(text: string, notation: IpNotation = {}): Uint8Array | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text, notation);
}

/** `lenient` accepts leading zeros, as the parsers of older Kubernetes fields do. */
export interface IpNotation {
  lenient?: boolean;
}

export function parseIpv4(text: string, { lenient = false }: IpNotation = {}): Uint8Array | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  const bytes = new Uint8Array(4);
  for (const [i, part] of parts.entries()) {
    if (!/^[0-9]{1,3}$/.test(part) && !(lenient && /^0*[0-9]{1,3}$/.test(part))) return undefined;
    if (!lenient && part.length > 1 && part.startsWith('0')) return undefined;
    const value = Number(part);
    if (value > 255) return undefined;
    bytes[i] = value;
  }
  return bytes;
}

function parseIpv6(text: string): Uint8Array | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [before = '', after] = halves;
  const head = parseGroups(before, { endsText: after === undefined });
  const tail = after === undefined ? [] : parseGroups(after, { endsText: true });
  if (!head || !tail) return undefined;
  const missing = 16 - head.length - tail.length;
  // `::` replaces at least one group.
  if (halves.length === 1 ? missing !== 0 : missing < 2) return undefined;
  const bytes = new Uint8Array(16);
  bytes.set(head, 0);
  bytes.set(tail, 16 - tail.length);
  return bytes;
}

/** Parses colon-separated groups to bytes. At the end of the text, the last group may be an IPv4 address. */
function parseGroups(text: string, { endsText }: { endsText: boolean }): number[] | undefined {
  if (text === '') return [];
  const bytes: number[] = [];
  const groups = text.split(':');
  for (const [i, group] of groups.entries()) {
    if (endsText && i === groups.length - 1 && group.includes('.')) {
      const v4 = parseIpv4(group);
      if (!v4) return undefined;
      bytes.push(...v4);
      continue;
    }
    if (!/^[0-9A-Fa-f]{1,4}$/.test(group)) return undefined;
    const value = Number.parseInt(group, 16);
    bytes.push(value >> 8, value & 0xff);
  }
  return bytes.length > 16 ? undefined : bytes;
}

export interface Cidr {
  /** as written, including host bits */
  address: Uint8Array;
  prefixLength: number;
}

export function parseCidr(text: string, notation: IpNotation = {}): Cidr | undefined {
  const slash = text.indexOf('/');
  if (slash < 0) return undefined;
  const host = text.slice(0, slash);
  const prefix = text.slice(slash + 1);
  if (!/^[0-9]{1,3}$/.test(prefix) || (notation.lenient !== true && prefix.length > 1 && prefix.startsWith('0')))
    return undefined;
  const address = parseIp(host, notation);
  const prefixLength = Number(prefix);
  return address && prefixLength <= address.length * 8 ? { address, prefixLength } : undefined;
}

/** Clears the bits after the prefix. */
export function maskAddress(address: Uint8Array, prefixLength: number): Uint8Array {
  return address.map((byte, i) => {
    const bits = Math.min(8, Math.max(0, prefixLength - i * 8));
    return byte & (0xff << (8 - bits));
  });
}

/** Formats an address canonically (RFC 5952). */
export function formatIp(address: Uint8Array): string {
  if (address.length === 4) return address.join('.');
  const groups: number[] = [];
  for (let i = 0; i < 16; i += 2) groups.push(((address[i] ?? 0) << 8) | (address[i + 1] ?? 0));
  let best = { start: -1, length: 1 };
  for (let i = 0; i < 8; i++) {
    let length = 0;
    while (i + length < 8 && groups[i + length] === 0) length++;
    if (length > best.length) best = { start: i, length };
    if (length > 0) i += length - 1;
  }
  if (best.start < 0) return groups.map((group) => group.toString(16)).join(':');
  const text = (part: number[]): string => part.map((group) => group.toString(16)).join(':');
  return `${text(groups.slice(0, best.start))}::${text(groups.slice(best.start + best.length))}`;
}

/** Reports whether the address is an IPv4-mapped IPv6 address (::ffff:0:0/96). */
export function isIpv4Mapped(address: Uint8Array): boolean {
  return (
    address.length === 16 &&
    address.subarray(0, 10).every((byte) => byte === 0) &&
    address[10] === 0xff &&
    address[11] === 0xff
  );
}

export type IpFamily = 'IPv4' | 'IPv6';

const familyOf = ({ length }: Uint8Array): IpFamily => (length === 4 ? 'IPv4' : 'IPv6');

/** Returns the family of an address without zone; undefined if invalid. */
export function ipFamily(text: string): IpFamily | undefined {
  const address = parseIp(text);
  return address && familyOf(address);
}

/** Returns the family of `address/length`; undefined if invalid. */
export function cidrFamily(text: string): IpFamily | undefined {
  const cidr = parseCidr(text);
  return cidr && familyOf(cidr.address);
}

/** Converts an address to a number, for ranges and ordering. */
export function bytesToBigInt(address: Uint8Array): bigint {
  let value = 0n;
  for (const byte of address) value = (value << 8n) | BigInt(byte);
  return value;
}

export function bigIntToBytes(value: bigint, length: 4 | 16): Uint8Array {
  const bytes = new Uint8Array(length);
  let rest = value;
  for (let i = length - 1; i >= 0; i--, rest >>= 8n) bytes[i] = Number(rest & 0xffn);
  return bytes;
}

/** Converts a valid address text to a number. */
export function ipToBigInt(text: string): bigint {
  const address = parseIp(text);
  if (!address) throw new TypeError(`${JSON.stringify(text)} is not an IP address`);
  return bytesToBigInt(address);
}

/** Returns the address at an index of a network (0 is the network address); undefined if the network is too small. */
export function addressInCidr(text: string, index: number): string | undefined {
  const cidr = parseCidr(text);
  if (!cidr || index < 0 || BigInt(index) >> BigInt(cidr.address.length * 8 - cidr.prefixLength) !== 0n)
    return undefined;
  const network = bytesToBigInt(maskAddress(cidr.address, cidr.prefixLength));
  return formatIp(bigIntToBytes(network + BigInt(index), cidr.address.length === 4 ? 4 : 16));
}
