import { beforeAll, describe, expect, it } from 'vitest';
import { collect, type PortSpec } from '../../src/openstack/index.ts';
import { contract } from './support/contract.ts';
import { createLab, type Lab } from './support/lab.ts';
import { nobody, refused } from './support/refused.ts';
import { uniqueName } from './support/tenant.ts';

contract('ports', (cloud) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await createLab(cloud.member);
  });
  const network = () => cloud.member.network;
  const create = (desired: Partial<PortSpec> = {}) => network().ports.create({ networkId: lab.network.id, ...desired });

  it('start with an address, a MAC and the default security group', async () => {
    const port = await create({ name: uniqueName('port'), description: 'd' });
    const group = await network().securityGroups.find('default', { projectId: cloud.tenant.projectId });
    expect(port).toMatchObject({
      status: 'DOWN',
      adminStateUp: true,
      deviceId: '',
      deviceOwner: '',
      description: 'd',
      macAddress: expect.stringMatching(/^fa:16:3e:/),
      fixedIps: [{ subnetId: lab.subnet.id, address: expect.stringMatching(/^10\.20\.0\.\d+$/) }],
      securityGroupIds: [group!.id],
      allowedAddressPairs: [],
      portSecurityEnabled: true,
      vnicType: 'normal',
      hostId: undefined,
      trunkId: undefined,
    });
    expect(await network().ports.get(port.id)).toEqual(port);
    expect((await network().ports.find(port.name))?.id).toBe(port.id);
  });

  it('take a chosen address only once', async () => {
    const fixedIps = [{ subnetId: lab.subnet.id, address: '10.20.0.99' }];
    expect((await create({ fixedIps })).fixedIps).toEqual(fixedIps);
    await refused(create({ fixedIps }), {
      status: 409,
      type: 'IpAddressAlreadyAllocated',
      says: `IP address 10.20.0.99 already allocated in subnet ${lab.subnet.id}`,
    });
  });

  it('accept address pairs, and one without a MAC gets that of the port', async () => {
    const port = await create({
      allowedAddressPairs: [{ address: '10.99.0.0/16' }, { address: '10.20.0.5', macAddress: 'fa:16:3e:00:00:01' }],
    });
    expect(port.allowedAddressPairs.toSorted((a, b) => (a.address < b.address ? -1 : 1))).toEqual([
      { address: '10.20.0.5', macAddress: 'fa:16:3e:00:00:01' },
      { address: '10.99.0.0/16', macAddress: port.macAddress },
    ]);
    expect((await network().ports.update(port.id, { allowedAddressPairs: [] })).allowedAddressPairs).toEqual([]);
  });

  it('may have port security disabled', async () => {
    const port = await create({ portSecurityEnabled: false, securityGroupIds: [] });
    expect([port.portSecurityEnabled, port.securityGroupIds]).toEqual([false, []]);
  });

  it('are created several at once', async () => {
    const made = await network().ports.createMany([
      { networkId: lab.network.id, name: 'a' },
      { networkId: lab.network.id, name: 'b' },
    ]);
    expect(made.map(({ name }) => name).toSorted()).toEqual(['a', 'b']);
  });

  it.each<[string, Partial<PortSpec>, number, string, string | RegExp | undefined]>([
    ['an unknown network', { networkId: nobody }, 404, 'NetworkNotFound', undefined],
    [
      'a network that is no id',
      { networkId: 'nope' },
      400,
      'HTTPBadRequest',
      "Invalid input for network_id. Reason: 'nope' is not a valid UUID.",
    ],
    ['an unknown subnet', { fixedIps: [{ subnetId: nobody }] }, 404, 'SubnetNotFound', undefined],
    ['an unknown group', { securityGroupIds: [nobody] }, 404, 'SecurityGroupNotFound', undefined],
    [
      'an address of another network',
      { fixedIps: [{ address: '192.168.5.5' }] },
      400,
      'InvalidIpForNetwork',
      undefined,
    ],
    [
      'pairs without security',
      { portSecurityEnabled: false, securityGroupIds: [], allowedAddressPairs: [{ address: '10.0.0.1' }] },
      409,
      'AddressPairAndPortSecurityRequired',
      undefined,
    ],
    [
      'the same pair twice',
      { allowedAddressPairs: [{ address: '10.0.0.1' }, { address: '10.0.0.1' }] },
      400,
      'DuplicateAddressPairInRequest',
      undefined,
    ],
    [
      'a kind of card nobody knows',
      { vnicType: 'bogus' },
      400,
      'HTTPBadRequest',
      /Invalid input for binding:vnic_type\. Reason: .*bogus.* is not in valid_values\./,
    ],
    ['a host, as a member', { hostId: 'h' }, 403, 'PolicyNotAuthorized', undefined],
    ['a profile, as a member', { profile: { a: 'b' } }, 403, 'PolicyNotAuthorized', undefined],
    ['an attribute nobody knows', { extra: { bogus: 1 } }, 400, 'HTTPBadRequest', "Unrecognized attribute(s) 'bogus'"],
  ])('refuse %s', async (_what, desired, status, type, says) => {
    await refused(create(desired), { status, type, ...(says && { says }) });
  });

  it('refuse an address outside the subnet, a used MAC, and the external network', async () => {
    await refused(create({ fixedIps: [{ subnetId: lab.subnet.id, address: '10.21.0.5' }] }), {
      status: 400,
      type: 'InvalidIpForSubnet',
    });
    const port = await create();
    await refused(create({ macAddress: port.macAddress }), { status: 409, type: 'MacAddressInUse' });
    await refused(create({ networkId: cloud.world.external.id }), { status: 403, kind: 'forbidden' });
  });

  describe('filters', () => {
    it('find ports by network, address, subnet, MAC, device, group, tag and several ids', async () => {
      const other = await createLab(cloud.member, '10.30.0.0/24');
      const group = await network().securityGroups.create({ name: uniqueName('group') });
      const port = await create({
        networkId: other.network.id,
        securityGroupIds: [group.id],
        deviceId: 'some-device',
        name: uniqueName('port'),
      });
      const second = await create();
      const mark = uniqueName('tag');
      await network().ports.replaceTags(port.id, [mark]);
      const address = port.fixedIps[0]!.address;
      for (const filter of [
        { networkId: other.network.id },
        { fixedIp: { address } },
        { fixedIp: { subnetId: other.subnet.id } },
        { macAddress: port.macAddress },
        { deviceId: 'some-device' },
        { securityGroups: group.id },
        { tags: [mark] },
        { name: port.name, networkId: other.network.id },
      ]) {
        expect(
          (await collect(network().ports.list(filter))).map(({ id }) => id),
          JSON.stringify(filter),
        ).toEqual([port.id]);
      }
      const both = await collect(network().ports.list({ id: [port.id, second.id] }));
      expect(both.map(({ id }) => id).toSorted()).toEqual([port.id, second.id].toSorted());
      await refused(network().securityGroups.delete(group.id), { status: 409, type: 'SecurityGroupInUse' });
    });
  });

  describe('trunks', () => {
    it('carry other ports', async () => {
      const parent = await create();
      const child = await create();
      const trunk = await network().trunks.create({ portId: parent.id, name: uniqueName('trunk') });
      expect(trunk).toMatchObject({ portId: parent.id, subports: [], adminStateUp: true });
      expect((await network().ports.get(parent.id)).trunkId).toBe(trunk.id);
      const subport = { portId: child.id, segmentationType: 'vlan', segmentationId: 7 };
      expect((await network().trunks.addSubports(trunk.id, [subport])).subports).toEqual([subport]);
      expect((await collect(network().trunks.list({ portId: parent.id }))).map(({ id }) => id)).toEqual([trunk.id]);
      await refused(network().ports.delete(parent.id), { status: 409, type: 'PortInUseAsTrunkParent' });
      await refused(network().ports.delete(child.id), { status: 409, type: 'PortInUseAsSubPort' });
      await refused(network().trunks.create({ portId: parent.id }), { status: 409 });
      await network().trunks.replaceTags(trunk.id, ['t']);
      expect((await network().trunks.removeSubports(trunk.id, [child.id])).subports).toEqual([]);
      expect(await network().trunks.delete(trunk.id)).toBe(true);
      expect(await network().ports.delete(parent.id)).toBe(true);
    });
  });

  it('run out of addresses in a full subnet', async () => {
    const small = await createLab(cloud.member, '10.40.0.0/30');
    await create({ networkId: small.network.id });
    await refused(create({ networkId: small.network.id }), {
      status: 409,
      type: 'IpAddressGenerationFailure',
      says: 'No more IP addresses available on network',
    });
  });
});
