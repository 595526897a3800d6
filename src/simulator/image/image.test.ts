import { describe, expect, it } from 'vitest';
import { type TestAnswer, type TestUser, testCloud } from '../testing/test-cloud.ts';

const patchType = 'application/openstack-images-v2.1-json-patch';

async function glance() {
  const test = await testCloud();
  const user = await test.member('p');
  return { ...test, user, ...tools(user) };
}

function tools(user: TestUser) {
  const create = (desired: object): Promise<TestAnswer> => user.request('POST', '/image/v2/images', desired);
  const patch = (id: string, operations: unknown, type = patchType): Promise<TestAnswer> =>
    user.request('PATCH', `/image/v2/images/${id}`, operations, { 'content-type': type });
  const upload = (id: string, data: string, type = 'application/octet-stream'): Promise<TestAnswer> =>
    user.request('PUT', `/image/v2/images/${id}/file`, data, { 'content-type': type });
  const names = async (query: string): Promise<string[]> => {
    const { body } = await user.request('GET', `/image/v2/images${query}`);
    return (body as { images: { name: string }[] }).images.map(({ name }) => name);
  };
  return { create, patch, upload, names };
}

const idOf = ({ body }: TestAnswer): string => (body as { id: string }).id;

describe('an image', () => {
  it('is queued until its content is there, then active with checksums', async () => {
    const { create, upload, user } = await glance();
    const made = await create({ name: 'i', disk_format: 'raw', container_format: 'bare', tags: ['t'], os_distro: 'x' });
    expect(made).toMatchObject({
      status: 201,
      body: {
        name: 'i',
        status: 'queued',
        visibility: 'shared',
        size: null,
        checksum: null,
        os_distro: 'x',
        tags: ['t'],
      },
    });
    const id = idOf(made);
    expect(made.headers['location']).toBe(`http://cloud.test/image/v2/images/${id}`);
    expect((await user.request('GET', `/image/v2/images/${id}/file`)).status).toBe(204);
    expect((await upload(id, 'data', 'application/json')).status).toBe(415);
    expect((await upload(id, 'data')).status).toBe(204);
    expect(await user.request('GET', `/image/v2/images/${id}`)).toMatchObject({
      body: { status: 'active', size: 4, checksum: '8d777f385d3dfec8815d20f7496026dc', os_hash_algo: 'sha512' },
    });
    expect(await user.request('GET', `/image/v2/images/${id}/file`)).toMatchObject({
      status: 200,
      body: 'data',
      headers: { 'content-md5': '8d777f385d3dfec8815d20f7496026dc' },
    });
    expect((await upload(id, 'more')).status).toBe(409);
    expect((await user.request('DELETE', `/image/v2/images/${id}`)).status).toBe(204);
    expect((await user.request('GET', `/image/v2/images/${id}`)).status).toBe(404);
  });

  it('is changed by patches of single attributes', async () => {
    const { create, patch } = await glance();
    const id = idOf(await create({ name: 'i' }));
    const replaced = await patch(id, [
      { op: 'replace', path: '/name', value: 'j' },
      { op: 'add', path: '/color', value: 'red' },
    ]);
    expect(replaced).toMatchObject({ status: 200, body: { name: 'j', color: 'red' } });
    expect((await patch(id, [{ op: 'remove', path: '/color' }])).body).not.toHaveProperty('color');
  });

  it('is changed by patches in the older form', async () => {
    const { create, patch } = await glance();
    const id = idOf(await create({ name: 'i' }));
    const older = (operations: unknown) => patch(id, operations, 'application/openstack-images-v2.0-json-patch');
    expect(await older([{ replace: '/name', value: 'j' }])).toMatchObject({ status: 200, body: { name: 'j' } });
    expect(await older([{ add: '/color', value: 'red' }])).toMatchObject({ status: 200, body: { color: 'red' } });
    expect((await older([{ remove: '/color' }])).body).not.toHaveProperty('color');
    expect((await older([{ op: 'replace', path: '/name', value: 'k' }])).body).toContain('must contain exactly one');
    expect((await older([{ add: '/a', replace: '/a', value: 'k' }])).body).toContain('must contain only one');
    expect((await older([{ replace: '/name' }])).body).toContain('requires a member named');
    expect((await patch(id, [{ replace: '/name', value: 'k' }])).body).toContain('Unable to find `op`');
  });

  it('is deactivated and reactivated by its owner, and downloadable by nobody meanwhile', async () => {
    const { create, upload, user, member } = await glance();
    const id = idOf(await create({ name: 'i', disk_format: 'raw', container_format: 'bare', visibility: 'community' }));
    await upload(id, 'abc');
    const act = (who: TestUser, action: string) => who.request('POST', `/image/v2/images/${id}/actions/${action}`);
    expect((await act(await member('other'), 'deactivate')).status).toBe(403);
    expect((await act(user, 'deactivate')).status).toBe(204);
    const file = await user.request('GET', `/image/v2/images/${id}/file`);
    expect(file.status).toBe(403);
    expect(file.body).toContain('Image data download is forbidden');
    expect((await act(user, 'reactivate')).status).toBe(204);
    expect((await user.request('GET', `/image/v2/images/${id}/file`)).status).toBe(200);
  });

  it('is found by its size', async () => {
    const { create, upload, names } = await glance();
    await upload(idOf(await create({ name: 'three', disk_format: 'raw', container_format: 'bare' })), 'abc');
    expect(await names('?size=3')).toEqual(['three']);
    expect(await names('?size=x')).toEqual([]);
  });

  it('shows its import task', async () => {
    const { create, user, clock } = await glance();
    const path = `/image/v2/images/${idOf(await create({ name: 'i', disk_format: 'raw', container_format: 'bare' }))}`;
    expect((await user.request('GET', `${path}/tasks`)).body).toEqual({ tasks: [] });
    await user.request('PUT', `${path}/stage`, 'abc', { 'content-type': 'application/octet-stream' });
    expect((await user.request('GET', path)).body).toMatchObject({ status: 'uploading', size: 3 });
    const begun = await user.request('POST', `${path}/import`, { method: { name: 'glance-direct' } });
    const task = {
      type: 'api_image_import',
      request_id: begun.headers['x-openstack-request-id'],
      input: { import_req: { method: { name: 'glance-direct' } } },
    };
    expect((await user.request('GET', `${path}/tasks`)).body).toMatchObject({
      tasks: [{ ...task, status: 'processing', expires_at: null, result: null }],
    });
    await clock.advance(3000);
    expect((await user.request('GET', `${path}/tasks`)).body).toMatchObject({
      tasks: [{ ...task, status: 'success' }],
    });
    expect((await user.request('DELETE', path)).status).toBe(204);
    expect((await user.request('GET', `${path}/tasks`)).status).toBe(404);
  });

  it.each<[unknown, number, string]>([
    [[{ op: 'replace', path: '/status', value: 'active' }], 403, 'read-only'],
    [[{ op: 'replace', path: '/visibility', value: 'public' }], 403, 'publicize_image'],
    [[{ op: 'remove', path: '/nope' }], 409, 'does not exist'],
    [[{ op: 'bogus', path: '/name' }], 400, 'Invalid operation'],
    [[{ op: 'remove', path: '/name' }], 403, 'may not be removed'],
    [{}, 400, 'JSON array'],
  ])('refuses the patch %j', async (operations, status, message) => {
    const { create, patch } = await glance();
    const id = idOf(await create({ name: 'i' }));
    const answer = await patch(id, operations);
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toBe('text/html; charset=UTF-8');
    expect(answer.body).toContain(message);
  });

  it('refuses a whole patch when a part is wrong', async () => {
    const { create, patch, user } = await glance();
    const id = idOf(await create({ name: 'i' }));
    const operations = [
      { op: 'replace', path: '/name', value: 'j' },
      { op: 'replace', path: '/size', value: 1 },
    ];
    expect((await patch(id, operations)).status).toBe(403);
    expect(await user.request('GET', `/image/v2/images/${id}`)).toMatchObject({ body: { name: 'i' } });
    expect((await patch(id, operations, 'application/json')).status).toBe(415);
  });

  it.each<[object, number, string]>([
    [{ disk_format: 'bogus' }, 400, 'is not one of [None, '],
    [{ extra: 7 }, 400, '7 is not of type'],
    [{ size: 1 }, 403, 'read-only'],
    [{ visibility: 'public' }, 403, 'publicize_image'],
    [{ min_disk: -1 }, 400, 'Cannot be a negative value'],
  ])('cannot be created from %j', async (desired, status, message) => {
    const { create } = await glance();
    const answer = await create(desired);
    expect(answer.status).toBe(status);
    expect(answer.body).toContain(message);
  });

  it('is not deleted when it is protected or belongs to others', async () => {
    const { create, patch, user, member, admin } = await glance();
    const id = idOf(await create({ name: 'i', protected: true }));
    expect((await user.request('DELETE', `/image/v2/images/${id}`)).status).toBe(403);
    await patch(id, [{ op: 'replace', path: '/protected', value: false }]);
    await admin.request('PATCH', `/image/v2/images/${id}`, [{ op: 'replace', path: '/visibility', value: 'public' }], {
      'content-type': patchType,
    });
    const other = await member('q');
    expect(await other.request('DELETE', `/image/v2/images/${id}`)).toMatchObject({ status: 403 });
    expect((await user.request('DELETE', `/image/v2/images/${id}`)).status).toBe(204);
  });

  it('can be shared with another project', async () => {
    const { create, user, member } = await glance();
    const id = idOf(await create({ name: 'i' }));
    const other = await member('q');
    expect((await other.request('GET', `/image/v2/images/${id}`)).status).toBe(404);
    await user.request('POST', `/image/v2/images/${id}/members`, { member: other.projectId });
    expect((await other.request('GET', `/image/v2/images/${id}`)).status).toBe(200);
  });
});

describe('lists of images', () => {
  it.each<[string, string[]]>([
    ['', ['Cee', 'b', 'a']],
    ['?name=cee', ['Cee']],
    ['?name=in:a,b', ['b', 'a']],
    ['?tag=x', ['b', 'a']],
    ['?tag=x&tag=y', ['b']],
    ['?color=red', ['a']],
    ['?status=active', []],
    ['?visibility=private', []],
    ['?sort=name:asc', ['Cee', 'a', 'b']],
    ['?sort_key=name&sort_dir=desc&limit=2', ['b', 'a']],
    ['?created_at=gt:2030-01-01T00:00:00Z', []],
    ['?created_at=lt:2030-01-01T00:00:00Z&limit=1', ['Cee']],
  ])('are filtered and sorted by %s', async (query, expected) => {
    const { create, names } = await glance();
    await create({ name: 'a', tags: ['x'], color: 'red' });
    await create({ name: 'b', tags: ['x', 'y'] });
    await create({ name: 'Cee' });
    expect(await names(query)).toEqual(expected);
  });

  it('are paged by relative links', async () => {
    const { create, user } = await glance();
    for (const name of ['a', 'b', 'c']) await create({ name });
    const first = (await user.request('GET', '/image/v2/images?limit=2')).body as { next: string; first: string };
    expect(first.first).toBe('/v2/images?limit=2');
    const second = (await user.request('GET', `/image${first.next}`)).body as { images: { name: string }[] };
    expect(second.images.map(({ name }) => name)).toEqual(['a']);
    expect(second).not.toHaveProperty('next');
  });

  it.each(['visibility=bogus', 'sort=bogus', 'sort=name:up', 'limit=-1', 'limit=x', 'marker=nope'])(
    'refuse %s',
    async (query) => {
      const { user } = await glance();
      expect((await user.request('GET', `/image/v2/images?${query}`)).status).toBe(400);
    },
  );
});
