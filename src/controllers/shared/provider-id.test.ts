import { expect, it } from 'vitest';
import { comparableProviderId } from './provider-id.ts';

it.each([
  ['openstack:///u1', 'openstack://RegionOne/u1', true],
  ['openstack://A/u1', 'openstack://B/u1', true],
  ['openstack:///u1', 'openstack:///u2', false],
  ['aws:///a/u1', 'aws:///b/u1', false],
])('%s and %s are the same server: %s', (a, b, same) => {
  expect(comparableProviderId(a) === comparableProviderId(b)).toBe(same);
});
