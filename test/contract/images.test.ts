import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { collect } from '../../src/openstack/index.ts';
import { contract } from './support/contract.ts';
import { refused } from './support/refused.ts';
import { uniqueName } from './support/tenant.ts';

contract('images', (cloud) => {
  const images = () => cloud.member.image.images;
  const create = (more: object = {}) =>
    images().create({ name: uniqueName('image'), diskFormat: 'raw', containerFormat: 'bare', ...more });
  const content = Buffer.from('not much of an image'.repeat(100));

  it('include public images everybody may use', async () => {
    const { image } = cloud.world;
    expect(await images().get(image.id)).toMatchObject({ id: image.id, status: 'active', visibility: 'public' });
    expect((await images().find(image.name))?.id).toBe(image.id);
  });

  it('are queued when created and active when uploaded', async () => {
    const made = await create({ tags: ['t'], properties: { os_distro: 'x' }, minDisk: 1 });
    expect(made).toMatchObject({
      status: 'queued',
      visibility: 'shared',
      size: undefined,
      checksum: undefined,
      tags: ['t'],
      minDisk: 1,
      protected: false,
      properties: { os_distro: 'x' },
      owner: cloud.tenant.projectId,
    });
    await images().upload(made.id, content);
    expect(await images().get(made.id)).toMatchObject({
      status: 'active',
      size: content.length,
      checksum: createHash('md5').update(content).digest('hex'),
    });
    await refused(images().upload(made.id, content), { status: 409, kind: 'conflict' });
  });

  it('are uploaded from a stream', async () => {
    const made = await create();
    async function* parts(): AsyncGenerator<Uint8Array> {
      for (let i = 0; i < 4; i++) yield content;
    }
    await images().upload(made.id, parts());
    expect((await images().get(made.id)).size).toBe(4 * content.length);
  });

  it('are deleted while they are queued, as after an interrupted upload', async () => {
    const made = await create();
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield content;
      throw new Error('the file is gone');
    }
    await expect(images().upload(made.id, broken())).rejects.toThrow();
    expect(await images().delete(made.id)).toBe(true);
    expect(await collect(images().list({ name: made.name }))).toEqual([]);
  });

  it('show their hash and how content can be imported', async () => {
    const made = await create();
    expect(made.hash).toBeUndefined();
    await images().upload(made.id, content);
    const { hash } = await images().get(made.id);
    expect(hash).toEqual({
      algorithm: expect.any(String),
      value: createHash(hash!.algorithm).update(content).digest('hex'),
    });
    expect(await images().importMethods()).toEqual(expect.arrayContaining(['glance-direct']));
  });

  it('are queued again when a download fails, and say why', async (context) => {
    context.skip(!(await images().importMethods()).includes('web-download'), 'the cloud does not download images');
    const made = await create();
    await refused(images().webDownload(made.id, 'file:///etc/passwd'), { status: 400 });
    await images().webDownload(made.id, 'http://images.invalid/image.raw');
    await expect
      .poll(async () => (await images().importTasks(made.id)).at(-1)?.status, { timeout: 60_000, interval: 250 })
      .toBe('failure');
    expect((await images().get(made.id)).status).toBe('queued');
    expect((await images().importTasks(made.id)).at(-1)?.message).not.toBe('');
  });

  it('are found by tag, property, name and status', async () => {
    const mark = uniqueName('tag');
    const first = await create({ tags: [mark, 'one'], properties: { contract: mark } });
    const second = await create({ tags: [mark] });
    const ids = async (filter: Parameters<ReturnType<typeof images>['list']>[0], pageSize?: number) =>
      (await collect(images().list(filter, { pageSize }))).map(({ id }) => id).toSorted();
    const both = [first.id, second.id].toSorted();
    expect(await ids({ tags: [mark] })).toEqual(both);
    expect(await ids({ tags: [mark] }, 1)).toEqual(both);
    expect(await ids({ tags: [mark, 'one'] })).toEqual([first.id]);
    expect(await ids({ properties: { contract: mark } })).toEqual([first.id]);
    expect(await ids({ name: first.name })).toEqual([first.id]);
    expect(await ids({ tags: [mark], status: 'active' })).toEqual([]);
    expect(await images().find(second.name)).toMatchObject({ id: second.id });
  });

  it('change tags and properties', async () => {
    const made = await create({ properties: { keep: '1', gone: '2' } });
    await images().addTag(made.id, 'new');
    expect((await images().get(made.id)).tags).toEqual(['new']);
    expect(await images().removeTag(made.id, 'new')).toBe(true);
    expect(await images().removeTag(made.id, 'new')).toBe(false);
    const changed = await images().setProperties(made.id, { gone: null, keep: '3', fresh: '4' });
    expect(changed.properties).toMatchObject({ keep: '3', fresh: '4' });
    expect(changed.properties).not.toHaveProperty('gone');
  });

  it('are deleted unless protected', async () => {
    const made = await create({ protected: true });
    await refused(images().delete(made.id), { status: 403, kind: 'forbidden' });
    await images().setProperties(made.id, { protected: false });
    expect(await images().delete(made.id)).toBe(true);
    expect(await images().delete(made.id)).toBe(false);
  });

  it('of others cannot be changed', async () => {
    await refused(images().delete(cloud.world.image.id), { status: 403, kind: 'forbidden' });
    const made = await create();
    await refused(images().setProperties(made.id, { visibility: 'public' }), { status: 403 });
    const stranger = await cloud.stranger();
    await refused(stranger.cloud.image.images.get(made.id), { status: 404, says: `No image found with ID ${made.id}` });
  });

  it('refuse nonsensical requests', async () => {
    const { service } = cloud.member.image;
    await refused(create({ diskFormat: 'bogus' }), { status: 400, kind: 'badRequest' });
    await refused(service.request({ method: 'POST', path: '/images', json: { name: 'x', prop: 7 } }), { status: 400 });
    await refused(service.request({ method: 'GET', path: '/images', query: { visibility: 'bogus' } }), { status: 400 });
    await refused(service.request({ method: 'GET', path: '/images', query: { limit: -1 } }), {
      status: 400,
      says: 'limit param must be positive',
    });
    const made = await create();
    const patch = { method: 'PATCH', path: `/images/${made.id}`, json: [] } as const;
    await refused(service.request(patch), { status: 415 });
    const upload = { method: 'PUT', path: `/images/${made.id}/file`, json: {} } as const;
    await refused(service.request(upload), { status: 415 });
  });
});
