import { cidrFamily, ipFamily, ipToBigInt } from '../net/ip.ts';

export function checkIp(address: string): string[] {
  return ipFamily(address) === undefined ? ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'] : [];
}

export function checkCidr(cidr: string): string[] {
  return cidrFamily(cidr) === undefined ? ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'] : [];
}

/** Reports whether `inner` is strictly inside `outer` (valid CIDRs of one family). */
export function cidrStrictlyContains(outer: string, inner: string): boolean {
  const family = cidrFamily(outer);
  if (family === undefined || family !== cidrFamily(inner)) return false;
  const [outerIp = '', outerLength = '0'] = outer.split('/');
  const [innerIp = '', innerLength = '0'] = inner.split('/');
  if (Number(innerLength) <= Number(outerLength)) return false;
  const shift = BigInt((family === 'IPv4' ? 32 : 128) - Number(outerLength));
  return ipToBigInt(outerIp) >> shift === ipToBigInt(innerIp) >> shift;
}

/** Checks that an endpoint may use the address: not unspecified, loopback or link-local. */
export function nonSpecialIpProblems(address: string): string[] {
  const family = ipFamily(address);
  if (family === undefined) return [];
  const value = ipToBigInt(address);
  const problems: string[] = [];
  if (value === 0n) problems.push(`may not be unspecified (${address})`);
  const v4 = family === 'IPv4';
  if (v4 ? value >> 24n === 127n : value === 1n) {
    problems.push('may not be in the loopback range (127.0.0.0/8, ::1/128)');
  }
  if (v4 ? value >> 16n === 0xa9fen : value >> 118n === 0xfe80n >> 6n) {
    problems.push('may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  }
  if (v4 ? value >> 8n === 0xe00000n : value >> 112n === 0xff02n) {
    problems.push('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
  }
  return problems;
}
