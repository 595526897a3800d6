import { describe, expect, it } from 'vitest';
import type { OpenStackCluster, OpenStackMachineSpec, OpenStackServerSpec } from '../../../api/index.ts';
import { desiredServerSpec, InvalidMachineSpec } from './desired-server.ts';

const cluster = (more: Partial<OpenStackCluster['spec']> = {}, networkId = 'net'): OpenStackCluster => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
  kind: 'OpenStackCluster',
  metadata: { name: 'c' },
  spec: { identityRef: { name: 'cluster', cloudName: 'c' }, ...more },
  ...(networkId !== '' && { status: { network: { name: 'n', id: networkId } } }),
});
const machine = (more: Partial<OpenStackMachineSpec> = {}): OpenStackMachineSpec => ({
  flavor: { filter: { name: 'f' } },
  image: { id: 'i' },
  ...more,
});

describe('the server of a machine', () => {
  it.each<[string, OpenStackMachineSpec, OpenStackCluster, string | undefined, Partial<OpenStackServerSpec>]>([
    [
      'has one port on the network of the cluster, in the managed group',
      machine(),
      cluster({ managedSubnets: [{ cidr: '10.0.0.0/24' }] }),
      'group',
      { ports: [{ network: { id: 'net' }, securityGroups: [{ id: 'group' }] }] },
    ],
    [
      'takes its addresses from the subnets the cluster names',
      machine(),
      cluster({ subnets: [{ id: 'a' }, { id: 'b' }] }),
      undefined,
      { ports: [{ network: { id: 'net' }, fixedIPs: [{ subnet: { id: 'a' } }, { subnet: { id: 'b' } }] }] },
    ],
    [
      'takes its address from the primary subnet alone',
      machine(),
      cluster({ subnets: [{ id: 'a' }, { id: 'b' }], primarySubnet: { id: 'b' } }),
      undefined,
      { ports: [{ network: { id: 'net' }, fixedIPs: [{ subnet: { id: 'b' } }] }] },
    ],
    [
      'keeps the groups a port names, and gets those of the machine on every port that can have any',
      machine({
        securityGroups: [{ id: 'all' }],
        ports: [
          { securityGroups: [{ id: 'own' }] },
          { network: { id: 'other' }, enablePortSecurity: false },
          { network: { id: 'other' } },
        ],
      }),
      cluster(),
      'group',
      {
        ports: [
          { network: { id: 'net' }, securityGroups: [{ id: 'own' }, { id: 'all' }] },
          { network: { id: 'other' }, enablePortSecurity: false },
          { network: { id: 'other' }, securityGroups: [{ id: 'group' }, { id: 'all' }] },
        ],
      },
    ],
    [
      'uses the credentials of the machine and the tags of both',
      machine({ identityRef: { name: 'own', cloudName: 'c' }, tags: ['m', 'both'] }),
      cluster({ tags: ['both', 'c'] }),
      undefined,
      { identityRef: { name: 'own', cloudName: 'c' }, tags: ['m', 'both', 'c'] },
    ],
    [
      'is of the flavor with the id when it has one',
      machine({ flavor: { id: 'x' } }),
      cluster(),
      undefined,
      { flavorID: 'x' },
    ],
  ])('%s', (_, spec, around, managedGroupId, expected) => {
    expect(desiredServerSpec(spec, { cluster: around, managedGroupId })).toMatchObject(expected);
  });

  it('is refused without a network', () => {
    expect(() => desiredServerSpec(machine(), { cluster: cluster({}, '') })).toThrow(InvalidMachineSpec);
    const elsewhere = machine({ ports: [{ network: { id: 'own' } }] });
    expect(desiredServerSpec(elsewhere, { cluster: cluster({}, '') }).ports).toEqual([{ network: { id: 'own' } }]);
  });
});
