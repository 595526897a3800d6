import { describe, expect, it } from 'vitest';
import type { OpenStackServerSpec, ResolvedPort } from '../../../api/index.ts';
import type { PortSpec } from '../../../openstack/index.ts';
import { desiredVolumes, portSpec, serverSpec } from './desired.ts';

const port = (more: Partial<ResolvedPort> = {}): ResolvedPort => ({ name: 's-0', networkID: 'net', ...more });
const spec = (more: Partial<OpenStackServerSpec> = {}): OpenStackServerSpec => ({
  identityRef: { name: 'n', cloudName: 'c' },
  flavor: 'f',
  image: { id: 'i' },
  ports: [],
  sshKeyName: '',
  ...more,
});

describe('a requested port', () => {
  it.each<[string, ResolvedPort, boolean, Partial<PortSpec>]>([
    ['with its groups', port({ securityGroups: ['g'] }), false, { securityGroupIds: ['g'] }],
    ['without groups of its own: neutron chooses', port(), false, { securityGroupIds: undefined }],
    [
      'without groups and pairs when port security is off',
      port({ enablePortSecurity: false, allowedAddressPairs: [{ ipAddress: '1.2.3.4' }] }),
      false,
      { securityGroupIds: [], allowedAddressPairs: undefined, portSecurityEnabled: false },
    ],
    [
      'with hardware offload',
      port({ profile: { ovsHWOffload: true } }),
      false,
      { profile: { capabilities: ['switchdev'] } },
    ],
    [
      'with a trusted function in its profile',
      port({ profile: { trustedVF: true } }),
      false,
      { profile: { trusted: true } },
    ],
    [
      'with a trusted function as an attribute',
      port({ profile: { trustedVF: true } }),
      true,
      { extra: { trusted: true } },
    ],
    [
      'with value specs under their keys',
      port({ valueSpecs: [{ name: 'a', key: 'x:y', value: 'z' }] }),
      false,
      { extra: { 'x:y': 'z' } },
    ],
    [
      'with all the rest',
      port({
        fixedIPs: [{ subnet: 'sub' }, { ipAddress: '10.0.0.1' }],
        macAddress: 'fa:16:3e:00:00:01',
        hostID: 'h',
        vnicType: 'direct',
        propagateUplinkStatus: true,
        adminStateUp: false,
      }),
      false,
      {
        fixedIps: [
          { subnetId: 'sub', address: undefined },
          { subnetId: undefined, address: '10.0.0.1' },
        ],
        macAddress: 'fa:16:3e:00:00:01',
        hostId: 'h',
        vnicType: 'direct',
        propagateUplinkStatus: true,
        adminStateUp: false,
      },
    ],
  ])('is created %s', (_, resolved, hasTrustedVif, expected) => {
    expect(portSpec(resolved, hasTrustedVif)).toMatchObject(expected);
  });
});

describe('requested volumes', () => {
  const zones = (server: OpenStackServerSpec): (string | undefined)[] =>
    desiredVolumes('s', server, 'i', { owner: 'o' }).map(({ desired }) => desired.availabilityZone);

  it.each<[string, OpenStackServerSpec, (string | undefined)[]]>([
    ['in no zone when none is named', spec({ availabilityZone: 'az', rootVolume: { sizeGiB: 1 } }), [undefined]],
    [
      'in the zone of the machine',
      spec({ availabilityZone: 'az', rootVolume: { sizeGiB: 1, availabilityZone: { from: 'Machine' } } }),
      ['az'],
    ],
    [
      'in a zone of their own',
      spec({ availabilityZone: 'az', rootVolume: { sizeGiB: 1, availabilityZone: { name: 'other' } } }),
      ['other'],
    ],
    [
      'only where storage is a volume',
      spec({ additionalBlockDevices: [{ name: 'd', sizeGiB: 1, storage: { type: 'Local' } }] }),
      [],
    ],
  ])('are created %s', (_, server, expected) => {
    expect(zones(server)).toEqual(expected);
  });
});

describe('a requested server', () => {
  const parts = (server: OpenStackServerSpec) => ({
    name: 's',
    spec: server,
    resolved: { flavorID: 'f1', imageID: 'i1' },
    portIds: ['p1', 'p2'],
    volumes: new Map([
      ['root', 'v0'],
      ['data', 'v1'],
    ]),
    userData: undefined,
    mark: { owner: 'o' },
  });

  it('has its ports in order, its owner mark, and no unneeded fields', () => {
    const desired = serverSpec(parts(spec({ serverMetadata: [{ key: 'owner', value: 'somebody else' }] })));
    expect(desired).toMatchObject({
      imageId: 'i1',
      flavorId: 'f1',
      networks: [{ portId: 'p1' }, { portId: 'p2' }],
      metadata: { owner: 'o' },
      configDrive: false,
    });
    expect(desired.blockDevices).toBeUndefined();
    expect(desired.keyName).toBeUndefined();
  });

  it('has its disks, which are deleted with it', () => {
    const data = { name: 'data', sizeGiB: 1, storage: { type: 'Volume' as const } };
    const scratch = { name: 'scratch', sizeGiB: 2, storage: { type: 'Local' as const } };
    const fromVolume = serverSpec(parts(spec({ rootVolume: { sizeGiB: 9 }, additionalBlockDevices: [data] })));
    expect(fromVolume.imageId).toBeUndefined();
    expect(fromVolume.blockDevices).toMatchObject([
      { source: 'volume', destination: 'volume', id: 'v0', bootIndex: 0, deleteOnTermination: true },
      { source: 'volume', id: 'v1', bootIndex: -1, tag: 'data', deleteOnTermination: true },
    ]);
    const fromImage = serverSpec(parts(spec({ additionalBlockDevices: [scratch] })));
    expect(fromImage.imageId).toBe('i1');
    expect(fromImage.blockDevices).toMatchObject([
      { source: 'image', destination: 'local', id: 'i1', bootIndex: 0 },
      { source: 'blank', destination: 'local', size: 2, bootIndex: -1, tag: 'scratch' },
    ]);
  });

  it('has scheduler hints with their types', () => {
    const { schedulerHints } = serverSpec(
      parts(
        spec({
          schedulerHintAdditionalProperties: [
            { name: 'a', value: { type: 'Bool', bool: true } },
            { name: 'b', value: { type: 'Number', number: 3 } },
            { name: 'c', value: { type: 'String', string: 'x' } },
          ],
        }),
      ),
    );
    expect(schedulerHints).toEqual({ a: true, b: 3, c: 'x' });
  });
});
