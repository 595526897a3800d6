import { describe, expect, it } from 'vitest';
import type { JsonObject, UnstructuredObject } from '../../machinery/index.ts';
import { created, make, updated } from '../admission.test-support.ts';
import { ipAddressClaimKind } from './kinds.ts';

const poolRef = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackFloatingIPPool', name: 'p' };
const address = (spec: JsonObject): UnstructuredObject =>
  make('IPAddress', { claimRef: { name: 'c' }, poolRef, address: '192.0.2.1', prefix: 24, ...spec });

describe('an IPAddress', () => {
  it.each<[string, JsonObject, string[]]>([
    ['an address', {}, []],
    ['a long prefix', { address: 'fd00::1', prefix: 64, gateway: 'fd00::2' }, []],
    ['a prefix too long', { prefix: 33 }, ['spec.prefix: Invalid value: 33: prefix is too large for an IPv4 address']],
    [
      'no addresses',
      { address: 'x', gateway: 'y' },
      [
        'spec.address: Invalid value: "x": not a valid IP address',
        'spec.gateway: Invalid value: "y": not a valid IP address',
      ],
    ],
  ])('is validated with %s', (_, spec, expected) => {
    expect(created(address(spec))).toEqual(expected);
  });

  it('refuses any change of its spec', () => {
    expect(updated(address({ prefix: 25 }), address({}))).toEqual(['spec: Forbidden: IPAddress spec is immutable']);
  });
});

describe('an IPAddressClaim', () => {
  it('refuses a change of its pool', () => {
    const claim = (name: string): UnstructuredObject => make('IPAddressClaim', { poolRef: { ...poolRef, name } });
    expect(updated(claim('a'), claim('a'))).toEqual([]);
    expect(updated(claim('a'), claim('b'))).toEqual(['spec: Forbidden: IPAddressClaim spec is immutable']);
  });

  it('drops an empty addressRef from an old version', () => {
    const written = {
      apiVersion: 'ipam.cluster.x-k8s.io/v1beta1',
      kind: 'IPAddressClaim',
      metadata: { name: 'c', namespace: 'n' },
      spec: { poolRef },
      status: { addressRef: { name: '' } },
    };
    const stored = ipAddressClaimKind.definition.convert!(written, 'v1beta2') as UnstructuredObject;
    expect(stored.spec).toEqual({ poolRef });
    expect(stored.status).toBeUndefined();
  });
});
