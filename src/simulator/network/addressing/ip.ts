import {
  bigIntToBytes,
  bytesToBigInt,
  formatIp as formatAddress,
  must,
  parseIp as parseAddress,
} from '../../../machinery/index.ts';

/** 4 or 6. */
export type IpVersion = 4 | 6;

/** An address as a number of its family. */
export interface Ip {
  readonly version: IpVersion;
  readonly value: bigint;
}

/** Addresses a family has room for. */
export const bitsOf: Readonly<Record<IpVersion, number>> = { 4: 32, 6: 128 };

/** An address that was checked when it came in. */
export function knownIp(text: string): Ip {
  return must(parseIp(text), text);
}

/** Reads an address in its usual notation; undefined when it is none. */
export function parseIp(text: string): Ip | undefined {
  const bytes = parseAddress(text, { lenient: true });
  return bytes && { version: bytes.length === 4 ? 4 : 6, value: bytesToBigInt(bytes) };
}

/** The usual notation: IPv6 in lower case with the longest run of zeros left out. */
export function formatIp({ version, value }: Ip): string {
  return formatAddress(bigIntToBytes(value, version === 4 ? 4 : 16));
}

/** The same address in the usual notation, or undefined when the text is none. */
export function canonicalIp(text: string): string | undefined {
  const ip = parseIp(text);
  return ip && formatIp(ip);
}
