import { beforeAll, describe, expect, it } from 'vitest';
import { collect, type ServerSpec } from '../../src/openstack/index.ts';
import { contract } from './support/contract.ts';
import { createLab, type Lab } from './support/lab.ts';
import { nobody, refused } from './support/refused.ts';
import { bootServer, removeServer, serverSpec } from './support/servers.ts';
import { uniqueName } from './support/tenant.ts';
import { until, untilGone } from './support/wait.ts';

contract('creating servers', (cloud) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await createLab(cloud.member);
  });
  const create = (desired: Partial<ServerSpec>) => cloud.member.compute.servers.create(serverSpec(cloud, desired));
  const raw = (server: object, microversion?: string) =>
    cloud.member.compute.service.request({
      method: 'POST',
      path: '/servers',
      json: { server },
      ...(microversion && { microversion }),
    });

  describe('creation of a server', () => {
    it.each<[string, Partial<ServerSpec>, number, string | RegExp]>([
      ['with an unknown flavor', { flavorId: nobody }, 400, `Flavor ${nobody} could not be found.`],
      ['with an unknown image', { imageId: nobody }, 400, 'Can not find requested image'],
      ['with an image that is no id', { imageId: 'nope' }, 400, 'Invalid input for field/attribute imageRef.'],
      ['without an image', { imageId: undefined }, 400, 'Missing imageRef attribute'],
      ['on an unknown network', { networks: [{ networkId: nobody }] }, 400, `Network ${nobody} could not be found.`],
      ['on an unknown port', { networks: [{ portId: nobody }] }, 400, `Port id ${nobody} could not be found.`],
      ['with an unknown key', { keyName: 'nope' }, 400, 'Invalid key_name provided.'],
      ['in an unknown zone', { availabilityZone: 'nope' }, 400, 'The requested availability zone is not available'],
      ['in an unknown group', { serverGroupId: nobody }, 400, `Instance group ${nobody} could not be found.`],
      ['in a group that is no id', { serverGroupId: 'nope' }, 400, "'nope' is not a 'uuid'"],
      ['with a tag that has a comma', { tags: ['a,b'] }, 400, "does not match '^[^,/]*$'"],
      ['with a metadata value that is too long', { metadata: { a: 'x'.repeat(256) } }, 400, 'is too long'],
      [
        'from a volume without a size',
        { imageId: undefined, blockDevices: [{ source: 'image', destination: 'volume', id: nobody, bootIndex: 0 }] },
        400,
        /non-zero size specified|failed to get image/,
      ],
      [
        'from an unknown volume',
        { imageId: undefined, blockDevices: [{ source: 'volume', destination: 'volume', id: nobody, bootIndex: 0 }] },
        400,
        `failed to get volume ${nobody}.`,
      ],
    ])('is refused %s', async (_what, desired, status, says) => {
      await refused(create(desired), { status, says });
    });

    it('is refused with user data that is too long, which is not repeated', async () => {
      const secret = 'c2VjcmV0IG9mIHRoZSBjbHVzdGVy';
      const error = await refused(create({ userData: secret.repeat(3000) }), { status: 400, kind: 'badRequest' });
      expect(error.message).not.toContain(secret);
      expect(error.message.length).toBeLessThan(1000);
    });

    it('is refused with user data that is not encoded', async () => {
      await refused(raw({ ...base(), user_data: 'x' }), { status: 400, says: "is not a 'base64'" });
    });

    it('is refused with a security group that does not exist', async () => {
      const desired = { networks: [{ networkId: lab.network.id }], securityGroups: ['nope'] };
      await refused(create(desired), { status: 400, says: "Unable to find security_group with name or id 'nope'" });
    });

    it('is refused with a flavor without disk and no boot volume', async () => {
      await refused(create({ flavorId: cloud.world.disklessFlavor.id }), {
        status: 403,
        kind: 'forbidden',
        says: 'Only volume-backed servers are allowed for flavors with zero disk.',
      });
    });

    it('is refused on a port that is in use', async () => {
      const port = await cloud.member.network.ports.create({ networkId: lab.network.id });
      const server = await bootServer(cloud, { networks: [{ portId: port.id }] });
      await refused(create({ networks: [{ portId: port.id }] }), {
        status: 409,
        kind: 'conflict',
        says: `Port ${port.id} is still in use.`,
      });
      await removeServer(cloud.member, server.id);
    });

    const base = (): Record<string, unknown> => ({
      name: 's',
      flavorRef: cloud.world.flavor.id,
      imageRef: cloud.world.image.id,
      networks: 'none',
    });

    it.each<[string, (server: Record<string, unknown>) => object, string, string | undefined]>([
      ['without a name', ({ name: _name, ...rest }) => rest, "'name' is a required property", undefined],
      ['without networks', ({ networks: _networks, ...rest }) => rest, "'networks' is a required property", undefined],
      [
        'with a property nobody knows',
        (server) => ({ ...server, bogus: 1 }),
        "Additional properties are not allowed ('bogus' was unexpected)",
        undefined,
      ],
      [
        'with a property of a later microversion',
        (server) => ({ ...server, tags: ['t'] }),
        "Additional properties are not allowed ('tags' was unexpected)",
        '2.51',
      ],
    ])('is refused with 400 %s', async (_what, change, says, microversion) => {
      await refused(raw(change(base()), microversion), { status: 400, kind: 'badRequest', says });
    });

    it('is refused without a server in the body', async () => {
      const call = cloud.member.compute.service.request({ method: 'POST', path: '/servers', json: {} });
      await refused(call, { status: 400, says: "'server' is a required property" });
    });
  });

  it('returns the id and a location, but no state', async () => {
    const { service } = cloud.member.compute;
    const json = {
      server: {
        name: uniqueName('server'),
        flavorRef: cloud.world.flavor.id,
        imageRef: cloud.world.image.id,
        networks: 'none',
      },
    };
    const answer = await service.request({ method: 'POST', path: '/servers', json });
    const server = answer.member('server');
    expect(answer.status).toBe(202);
    expect(answer.headers['location']).toMatch(new RegExp(`/servers/${String(server['id'])}$`));
    expect(String(server['adminPass'])).toHaveLength(12);
    expect(server).not.toHaveProperty('status');
    await removeServer(cloud.member, String(server['id']));
  });

  it('builds the server and shows it active with addresses, zone and host', async () => {
    const { servers } = cloud.member.compute;
    const desired = serverSpec(cloud, {
      networks: [{ networkId: lab.network.id }],
      tags: ['one', 'two'],
      metadata: { a: 'b' },
      configDrive: true,
      description: 'a description',
      userData: '#cloud-config',
    });
    const { id } = await servers.create(desired);
    const fresh = await servers.get(id);
    expect(['BUILD', 'ACTIVE']).toContain(fresh.status);
    const server = await until(
      () => servers.get(id),
      ({ status, taskState }) => status === 'ACTIVE' && taskState === undefined,
    );
    expect(server).toMatchObject({
      name: desired.name,
      vmState: 'active',
      powerState: 1,
      metadata: { a: 'b' },
      configDrive: true,
      description: 'a description',
      projectId: cloud.tenant.projectId,
      userId: cloud.tenant.userId,
      imageId: cloud.world.image.id,
      securityGroupNames: ['default'],
      keyName: undefined,
      fault: undefined,
      volumes: [],
    });
    expect(server.tags.toSorted()).toEqual(['one', 'two']);
    expect(server.flavor).toMatchObject({
      name: cloud.world.flavor.name,
      vcpus: cloud.world.flavor.vcpus,
      ram: cloud.world.flavor.ram,
    });
    expect(server.hostId).toMatch(/^[0-9a-f]{56}$/);
    expect(cloud.world.zones).toContain(server.availabilityZone);
    const [address] = server.addresses[lab.network.name]!;
    expect(address).toMatchObject({ version: 4, type: 'fixed', address: expect.stringMatching(/^10\.20\.0\./) });
    const [port] = await collect(cloud.member.network.ports.list({ deviceId: id }));
    expect(port).toMatchObject({
      deviceOwner: `compute:${server.availabilityZone}`,
      status: 'ACTIVE',
      macAddress: address!.macAddress,
    });
    await removeServer(cloud.member, id);
    expect(await collect(cloud.member.network.ports.list({ deviceId: id }))).toEqual([]);
  });

  it('releases a port of the user when the server is deleted', async () => {
    const { ports } = cloud.member.network;
    const port = await ports.create({ networkId: lab.network.id, name: uniqueName('port') });
    const server = await bootServer(cloud, { networks: [{ portId: port.id }] });
    expect(await ports.get(port.id)).toMatchObject({ deviceId: server.id, status: 'ACTIVE' });
    await removeServer(cloud.member, server.id);
    const freed = await until(
      () => ports.get(port.id),
      ({ deviceId }) => deviceId === '',
    );
    expect(freed).toMatchObject({ deviceOwner: '', status: 'DOWN', fixedIps: port.fixedIps });
    await ports.delete(port.id);
  });

  it('goes to ERROR with a reason when no host fits', async () => {
    const { servers, serverGroups } = cloud.member.compute;
    const group = await serverGroups.create({ name: uniqueName('group'), policy: 'affinity' });
    const [zone, other] = cloud.world.zones;
    if (zone === undefined || other === undefined) throw new Error('this needs two availability zones');
    const first = await bootServer(cloud, { serverGroupId: group.id, availabilityZone: zone });
    const { id } = await servers.create(serverSpec(cloud, { serverGroupId: group.id, availabilityZone: other }));
    const failed = await until(
      () => servers.get(id),
      ({ status }) => status === 'ERROR',
    );
    expect(failed.fault).toEqual({
      code: 500,
      message: 'No valid host was found. There are not enough hosts available.',
    });
    expect([failed.hostId, failed.addresses]).toEqual([undefined, {}]);
    expect((await serverGroups.get(group.id)).members).toContain(first.id);
    await removeServer(cloud.member, id);
    await removeServer(cloud.member, first.id);
    await serverGroups.delete(group.id);
  });

  it('boots from a volume that is deleted with the server', async () => {
    const { volumes } = cloud.member.volume;
    const server = await bootServer(cloud, {
      flavorId: cloud.world.disklessFlavor.id,
      imageId: undefined,
      blockDevices: [
        {
          source: 'image',
          destination: 'volume',
          id: cloud.world.image.id,
          bootIndex: 0,
          size: 1,
          deleteOnTermination: true,
        },
      ],
    });
    expect(server.imageId).toBeUndefined();
    expect(server.volumes).toMatchObject([{ deleteOnTermination: true }]);
    const volumeId = server.volumes[0]!.id;
    expect(await volumes.get(volumeId)).toMatchObject({
      status: 'in-use',
      bootable: true,
      attachments: [{ serverId: server.id }],
    });
    await refused(cloud.member.compute.servers.detachVolume(server.id, volumeId), {
      status: 400,
      says: 'Cannot detach a root device volume',
    });
    await removeServer(cloud.member, server.id);
    await untilGone(() => volumes.get(volumeId));
  });
});
