import { describe, expect, it } from 'vitest';
import { read, testTenant } from '../testing/test-tenant.ts';

const missing = '00000000-0000-4000-8000-000000000000';

async function withVolume(desired: object = {}) {
  const tenant = await testTenant();
  const made = await tenant.cinder('POST', '/volumes', { volume: { size: 2, name: 'v', ...desired } });
  const id = read(made, 'volume.id');
  const volume = async (): Promise<Record<string, unknown>> =>
    read(await tenant.cinder('GET', `/volumes/${id}`), 'volume');
  return { ...tenant, made, id, volume };
}

describe('a volume', () => {
  it('is creating, then available, and disappears when it is deleted', async () => {
    const { made, volume, clock, cinder, id } = await withVolume();
    expect(made).toMatchObject({
      status: 202,
      headers: { 'openstack-api-version': 'volume 3.0' },
      body: {
        volume: {
          status: 'creating',
          bootable: 'false',
          volume_type: '__DEFAULT__',
          availability_zone: 'nova',
          attachments: [],
        },
      },
    });
    await clock.advance(1000);
    expect(await volume()).toMatchObject({ status: 'available' });
    expect((await cinder('DELETE', `/volumes/${id}`)).status).toBe(202);
    expect(await volume()).toMatchObject({ status: 'deleting' });
    expect((await cinder('DELETE', `/volumes/${id}`)).status).toBe(400);
    await clock.advance(1000);
    expect(await cinder('GET', `/volumes/${id}`)).toMatchObject({
      status: 404,
      body: { itemNotFound: { message: `Volume ${id} could not be found.` } },
    });
  });

  it('made from an image can be booted from and knows its image', async () => {
    const tenant = await testTenant();
    const id = read(
      await tenant.cinder('POST', '/volumes', { volume: { size: 1, imageRef: tenant.imageId } }),
      'volume.id',
    );
    await tenant.clock.advance(300);
    await tenant.clock.advance(5000);
    expect(await tenant.cinder('GET', `/volumes/${id}`)).toMatchObject({
      body: {
        volume: {
          status: 'available',
          bootable: 'true',
          volume_image_metadata: { image_id: tenant.imageId, image_name: 'ubuntu', min_disk: '0' },
        },
      },
    });
  });

  it('grows within the quota', async () => {
    const { cinder, id, clock, volume, cloud, user } = await withVolume();
    await clock.advance(1000);
    const extend = (size: unknown) => cinder('POST', `/volumes/${id}/action`, { 'os-extend': { new_size: size } });
    expect((await extend(2)).body).toMatchObject({
      badRequest: {
        message:
          'Invalid input received: New size for extend must be greater than current size. (current: 2, extended: 2).',
      },
    });
    cloud.operator.setQuota('volume', user.projectId, { gigabytes: 5 });
    expect(await extend(9)).toMatchObject({
      status: 413,
      headers: { 'retry-after': '0' },
      body: {
        overLimit: {
          message:
            'VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. Requested 7G, quota is 5G and 2G has been consumed.',
          retryAfter: '0',
        },
      },
    });
    expect((await extend(4)).status).toBe(202);
    expect(await volume()).toMatchObject({ status: 'extending', size: 2 });
    await clock.advance(1000);
    expect(await volume()).toMatchObject({ status: 'available', size: 4 });
  });

  it('cannot be deleted while it has snapshots', async () => {
    const { cinder, id, clock } = await withVolume();
    await clock.advance(1000);
    const snapshot = read(
      await cinder('POST', '/snapshots', { snapshot: { volume_id: id, name: 's' } }),
      'snapshot.id',
    );
    await clock.advance(1000);
    expect((await cinder('DELETE', `/volumes/${id}`)).status).toBe(400);
    const copy = await cinder('POST', '/volumes', { volume: { snapshot_id: snapshot } });
    expect(copy).toMatchObject({ status: 202, body: { volume: { size: 2, snapshot_id: snapshot } } });
    expect((await cinder('DELETE', `/snapshots/${snapshot}`)).status).toBe(202);
    await clock.advance(1000);
    expect((await cinder('GET', `/snapshots/${snapshot}`)).status).toBe(404);
    expect((await cinder('DELETE', `/volumes/${id}`)).status).toBe(202);
  });

  it.each<[object, number, string]>([
    [{}, 400, "'volume' is a required property"],
    [{ volume: {} }, 400, 'malformed or otherwise incorrect'],
    [{ volume: { size: 0 } }, 400, 'Invalid input for field/attribute size. Value: 0. 0 is less than the minimum of 1'],
    [{ volume: { size: 'x' } }, 400, "'x' does not match '^[0-9]+$'"],
    [{ volume: { size: 1, volume_type: 'nope' } }, 404, 'Volume type with name nope could not be found.'],
    [{ volume: { size: 1, availability_zone: 'nope' } }, 400, "Availability zone 'nope' is invalid."],
    [{ volume: { size: 1, imageRef: missing } }, 400, 'Invalid image identifier or unable to access requested image.'],
    [{ volume: { size: 1, snapshot_id: missing } }, 404, `Snapshot ${missing} could not be found.`],
    [{ volume: { size: 1, source_volid: missing } }, 404, `Volume ${missing} could not be found.`],
  ])('cannot be created from %j', async (body, status, message) => {
    const { cinder } = await testTenant();
    const answer = await cinder('POST', '/volumes', body);
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(JSON.stringify(message).slice(1, -1));
  });

  it.each<[string, object, string]>([
    ['volume.create', { kind: 'stuck' }, 'creating'],
    ['volume.create', { kind: 'error' }, 'error'],
    ['volume.delete', { kind: 'stuck' }, 'deleting'],
    ['volume.delete', { kind: 'error' }, 'error_deleting'],
  ])('follows fault rules: %s %j', async (operation, effect, status) => {
    const { clock, cinder, id, volume, cloud } = await withVolume();
    cloud.operator.faults.set({ id: 'r', when: { operation }, effect: effect as { kind: 'stuck' } });
    await clock.advance(1000);
    if (operation === 'volume.delete') await cinder('DELETE', `/volumes/${id}`);
    await clock.advance(1000);
    expect((await volume())['status']).toBe(status);
    cloud.operator.setVolumeStatus(id, 'available');
    expect((await volume())['status']).toBe('available');
  });

  it('stores metadata', async () => {
    const { cinder, id } = await withVolume({ metadata: { a: '1' } });
    expect((await cinder('POST', `/volumes/${id}/metadata`, { metadata: { b: '2' } })).body).toEqual({
      metadata: { a: '1', b: '2' },
    });
    expect((await cinder('DELETE', `/volumes/${id}/metadata/a`)).status).toBe(200);
    expect((await cinder('GET', `/volumes/${id}/metadata`)).body).toEqual({ metadata: { b: '2' } });
    expect((await cinder('DELETE', `/volumes/${id}/metadata/a`)).status).toBe(404);
  });
});

describe('lists of volumes', () => {
  it.each<[string, string[]]>([
    ['', ['c', 'b', 'a']],
    ['?name=b', ['b']],
    ['?name~=b', ['b']],
    ['?sort=name:asc', ['a', 'b', 'c']],
    ['?status=error', []],
    ['?metadata={"k":"v"}', ['a']],
    ['?all_tenants=1&limit=1', ['c']],
  ])('match the query "%s"', async (query, expected) => {
    const { cinder } = await testTenant();
    await cinder('POST', '/volumes', { volume: { size: 1, name: 'a', metadata: { k: 'v' } } });
    for (const name of ['b', 'c']) await cinder('POST', '/volumes', { volume: { size: 1, name } });
    const volumes = read<{ name: string }[]>(await cinder('GET', `/volumes${query}`), 'volumes');
    expect(volumes.map(({ name }) => name)).toEqual(expected);
  });

  it('are paged', async () => {
    const { cinder, user } = await testTenant();
    for (const name of ['a', 'b']) await cinder('POST', '/volumes', { volume: { size: 1, name } });
    const first = await cinder('GET', '/volumes/detail?limit=1');
    const id = read(first, 'volumes.0.id');
    expect(read(first, 'volumes_links.0.href')).toBe(
      `http://cloud.test/volume/v3/${user.projectId}/volumes/detail?limit=1&marker=${id}`,
    );
    expect((await cinder('GET', '/volumes?marker=nope')).body).toMatchObject({
      itemNotFound: { message: 'Volume nope could not be found.' },
    });
    expect((await cinder('GET', '/volumes?limit=-1')).body).toMatchObject({
      badRequest: { message: 'limit param must be positive' },
    });
  });
});

describe('other parts of cinder', () => {
  it('serve a project only below its own path', async () => {
    const { user } = await testTenant();
    expect((await user.request('GET', `/volume/v3/${'0'.repeat(32)}/volumes`)).status).toBe(400);
    expect((await user.request('GET', '/volume/v3/volumes')).status).toBe(404);
    const newest = { 'openstack-api-version': 'volume 3.67' };
    expect((await user.request('GET', '/volume/v3/volumes', undefined, newest)).status).toBe(200);
  });

  it('show types, zones, limits and quotas', async () => {
    const { cinder, user } = await testTenant();
    const types = read<{ name: string }[]>(await cinder('GET', '/types'), 'volume_types');
    expect(types.map(({ name }) => name)).toEqual(['__DEFAULT__', 'ssd']);
    expect(await cinder('GET', '/types/default')).toMatchObject({ body: { volume_type: { name: '__DEFAULT__' } } });
    expect((await cinder('GET', '/types/nope')).status).toBe(404);
    const zones = read<{ zoneName: string }[]>(await cinder('GET', '/os-availability-zone'), 'availabilityZoneInfo');
    expect(zones.map(({ zoneName }) => zoneName)).toEqual(['az2', 'nova']);
    await cinder('POST', '/volumes', { volume: { size: 3, volume_type: 'ssd' } });
    expect(await cinder('GET', '/limits')).toMatchObject({
      body: { limits: { absolute: { totalVolumesUsed: 1, totalGigabytesUsed: 3 } } },
    });
    expect(await cinder('GET', `/os-quota-sets/${user.projectId}?usage=True`)).toMatchObject({
      body: {
        quota_set: {
          volumes: { in_use: 1 },
          gigabytes_ssd: { in_use: 3, limit: -1 },
          volumes___DEFAULT__: { in_use: 0 },
        },
      },
    });
    expect((await cinder('GET', '/os-quota-sets/other')).status).toBe(403);
  });
});

describe('unusual requests', () => {
  it('are judged as cinder does', async () => {
    const { cinder, clock } = await testTenant();
    expect((await cinder('POST', '/volumes', { volume: { size: '0' } })).body).toMatchObject({
      badRequest: { message: 'Invalid input for field/attribute size. Value: 0. 0 is less than the minimum of 1' },
    });
    expect((await cinder('POST', '/snapshots', { snapshot: { volume_id: null } })).body).toMatchObject({
      itemNotFound: { message: 'Volume None could not be found.' },
    });
    const id = read(await cinder('POST', '/volumes', { volume: { size: 1 } }), 'volume.id');
    await clock.advance(3000);
    const flag = (readonly: unknown) =>
      cinder('POST', `/volumes/${id}/action`, { 'os-update_readonly_flag': { readonly } });
    expect((await flag(true)).status).toBe(202);
    expect(read(await cinder('GET', `/volumes/${id}`), 'volume.metadata.readonly')).toBe('True');
    expect((await flag('off')).status).toBe(202);
    expect(read(await cinder('GET', `/volumes/${id}`), 'volume.metadata.readonly')).toBe('False');
    expect((await flag('x')).status).toBe(400);
  });

  it('sort and skip snapshots in lists', async () => {
    const { cinder, clock } = await testTenant();
    const volume_id = read(await cinder('POST', '/volumes', { volume: { size: 1 } }), 'volume.id');
    await clock.advance(3000);
    for (const name of ['b', 'c', 'a']) {
      await cinder('POST', '/snapshots', { snapshot: { volume_id, name } });
      await clock.advance(3000);
    }
    const names = async (query: string): Promise<string[]> =>
      read<{ name: string }[]>(await cinder('GET', `/snapshots?${query}`), 'snapshots').map(({ name }) => name);
    expect(await names('sort=display_name:asc')).toEqual(['a', 'b', 'c']);
    expect(await names('sort=display_name:asc&offset=1')).toEqual(['b', 'c']);
    expect(await names('offset=5')).toEqual([]);
    expect((await cinder('GET', '/snapshots?sort_key=name')).status).toBe(400);
    expect((await cinder('GET', '/snapshots?offset=-1')).status).toBe(400);
  });
});
