import type { Cidr } from './cidr.ts';
import { formatIp, parseIp } from './ip.ts';

/** Returns the SLAAC address of a MAC in a /64. */
export function eui64Address(cidr: Cidr, mac: string): string {
  const bytes = mac.split(':').map((byte) => Number.parseInt(byte, 16));
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = bytes;
  let host = 0n;
  for (const byte of [a ^ 2, b, c, 0xff, 0xfe, d, e, f]) host = (host << 8n) | BigInt(byte);
  return formatIp({ version: 6, value: cidr.first + host });
}

/** Reports whether an address was derived from a MAC. */
export function isEui64Address(address: string): boolean {
  const ip = parseIp(address);
  return ip?.version === 6 && ((ip.value >> 24n) & 0xffffn) === 0xfffen;
}
