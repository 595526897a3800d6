import { beforeEach, describe, expect, it } from 'vitest';
import { type TestCloud, type TestUser, testCloud } from '../testing/test-cloud.ts';
import { read } from '../testing/test-tenant.ts';

type Json = Record<string, unknown>;

let test: TestCloud;
let owner: TestUser;
let other: TestUser;

beforeEach(async () => {
  test = await testCloud();
  owner = await test.member('owner');
  other = await test.member('other');
});

const make = async (wanted: Json = {}): Promise<string> => {
  const image = { name: 'i', disk_format: 'raw', container_format: 'bare', ...wanted };
  return read(await owner.request('POST', '/image/v2/images', image), 'id');
};

describe('a shared image', () => {
  const ids = async (query = ''): Promise<string[]> =>
    read<{ id: string }[]>(await other.request('GET', `/image/v2/images${query}`), 'images').map(({ id }) => id);

  it('appears in the list of others once they have accepted it', async () => {
    const id = await make();
    const members = `/image/v2/images/${id}/members`;
    expect((await other.request('GET', `/image/v2/images/${id}`)).status).toBe(404);
    const added = await owner.request('POST', members, { member: other.projectId });
    expect(added).toMatchObject({ status: 200, body: { status: 'pending', member_id: other.projectId } });
    expect((await owner.request('POST', members, { member: other.projectId })).status).toBe(409);
    expect((await other.request('GET', `/image/v2/images/${id}`)).status).toBe(200);
    expect(await ids()).toEqual([]);
    expect(await ids('?visibility=shared&member_status=pending')).toEqual([id]);
    expect(await ids('?visibility=shared&member_status=all')).toEqual([id]);
    const mine = `${members}/${other.projectId}`;
    expect((await owner.request('PUT', mine, { status: 'accepted' })).status).toBe(403);
    expect((await other.request('PUT', mine, { status: 'maybe' })).status).toBe(400);
    expect((await other.request('PUT', mine, { status: 'accepted' })).body).toMatchObject({ status: 'accepted' });
    expect(await ids()).toEqual([id]);
    expect((await other.request('GET', mine)).body).toMatchObject({ status: 'accepted' });
    expect((await other.request('GET', '/image/v2/images?member_status=x')).status).toBe(400);
  });

  it('shows each member only its own membership', async () => {
    const id = await make();
    const members = `/image/v2/images/${id}/members`;
    const third = await test.member('third');
    for (const { projectId } of [other, third]) await owner.request('POST', members, { member: projectId });
    expect(read<Json[]>(await owner.request('GET', members), 'members')).toHaveLength(2);
    expect(read<Json[]>(await other.request('GET', members), 'members')).toMatchObject([
      { member_id: other.projectId },
    ]);
    expect((await other.request('GET', `${members}/${third.projectId}`)).status).toBe(404);
    expect((await other.request('DELETE', `${members}/${other.projectId}`)).status).toBe(403);
    expect((await owner.request('DELETE', `${members}/${other.projectId}`)).status).toBe(204);
    expect((await other.request('GET', `/image/v2/images/${id}`)).status).toBe(404);
    expect((await owner.request('GET', '/image/v2/schemas/member')).status).toBe(200);
  });

  it('has no members when it is private', async () => {
    const id = await make({ visibility: 'private' });
    const members = `/image/v2/images/${id}/members`;
    expect((await owner.request('POST', members, { member: other.projectId })).status).toBe(403);
  });
});

it('lets operators submit tasks to glance', async () => {
  const { admin, clock } = test;
  const input = { import_from: 'http://images.example/x', image_properties: { name: 'by-task' } };
  const made = await admin.request('POST', '/image/v2/tasks', { type: 'import', input });
  expect(made).toMatchObject({ status: 201, body: { status: 'pending' } });
  const second = await admin.request('POST', '/image/v2/tasks', { type: 'import', input: {} });
  await clock.advance(10_000);
  const done = await admin.request('GET', `/image/v2/tasks/${read(made, 'id')}`);
  expect(done.body).toMatchObject({ status: 'success', result: { image_id: expect.any(String) } });
  expect((await admin.request('GET', `/image/v2/tasks/${read(second, 'id')}`)).body).toMatchObject({
    status: 'failure',
  });
  const page = await admin.request('GET', '/image/v2/tasks?limit=1');
  expect(read<Json[]>(page, 'tasks')).toHaveLength(1);
  const next = await admin.request('GET', `/image${read(page, 'next')}`);
  expect(read<Json[]>(next, 'tasks')).toHaveLength(1);
  expect((await owner.request('GET', '/image/v2/tasks')).status).toBe(403);
});

describe('import', () => {
  const image = async (id: string): Promise<Json> =>
    (await owner.request('GET', `/image/v2/images/${id}`)).body as Json;

  it('uses the staged content', async () => {
    const id = await make();
    const path = `/image/v2/images/${id}`;
    const direct = { method: { name: 'glance-direct' } };
    expect((await owner.request('POST', `${path}/import`, direct)).status).toBe(409);
    const bytes = { 'content-type': 'application/octet-stream' };
    expect((await owner.request('PUT', `${path}/stage`, 'abc', bytes)).status).toBe(204);
    expect(await image(id)).toMatchObject({ status: 'uploading' });
    expect((await owner.request('POST', `${path}/import`, direct)).status).toBe(202);
    expect(await image(id)).toMatchObject({ status: 'importing' });
    await test.clock.advance(3000);
    expect(await image(id)).toMatchObject({ status: 'active', size: 3 });
  });

  it('simulates the download and serves every method it names', async () => {
    const id = await make();
    const uri = 'http://images.example/x.img';
    const post = (method: Json) => owner.request('POST', `/image/v2/images/${id}/import`, { method });
    expect((await post({ name: 'web-download', uri: 'file:///etc/passwd' })).status).toBe(400);
    expect((await post({ name: 'nonsense' })).status).toBe(400);
    expect((await post({ name: 'web-download', uri })).status).toBe(202);
    await test.clock.advance(3000);
    expect(await image(id)).toMatchObject({ status: 'active' });
    const info = await owner.request('GET', '/image/v2/info/import');
    expect((info.body as { 'import-methods': { value: string[] } })['import-methods'].value).toEqual([
      'glance-direct',
      'web-download',
    ]);
    expect((await owner.request('GET', '/image/v2/info/stores')).body).toMatchObject({ stores: [{ id: 'fs' }] });
  });
});
