import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect, type Server } from '../../src/openstack/index.ts';
import { contract } from './support/contract.ts';
import { createLab, type Lab } from './support/lab.ts';
import { nobody, refused } from './support/refused.ts';
import { bootServer, removeServer, untilStatus } from './support/servers.ts';
import { uniqueName } from './support/tenant.ts';
import { until, untilGone } from './support/wait.ts';

contract('servers', (cloud) => {
  let lab: Lab;
  let server: Server;
  let other: Server;
  const servers = () => cloud.member.compute.servers;
  beforeAll(async () => {
    lab = await createLab(cloud.member);
    server = await bootServer(cloud, {
      name: uniqueName('a.server'),
      networks: [{ networkId: lab.network.id }],
      tags: ['red', 'round'],
    });
    other = await bootServer(cloud, { name: uniqueName('b-server'), tags: ['red'] });
  });
  afterAll(async () => {
    await removeServer(cloud.member, server.id);
    await removeServer(cloud.member, other.id);
  });
  const ids = async (list: AsyncIterable<{ id: string }>): Promise<string[]> =>
    (await collect(list)).map(({ id }) => id);

  describe('lists of servers', () => {
    it('show the newest first, page by page', async () => {
      expect(await ids(servers().list())).toEqual([other.id, server.id]);
      expect(await ids(servers().list({}, { pageSize: 1 }))).toEqual([other.id, server.id]);
      expect(await ids(servers().list({ sortKey: 'created_at', sortDir: 'asc' }))).toEqual([server.id, other.id]);
    });

    it('link to the next page with the whole query', async () => {
      const answer = await cloud.member.compute.service.request({
        method: 'GET',
        path: '/servers',
        query: { limit: 1, status: 'ACTIVE' },
      });
      const { servers: items, servers_links: links } = answer.object() as {
        servers: { id: string }[];
        servers_links: { rel: string; href: string }[];
      };
      expect(items).toHaveLength(1);
      expect(Object.keys(items[0]!).toSorted()).toEqual(['id', 'links', 'name']);
      expect(links).toMatchObject([{ rel: 'next' }]);
      const query = new URL(links[0]!.href).searchParams;
      expect([query.get('limit'), query.get('status'), query.get('marker')]).toEqual(['1', 'ACTIVE', items[0]!.id]);
    });

    it('find a server by exact name', async () => {
      expect((await servers().find(server.name))?.id).toBe(server.id);
      expect(await servers().find(server.name.slice(0, -1))).toBeUndefined();
    });

    it('match names as regular expressions', async () => {
      expect(await ids(servers().list({ name: 'server' }))).toHaveLength(2);
      expect(await ids(servers().list({ name: `^${server.name.replace('.', 'x')}$` }))).toEqual([]);
      await refused(collect(servers().list({ name: '[' })), { status: 400, says: "'[' is not a 'regex'" });
    });

    it('filter by tags', async () => {
      expect(await ids(servers().list({ tags: ['red'] }))).toHaveLength(2);
      expect(await ids(servers().list({ tags: ['red', 'round'] }))).toEqual([server.id]);
      expect(await ids(servers().list({ tagsAny: ['round', 'blue'] }))).toEqual([server.id]);
      expect(await ids(servers().list({ notTags: ['red', 'round'] }))).toEqual([other.id]);
      expect(await ids(servers().list({ notTagsAny: ['round', 'blue'] }))).toEqual([other.id]);
    });

    it('filter by status, image, flavor and address', async () => {
      expect(
        await ids(servers().list({ status: 'ACTIVE', imageId: cloud.world.image.id, flavorId: cloud.world.flavor.id })),
      ).toHaveLength(2);
      await refused(collect(servers().list({ status: 'BOGUS' })), { status: 400, says: 'Invalid status value' });
      expect(await ids(servers().list({ status: 'SHUTOFF' }))).toEqual([]);
      expect(await ids(servers().list({ ip: '10.20.0.' }))).toEqual([server.id]);
      expect(await ids(servers().list({ flavorId: cloud.world.disklessFlavor.id }))).toEqual([]);
    });

    it('report changes since a time', async () => {
      expect(await ids(servers().list({ changesSince: '2020-01-01T00:00:00Z' }))).toEqual(
        expect.arrayContaining([server.id, other.id]),
      );
      expect(await ids(servers().list({ changesSince: '2999-01-01T00:00:00Z' }))).toEqual([]);
      await refused(collect(servers().list({ changesSince: 'yesterday' })), { status: 400 });
    });

    it.each([
      ['a marker that is not there', { marker: nobody }, `marker [${nobody}] not found`],
      ['a limit below zero', { limit: -1 }, 'Invalid input for query parameters limit. Value: -1.'],
      ['a sort key nobody knows', { sort_key: 'bogus' }, 'bogus'],
      ['a filter nobody knows', { bogus: 'x' }, "'bogus' does not match any of the regexes: '^_'"],
    ])('refuse %s', async (_what, query, says) => {
      await refused(cloud.member.compute.service.request({ method: 'GET', path: '/servers', query }), {
        status: 400,
        says,
      });
    });

    it('hide servers of others', async () => {
      const stranger = await cloud.stranger();
      expect(await ids(stranger.cloud.compute.servers.list())).toEqual([]);
      await refused(stranger.cloud.compute.servers.get(server.id), { status: 404, kind: 'notFound' });
      expect(await stranger.cloud.compute.servers.delete(server.id)).toBe(false);
    });
  });

  describe('actions of servers', () => {
    it('stop and start the server, but not twice', async () => {
      await servers().stop(other.id);
      expect(await untilStatus(cloud.member, other.id, 'SHUTOFF')).toMatchObject({ vmState: 'stopped', powerState: 4 });
      await refused(servers().stop(other.id), {
        status: 409,
        kind: 'conflict',
        says: `Cannot 'stop' instance ${other.id} while it is in vm_state stopped`,
      });
      await servers().start(other.id);
      expect(await untilStatus(cloud.member, other.id, 'ACTIVE')).toMatchObject({ vmState: 'active', powerState: 1 });
    });

    it('reboot the server', async () => {
      await servers().reboot(other.id, 'SOFT');
      await untilStatus(cloud.member, other.id, 'ACTIVE');
      const path = `/servers/${other.id}/action`;
      await refused(cloud.member.compute.service.request({ method: 'POST', path, json: { reboot: { type: 'X' } } }), {
        status: 400,
      });
      await refused(cloud.member.compute.service.request({ method: 'POST', path, json: { bogus: {} } }), {
        status: 400,
        says: 'There is no such action: bogus',
      });
    });

    it('show the console', async () => {
      expect(await servers().consoleOutput(server.id, { lines: 5 })).toBeTypeOf('string');
      await refused(servers().consoleOutput(nobody), { status: 404 });
    });

    it('are recorded, the newest first', async () => {
      const actions = await servers().actions(other.id);
      expect(actions.map(({ action }) => action)).toEqual(['reboot', 'start', 'stop', 'create']);
      expect(actions.every(({ requestId }) => requestId.startsWith('req-'))).toBe(true);
    });

    it('rename the server', async () => {
      const name = uniqueName('renamed');
      expect(await servers().update(other.id, { name, description: 'new' })).toMatchObject({ id: other.id, name });
      expect(await servers().get(other.id)).toMatchObject({ name, description: 'new' });
    });
  });

  describe('tags and metadata', () => {
    it('are added, replaced and removed', async () => {
      await servers().addTag(other.id, 'extra');
      await servers().addTag(other.id, 'extra');
      expect((await servers().get(other.id)).tags.toSorted()).toEqual(['extra', 'red']);
      expect(await servers().removeTag(other.id, 'extra')).toBe(true);
      expect(await servers().removeTag(other.id, 'extra')).toBe(false);
      await servers().replaceTags(other.id, ['x', 'y']);
      expect((await servers().get(other.id)).tags.toSorted()).toEqual(['x', 'y']);
      await servers().replaceTags(other.id, ['red']);
    });

    it('are merged', async () => {
      await servers().setMetadata(server.id, { a: '1', b: '2' });
      await servers().setMetadata(server.id, { b: '3' });
      expect((await servers().get(server.id)).metadata).toEqual({ a: '1', b: '3' });
      expect(await servers().deleteMetadata(server.id, 'a')).toBe(true);
      expect(await servers().deleteMetadata(server.id, 'a')).toBe(false);
    });
  });

  describe('interfaces of servers', () => {
    it('are attached and detached', async () => {
      const port = await cloud.member.network.ports.create({ networkId: lab.network.id });
      const attached = await servers().attachInterface(server.id, { portId: port.id });
      expect(attached).toMatchObject({ portId: port.id, networkId: lab.network.id, macAddress: port.macAddress });
      expect((await servers().interfaces(server.id)).map(({ portId }) => portId)).toContain(port.id);
      await refused(servers().attachInterface(other.id, { portId: port.id }), {
        status: 409,
        says: `Port ${port.id} is still in use.`,
      });
      expect(await servers().detachInterface(server.id, port.id)).toBe(true);
      const freed = await until(
        () => cloud.member.network.ports.get(port.id),
        ({ deviceId }) => deviceId === '',
      );
      expect(freed.fixedIps).toEqual(port.fixedIps);
      await cloud.member.network.ports.delete(port.id);
    });

    it('made by nova are deleted when they are detached', async () => {
      const made = await servers().attachInterface(other.id, { networkId: lab.network.id });
      await until(
        () => servers().interfaces(other.id),
        (list) => list.length === 1,
      );
      await servers().detachInterface(other.id, made.portId);
      await until(
        () => collect(cloud.member.network.ports.list({ id: made.portId })),
        (list) => list.length === 0,
      );
    });

    it('must exist to be attached', async () => {
      await refused(servers().attachInterface(server.id, { portId: nobody }), { status: 404 });
    });
  });

  describe('volumes of servers', () => {
    it('are attached and detached', async () => {
      const { volumes } = cloud.member.volume;
      const volume = await volumes.create({ name: uniqueName('volume'), size: 1 });
      await until(
        () => volumes.get(volume.id),
        ({ status }) => status === 'available',
      );
      const attachment = await servers().attachVolume(server.id, { volumeId: volume.id });
      expect(attachment).toMatchObject({
        volumeId: volume.id,
        serverId: server.id,
        device: expect.stringMatching(/^\/dev\//),
      });
      const inUse = await until(
        () => volumes.get(volume.id),
        ({ status }) => status === 'in-use',
      );
      expect(inUse.attachments).toMatchObject([{ serverId: server.id }]);
      expect((await servers().volumeAttachments(server.id)).map(({ volumeId }) => volumeId)).toEqual([volume.id]);
      await refused(servers().attachVolume(server.id, { volumeId: volume.id }), {
        status: 400,
        says: 'Invalid volume: volume',
      });
      await refused(volumes.delete(volume.id), {
        status: 400,
        says: 'Invalid volume: Volume status must be available or error',
      });
      expect(await servers().detachVolume(server.id, volume.id)).toBe(true);
      await until(
        () => volumes.get(volume.id),
        ({ status }) => status === 'available',
      );
      expect(await servers().detachVolume(server.id, volume.id)).toBe(false);
      await volumes.delete(volume.id);
    });

    it('must exist to be attached', async () => {
      await refused(servers().attachVolume(server.id, { volumeId: nobody }), { status: 404 });
    });
  });

  it('disappear after a while when deleted and show up as deleted among changes', async () => {
    const short = await bootServer(cloud, {});
    await servers().delete(short.id);
    await untilGone(() => servers().get(short.id));
    await refused(servers().get(short.id), {
      status: 404,
      kind: 'notFound',
      says: `Instance ${short.id} could not be found.`,
    });
    expect(await servers().delete(short.id)).toBe(false);
    const changed = await collect(servers().list({ changesSince: '2020-01-01T00:00:00Z' }));
    expect(changed.find(({ id }) => id === short.id)?.status).toBe('DELETED');
  });
});
