import { describe, expect, it } from 'vitest';
import {
  addressInCidr,
  bigIntToBytes,
  bytesToBigInt,
  cidrFamily,
  formatIp,
  ipFamily,
  ipToBigInt,
  parseCidr,
  parseIp,
} from './ip.ts';

describe('IP addresses', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1', 'IPv4'],
    ['0.0.0.0', '0.0.0.0', 'IPv4'],
    ['::', '::', 'IPv6'],
    ['::1', '::1', 'IPv6'],
    ['FE80:0:0:0:0:0:0:1', 'fe80::1', 'IPv6'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1', 'IPv6'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1', 'IPv6'],
    ['::ffff:1.2.3.4', '::ffff:102:304', 'IPv6'],
  ])('%s is read and written as %s', (text, canonical, family) => {
    const address = parseIp(text)!;
    expect(formatIp(address)).toBe(canonical);
    expect(ipFamily(text)).toBe(family);
    expect(bigIntToBytes(bytesToBigInt(address), address.length === 4 ? 4 : 16)).toEqual(address);
    expect(ipToBigInt(canonical)).toBe(bytesToBigInt(address));
  });

  it.each([
    '',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '1.2.3.-1',
    '01.2.3.4',
    '1.2.3.4 ',
    '1..2.3',
    '0x1.2.3.4',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8',
    '12345::',
    'fe80::1%eth0',
    '::1.2.3',
    '1.2.3.4::',
    'g::',
  ])('%j is not an IP address', (text) => {
    expect(parseIp(text)).toBeUndefined();
    expect(ipFamily(text)).toBeUndefined();
    expect(() => ipToBigInt(text)).toThrow(TypeError);
  });

  it('may have leading zeros in old fields that allow them', () => {
    expect(formatIp(parseIp('010.1.001.2', { lenient: true })!)).toBe('10.1.1.2');
  });
});

describe('CIDRs', () => {
  it.each([
    ['10.0.0.1/8', 'IPv4'],
    ['0.0.0.0/0', 'IPv4'],
    ['::/0', 'IPv6'],
    ['fd00::1/128', 'IPv6'],
  ])('%s is a CIDR', (text, family) => {
    expect(cidrFamily(text)).toBe(family);
  });

  it.each([
    '',
    '10.0.0.1',
    '10.0.0.1/',
    '10.0.0.1/33',
    '::/129',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '/8',
    'x/8',
  ])('%j is not a CIDR', (text) => {
    expect(parseCidr(text)).toBeUndefined();
    expect(cidrFamily(text)).toBeUndefined();
    expect(addressInCidr(text, 1)).toBeUndefined();
  });

  it.each([
    ['10.96.0.0/12', 1, '10.96.0.1'],
    ['10.96.3.7/12', 10, '10.96.0.10'],
    ['10.0.0.250/23', 260, '10.0.1.4'],
    ['10.0.0.248/29', 7, '10.0.0.255'],
    ['10.0.0.248/29', 8, undefined],
    ['10.0.0.1/32', 0, '10.0.0.1'],
    ['10.0.0.1/32', 1, undefined],
    ['10.0.0.0/8', -1, undefined],
    ['fd00::/112', 10, 'fd00::a'],
  ])('%s at index %d has the address %s', (cidr, index, address) => {
    expect(addressInCidr(cidr, index)).toBe(address);
  });
});
