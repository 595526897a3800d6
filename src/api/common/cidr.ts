import { cidrFamily, cidrStrictlyContains, ipToBigInt } from '../../machinery/index.ts';

/** Tells whether two ranges share an address. Invalid ranges overlap with nothing. */
export function cidrsOverlap(a: string, b: string): boolean {
  const family = cidrFamily(a);
  if (family === undefined || family !== cidrFamily(b)) return false;
  if (cidrStrictlyContains(a, b) || cidrStrictlyContains(b, a)) return true;
  const [addressA = '', length = '0'] = a.split('/');
  const [addressB = '', otherLength] = b.split('/');
  const shift = BigInt((family === 'IPv4' ? 32 : 128) - Number(length));
  return length === otherLength && ipToBigInt(addressA) >> shift === ipToBigInt(addressB) >> shift;
}
