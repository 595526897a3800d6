import { describe, expect, it } from 'vitest';
import { ipFamily, ipToBigInt } from '../net/ip.ts';
import { checkCidr, checkIp, cidrStrictlyContains, nonSpecialIpProblems } from './network.ts';

describe('validation of addresses', () => {
  it.each([
    ['10.9.8.7', 'IPv4'],
    ['2001:db8::ffff', 'IPv6'],
    ['::', 'IPv6'],
    ['::ffff:1.2.3.4', 'IPv6'],
    ['010.0.0.1', undefined],
    ['1.2.3', undefined],
    ['fe80::1%eth0', undefined],
    ['', undefined],
  ])('%j has the IP family %s', (address, family) => {
    expect(ipFamily(address)).toBe(family);
    expect(checkIp(address)).toHaveLength(family === undefined ? 1 : 0);
  });

  it.each([
    ['10.0.0.0/8', true],
    ['2001:db8::/64', true],
    ['10.0.0.0/33', false],
    ['10.0.0.0', false],
    ['10.0.0.0/08', false],
    ['10.0.0.0/-1', false],
  ])('%j is a valid CIDR: %s', (cidr, valid) => {
    expect(checkCidr(cidr)).toEqual(valid ? [] : ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']);
  });

  it('converts addresses to integers', () => {
    expect(ipToBigInt('0.0.1.2')).toBe(258n);
    expect(ipToBigInt('::1:2')).toBe(65538n);
    expect(ipToBigInt('::ffff:1.2.3.4')).toBe(0xffff01020304n);
    expect(ipToBigInt('1::')).toBe(1n << 112n);
  });

  it.each([
    ['10.0.0.0/8', '10.1.0.0/16', true],
    ['10.0.0.0/8', '11.0.0.0/16', false],
    ['10.0.0.0/8', '10.0.0.0/8', false],
    ['2001:db8::/32', '2001:db8:1::/48', true],
    ['10.0.0.0/8', '2001:db8::/48', false],
    ['0.0.0.0/0', '1.2.3.4/32', true],
  ])('%s strictly contains %s: %s', (outer, inner, contains) => {
    expect(cidrStrictlyContains(outer, inner)).toBe(contains);
  });

  it.each([
    ['0.0.0.0', 'may not be unspecified (0.0.0.0)'],
    ['127.1.2.3', 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    ['::1', 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    ['169.254.169.254', 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
    ['fe80::1', 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
    ['224.0.0.5', 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
  ])('%s is refused as an endpoint', (address, text) => {
    expect(nonSpecialIpProblems(address)).toContain(text);
  });

  it('accepts ordinary addresses as endpoints', () => {
    expect(nonSpecialIpProblems('10.0.0.1')).toEqual([]);
    expect(nonSpecialIpProblems('2001:db8::1')).toEqual([]);
  });
});
