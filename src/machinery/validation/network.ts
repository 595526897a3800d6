import { isIPv4, isIPv6 } from 'node:net';

export type IpFamily = 'IPv4' | 'IPv6';

/** The family of an address without zone, undefined when it is no address. */
export function ipFamily(address: string): IpFamily | undefined {
  if (isIPv4(address)) return 'IPv4';
  return isIPv6(address) && !address.includes('%') ? 'IPv6' : undefined;
}

export function checkIp(address: string): string[] {
  return ipFamily(address) === undefined ? ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'] : [];
}

/** The family of `address/length`, undefined when it is no CIDR. */
export function cidrFamily(cidr: string): IpFamily | undefined {
  const slash = cidr.indexOf('/');
  if (slash < 0) return undefined;
  const family = ipFamily(cidr.slice(0, slash));
  const length = cidr.slice(slash + 1);
  if (family === undefined || !/^(0|[1-9][0-9]{0,2})$/.test(length)) return undefined;
  return Number(length) <= (family === 'IPv4' ? 32 : 128) ? family : undefined;
}

export function checkCidr(cidr: string): string[] {
  return cidrFamily(cidr) === undefined ? ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'] : [];
}

/** An address as a number, for ranges and ordering; the address must be valid. */
export function ipToBigInt(address: string): bigint {
  if (isIPv4(address)) return address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  const lastColon = address.lastIndexOf(':');
  let text = address;
  if (address.includes('.')) {
    const tail = ipToBigInt(address.slice(lastColon + 1));
    text = `${address.slice(0, lastColon + 1)}${(tail >> 16n).toString(16)}:${(tail & 0xffffn).toString(16)}`;
  }
  const [head = '', rest] = text.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = rest === undefined || rest === '' ? [] : rest.split(':');
  const zeros = rest === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...new Array<string>(zeros).fill('0'), ...after];
  return groups.reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n);
}

/** Whether `inner` lies strictly inside `outer` (both valid CIDRs of one family). */
export function cidrStrictlyContains(outer: string, inner: string): boolean {
  const family = cidrFamily(outer);
  if (family === undefined || family !== cidrFamily(inner)) return false;
  const [outerIp = '', outerLength = '0'] = outer.split('/');
  const [innerIp = '', innerLength = '0'] = inner.split('/');
  if (Number(innerLength) <= Number(outerLength)) return false;
  const shift = BigInt((family === 'IPv4' ? 32 : 128) - Number(outerLength));
  return ipToBigInt(outerIp) >> shift === ipToBigInt(innerIp) >> shift;
}

/** An address that endpoints may use: not unspecified, loopback or link-local. */
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
