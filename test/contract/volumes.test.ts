import { expect, it } from 'vitest';
import { collect, type VolumeSpec } from '../../src/openstack/index.ts';
import { contract } from './support/contract.ts';
import { nobody, refused } from './support/refused.ts';
import { uniqueName } from './support/tenant.ts';
import { until, untilGone } from './support/wait.ts';

contract('volumes', (cloud) => {
  const volumes = () => cloud.member.volume.volumes;
  const create = (desired: Partial<VolumeSpec> = {}) =>
    volumes().create({ name: uniqueName('volume'), size: 1, ...desired });
  const available = (id: string) =>
    until(
      () => volumes().get(id),
      ({ status }) => status === 'available',
    );

  it('are created, available, and deleted', async () => {
    const made = await create({ description: 'd', metadata: { a: 'b' } });
    expect(made).toMatchObject({ status: 'creating', size: 1, bootable: false, attachments: [], metadata: { a: 'b' } });
    expect(await available(made.id)).toMatchObject({ description: 'd', multiattach: false, encrypted: false });
    expect((await volumes().find(made.name))?.id).toBe(made.id);
    expect(await volumes().delete(made.id)).toBe(true);
    await untilGone(() => volumes().get(made.id));
    expect(await volumes().delete(made.id)).toBe(false);
  });

  it('are filled from images', async () => {
    const made = await create({ imageId: cloud.world.image.id });
    expect((await available(made.id)).bootable).toBe(true);
  });

  it('can grow but not shrink', async () => {
    const { id } = await create();
    await available(id);
    await volumes().extend(id, 2);
    await until(
      () => volumes().get(id),
      ({ status, size }) => status === 'available' && size === 2,
    );
    await refused(volumes().extend(id, 2), {
      status: 400,
      says: 'New size for extend must be greater than current size.',
    });
  });

  it('can be changed', async () => {
    const { id } = await create();
    await available(id);
    expect(await volumes().update(id, { name: 'n', description: 'e' })).toMatchObject({ name: 'n', description: 'e' });
  });

  it('are listed with the newest first, in pages, filtered', async () => {
    const mark = uniqueName('mark');
    const first = await create({ metadata: { mark } });
    await available(first.id);
    const second = await create({ metadata: { mark } });
    await available(second.id);
    const ids = async (filter: Parameters<ReturnType<typeof volumes>['list']>[0], pageSize?: number) =>
      (await collect(volumes().list(filter, { pageSize }))).map(({ id }) => id);
    expect((await ids({ metadata: { mark } })).toSorted()).toEqual([first.id, second.id].toSorted());
    expect(await ids({ metadata: { mark }, sort: 'created_at:asc' }, 1)).toHaveLength(2);
    expect(await ids({ name: first.name })).toEqual([first.id]);
    expect(await ids({ name: first.name, status: 'error' })).toEqual([]);
  });

  it.each<[string, Partial<VolumeSpec>, number, string | RegExp]>([
    ['a size of nothing', { size: 0 }, 400, 'Invalid input for field/attribute size.'],
    ['an unknown type', { volumeType: 'nope' }, 404, 'Volume type with name nope could not be found.'],
    ['an unknown snapshot', { snapshotId: nobody, size: undefined }, 404, `Snapshot ${nobody} could not be found.`],
    ['an unknown source', { sourceVolumeId: nobody, size: undefined }, 404, `Volume ${nobody} could not be found.`],
    ['an unknown zone', { availabilityZone: 'nope' }, 400, "Availability zone 'nope' is invalid."],
    ['an unknown image', { imageId: nobody }, 400, 'Invalid image identifier or unable to access requested image.'],
  ])('refuse %s', async (_what, desired, status, says) => {
    await refused(create(desired), { status, says });
  });

  it('refuse nonsensical bodies and actions', async () => {
    const { service } = cloud.member.volume;
    await refused(service.request({ method: 'POST', path: '/volumes', json: {} }), {
      status: 400,
      says: "'volume' is a required property",
    });
    const { id } = await create();
    await available(id);
    await refused(service.request({ method: 'POST', path: `/volumes/${id}/action`, json: { bogus: {} } }), {
      status: 400,
      says: 'There is no such action: bogus.',
    });
    await refused(service.request({ method: 'GET', path: '/volumes', query: { limit: -1 } }), { status: 400 });
    await refused(service.request({ method: 'GET', path: '/volumes', query: { marker: 'nope' } }), {
      status: 404,
      says: 'Volume nope could not be found.',
    });
  });

  it('have types, one of them the default', async () => {
    const { types } = cloud.member.volume;
    const standard = await types.default();
    expect((await collect(types.list())).map(({ id }) => id)).toContain(standard.id);
    expect(await types.get(standard.id)).toEqual(standard);
    expect((await types.find(standard.name))?.id).toBe(standard.id);
    expect(await types.find('no such type')).toBeUndefined();
    const made = await create();
    expect(made.volumeType).toBe(standard.name);
    await available(made.id);
  });

  it('have zones and quotas', async () => {
    const zones = await cloud.member.volume.availabilityZones.list();
    expect(zones.length).toBeGreaterThan(0);
    const quotas = await cloud.member.volume.quotas(cloud.tenant.projectId);
    expect(quotas['volumes']).toMatchObject({ limit: 100, used: expect.any(Number) });
    expect(quotas['gigabytes']!.used).toBeGreaterThanOrEqual(quotas['volumes']!.used!);
  });

  it('of others are hidden', async () => {
    const made = await create();
    await available(made.id);
    const stranger = await cloud.stranger();
    await refused(stranger.cloud.volume.volumes.get(made.id), { status: 404 });
  });
});
