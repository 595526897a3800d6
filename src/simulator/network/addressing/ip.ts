import {
  bigIntToBytes,
  bytesToBigInt,
  formatIp as formatAddress,
  must,
  parseIp as parseAddress,
} from '../../../machinery/index.ts';

export type IpVersion = 4 | 6;

/** Numeric IP address. */
export interface Ip {
  readonly version: IpVersion;
  readonly value: bigint;
}

/** Address length in bits. */
export const bitsOf: Readonly<Record<IpVersion, number>> = { 4: 32, 6: 128 };

/** Parses an address that was validated before. */
export function knownIp(text: string): Ip {
  return must(parseIp(text), text);
}

/** Parses an address, or returns undefined if it is invalid. */
export function parseIp(text: string): Ip | undefined {
  const bytes = parseAddress(text, { lenient: true });
  return bytes && { version: bytes.length === 4 ? 4 : 6, value: bytesToBigInt(bytes) };
}

/** Formats an address canonically: IPv6 in lower case with the longest run of zeros omitted. */
export function formatIp({ version, value }: Ip): string {
  return formatAddress(bigIntToBytes(value, version === 4 ? 4 : 16));
}

/** Returns the canonical notation of an address, or undefined if it is invalid. */
export function canonicalIp(text: string): string | undefined {
  const ip = parseIp(text);
  return ip && formatIp(ip);
}
