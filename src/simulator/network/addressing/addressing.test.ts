import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../machinery/index.ts';
import { formatCidr, isUsable, overlap, parseCidr } from './cidr.ts';
import { eui64Address, isEui64Address } from './eui64.ts';
import { canonicalIp, formatIp, parseIp } from './ip.ts';
import { defaultPools, SubnetAddresses } from './pools.ts';
import { TakenSet } from './taken-set.ts';

describe('addresses', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['255.255.255.255', '255.255.255.255'],
    ['FD00:0:0:0:0:0:0:1', 'fd00::1'],
    ['::', '::'],
    ['2001:db8:0:0:1:0:0:0', '2001:db8:0:0:1::'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['::ffff:10.0.0.1', '::ffff:a00:1'],
  ])('are read: %s as %s', (text, canonical) => {
    expect(canonicalIp(text)).toBe(canonical);
  });

  it.each([
    '',
    '10.0.0',
    '10.0.0.256',
    '10.0.0.0.1',
    '1.2.3.',
    'a.b.c.d',
    ':::',
    '1::2::3',
    '1:2:3',
    '12345::',
    '10.0.0.1/8',
  ])('refuse %j', (text) => {
    expect(parseIp(text)).toBeUndefined();
  });

  it('are written as they were read', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const ip = parseIp(text)!;
        expect(parseIp(formatIp(ip))).toEqual(ip);
      }),
    );
  });
});

describe('networks', () => {
  it.each([
    ['10.2.0.7/24', '10.2.0.0/24'],
    ['10.0.0.0/255.255.0.0', '10.0.0.0/16'],
    ['10.0.0.9', '10.0.0.9/32'],
    ['fd00::1/64', 'fd00::/64'],
    ['0.0.0.0/0', '0.0.0.0/0'],
  ])('are read: %s as %s', (text, expected) => {
    expect(formatCidr(parseCidr(text)!)).toBe(expected);
  });

  it.each(['10.0.0.0/33', '10.0.0.0/255.0.255.0', 'bogus', 'fd00::/129', '10.0.0.0/'])('refuses %s', (text) => {
    expect(parseCidr(text)).toBeUndefined();
  });

  it('report which of them overlap', () => {
    const overlaps = (a: string, b: string): boolean => overlap(parseCidr(a)!, parseCidr(b)!);
    expect(overlaps('10.0.0.0/16', '10.0.3.0/24')).toBe(true);
    expect(overlaps('10.0.0.0/24', '10.0.1.0/24')).toBe(false);
    expect(overlaps('0.0.0.0/0', '::/0')).toBe(false);
  });

  it.each([
    ['10.0.0.0/24', '10.0.0.0', false, false],
    ['10.0.0.0/24', '10.0.0.255', true, false],
    ['10.0.0.0/24', '10.0.0.1', false, true],
    ['10.0.0.0/31', '10.0.0.1', false, true],
    ['fd00::/64', 'fd00::', false, false],
    ['fd00::/64', 'fd00::', true, true],
    ['fd00::/64', 'fd01::1', true, false],
  ])('in %s a port may have %s (router: %s): %s', (cidr, address, isRouter, expected) => {
    expect(isUsable(parseCidr(cidr)!, parseIp(address)!, isRouter)).toBe(expected);
  });

  it.each([
    ['10.0.0.0/24', '10.0.0.1', [['10.0.0.2', '10.0.0.254']]],
    ['10.0.0.0/24', undefined, [['10.0.0.1', '10.0.0.254']]],
    ['10.0.0.0/24', '10.0.0.254', [['10.0.0.1', '10.0.0.253']]],
    [
      '10.0.0.0/24',
      '10.0.0.9',
      [
        ['10.0.0.1', '10.0.0.8'],
        ['10.0.0.10', '10.0.0.254'],
      ],
    ],
    ['10.0.0.0/24', '192.168.0.1', [['10.0.0.1', '10.0.0.254']]],
    ['10.0.0.4/31', undefined, [['10.0.0.4', '10.0.0.5']]],
    ['10.0.0.4/32', '10.0.0.4', [['10.0.0.4', '10.0.0.4']]],
    ['fd00::/64', 'fd00::1', [['fd00::2', 'fd00::ffff:ffff:ffff:ffff']]],
  ] as const)('the pools of %s with gateway %s are %j', (cidr, gateway, expected) => {
    const pools = defaultPools(parseCidr(cidr)!, gateway && parseIp(gateway)!.value);
    expect(pools.map(({ start, end }) => [start, end])).toEqual(expected);
  });
});

describe('a set of taken numbers', () => {
  it('agrees with a plain set, whatever is taken and given back', () => {
    const actions = fc.array(fc.tuple(fc.boolean(), fc.nat(70)), { maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 71 }), actions, (size, steps) => {
        const ours = new TakenSet(size);
        const model = new Set<number>();
        for (const [isTaking, drawn] of steps) {
          const number = drawn % size;
          if (isTaking) expect(ours.add(number)).toBe(!model.has(number));
          else expect(ours.delete(number)).toBe(model.has(number));
          if (isTaking) model.add(number);
          else model.delete(number);
        }
        const free = Array.from({ length: size }, (_, number) => number).filter((number) => !model.has(number));
        expect(ours.free).toBe(free.length);
        expect(free.map((_, rank) => ours.nthFree(rank))).toEqual(free);
        expect(ours.nthFree(free.length)).toBeUndefined();
      }),
    );
  });

  it('holds as many numbers as there are IPv4 addresses', () => {
    const set = new TakenSet(2 ** 32);
    for (const number of [0, 1, 2 ** 31, 2 ** 32 - 1]) expect(set.add(number)).toBe(true);
    expect(set.nthFree(0)).toBe(2);
    expect(set.nthFree(2 ** 32 - 5)).toBe(2 ** 32 - 2);
    expect(set.delete(2 ** 31)).toBe(true);
    expect(set.has(2 ** 31)).toBe(false);
  });
});

describe('the addresses of a subnet', () => {
  const pools = [
    { start: '10.0.0.2', end: '10.0.0.9' },
    { start: '10.0.0.20', end: '10.0.0.29' },
  ];

  it('are given out once each, then none are left', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const random = seededRandom(seed);
        const addresses = new SubnetAddresses(4, pools);
        const given = new Set<string>();
        for (
          let address = addresses.choose(random, { preferLowest: false });
          address;
          address = addresses.choose(random, { preferLowest: false })
        ) {
          given.add(address);
          addresses.take(address);
          expect(addresses.free).toBe(18 - given.size);
        }
        expect(given.size).toBe(18);
      }),
      { numRuns: 20 },
    );
  });

  it('are reused after their release, the lowest first when asked so', () => {
    const addresses = new SubnetAddresses(4, pools);
    for (const { start } of pools) addresses.take(start);
    addresses.take('10.0.0.15');
    expect(addresses.free).toBe(16);
    addresses.giveBack('10.0.0.2');
    expect(addresses.choose(seededRandom(1), { preferLowest: true })).toBe('10.0.0.2');
  });

  it('are found in an IPv6 network of any size', () => {
    const addresses = new SubnetAddresses(6, [{ start: 'fd00::2', end: 'fd00::ffff:ffff:ffff:ffff' }]);
    addresses.take('fd00::ffff:ffff:ffff:ffff');
    expect(addresses.choose(seededRandom(1), { preferLowest: true })).toBe('fd00::2');
  });
});

describe('addresses made of a MAC', () => {
  it('follow RFC 4291', () => {
    const address = eui64Address(parseCidr('fd00::/64')!, 'fa:16:3e:12:34:56');
    expect(address).toBe('fd00::f816:3eff:fe12:3456');
    expect(isEui64Address(address)).toBe(true);
    expect(isEui64Address('fd00::5')).toBe(false);
    expect(isEui64Address('10.0.0.1')).toBe(false);
  });
});
