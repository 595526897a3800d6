import { describe, expect, it } from 'vitest';
import { confFlag, confNumber, confText, parseCloudConf } from './cloud-conf.ts';

describe('cloud.conf', () => {
  const conf = parseCloudConf(`# of somebody
[Global]
auth-url = "https://keystone.example.org:5000/v3"
password="with \\"quotes\\" and # no comment"
region=RegionOne ; the only one
use-clouds

[LoadBalancer]
create-monitor = yes
monitor-delay = 5s
subnet-id =
[LoadBalancerClass "Internal"]
floating-network-id=n1
`);

  it('is read as gcfg reads it: case-insensitive sections and keys, quotes, comments, bare flags', () => {
    expect(confText(conf, 'global', 'auth-url')).toBe('https://keystone.example.org:5000/v3');
    expect(confText(conf, 'Global', 'password')).toBe('with "quotes" and # no comment');
    expect(confText(conf, 'global', 'region')).toBe('RegionOne');
    expect(confFlag(conf, 'global', 'use-clouds')).toBe(true);
    expect(confFlag(conf, 'loadbalancer', 'create-monitor')).toBe(true);
    expect(confNumber(conf, 'loadbalancer', 'monitor-delay', 9)).toBe(5);
    expect(confNumber(conf, 'loadbalancer', 'monitor-timeout', 9)).toBe(9);
    expect(confText(conf, 'loadbalancer', 'subnet-id')).toBeUndefined();
    expect(confText(conf, 'loadbalancerclass "internal"', 'floating-network-id')).toBe('n1');
  });

  it.each([
    ['a key outside of a section', 'region=x', '1:1: expected section header'],
    ['a section without an end', '[Global\nregion=x', '1:1: expected section header'],
    ['what is no key', '[Global]\n=x', '2:1: expected variable name'],
    ['a string without an end', '[Global]\nregion="x', '2:1: string not terminated'],
  ])('is refused with the line for %s', (_what, text, words) => {
    expect(() => parseCloudConf(text)).toThrow(words);
  });
});
