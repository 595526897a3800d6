import { ipFamily, ipToBigInt } from '../machinery/index.ts';
import type { NetworkSpec } from './spec.ts';

/** Returns the address at an index of a CIDR; index 0 is the network address. */
export function addressInRange(cidr: string, place: number): string {
  const [base = '', length = ''] = cidr.split('/');
  const isV4 = ipFamily(base) === 'IPv4';
  const hostBits = BigInt((isV4 ? 32 : 128) - Number(length));
  const value = ((ipToBigInt(base) >> hostBits) << hostBits) + BigInt(place);
  if (isV4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - index * 16)) & 0xffffn).toString(16));
  // URL normalizes IPv6 addresses to their shortest form
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

/** Addresses of the Service `kubernetes`, one per IP family. */
export const kubernetesAddresses = ({ serviceCidrs }: NetworkSpec): string[] =>
  serviceCidrs.map((cidr) => addressInRange(cidr, 1));

/** Addresses of the DNS Service, one per IP family. */
export const dnsAddresses = ({ serviceCidrs, dnsAddresses: desired }: NetworkSpec): string[] =>
  desired !== undefined && desired.length > 0 ? [...desired] : serviceCidrs.map((cidr) => addressInRange(cidr, 10));
