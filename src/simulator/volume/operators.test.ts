import { describe, expect, it } from 'vitest';
import { read, type TestTenant, testTenant } from '../testing/test-tenant.ts';

type Json = Record<string, unknown>;

async function stage() {
  const tenant = await testTenant();
  const admin = (method: string, path: string, body?: unknown, version = '3.0') =>
    tenant.admin.request(method, `/volume/v3/${tenant.admin.projectId}${path}`, body, {
      'openstack-api-version': `volume ${version}`,
    });
  const makeType = async (wanted: Json): Promise<string> =>
    read(await admin('POST', '/types', { volume_type: wanted }), 'volume_type.id');
  const makeVolume = async (wanted: Json = {}): Promise<string> => {
    const id = read(
      await tenant.cinder('POST', '/volumes', { volume: { size: 2, name: 'v', ...wanted } }),
      'volume.id',
    );
    await tenant.clock.advance(3000);
    return id;
  };
  const volume = async (id: string): Promise<Json> => read(await tenant.cinder('GET', `/volumes/${id}`), 'volume');
  const act = (id: string, body: Json, version?: string) =>
    tenant.cinder('POST', `/volumes/${id}/action`, body, version);
  return { ...tenant, adminCinder: admin, makeType, makeVolume, volume, act };
}

describe('volume types', () => {
  it('are changed, with their properties one by one', async () => {
    const { adminCinder, makeType, cinder } = await stage();
    const id = await makeType({ name: 'fast', extra_specs: { a: '1' } });
    expect((await adminCinder('POST', '/types', { volume_type: { name: 'fast' } })).status).toBe(409);
    expect(await adminCinder('PUT', `/types/${id}`, { volume_type: { name: 'faster' } })).toMatchObject({
      status: 200,
      body: { volume_type: { name: 'faster' } },
    });
    expect((await cinder('PUT', `/types/${id}`, { volume_type: { name: 'x' } })).status).toBe(403);
    expect(await adminCinder('POST', `/types/${id}/extra_specs`, { extra_specs: { b: '2' } })).toMatchObject({
      status: 200,
      body: { extra_specs: { b: '2' } },
    });
    expect((await adminCinder('PUT', `/types/${id}/extra_specs/b`, { b: '3' })).body).toEqual({ b: '3' });
    expect((await adminCinder('PUT', `/types/${id}/extra_specs/b`, { c: '3' })).status).toBe(400);
    expect((await adminCinder('GET', `/types/${id}/extra_specs/b`)).body).toEqual({ b: '3' });
    expect((await adminCinder('DELETE', `/types/${id}/extra_specs/a`)).status).toBe(202);
    expect((await adminCinder('GET', `/types/${id}/extra_specs`)).body).toEqual({ extra_specs: { b: '3' } });
  });

  it('keep the default type when an operator renames it', async () => {
    const { adminCinder, cinder } = await stage();
    const { id } = read<{ id: string }>(await adminCinder('GET', '/types/default'), 'volume_type');
    expect((await adminCinder('PUT', `/types/${id}`, { volume_type: { name: 'renamed' } })).status).toBe(200);
    expect(await cinder('GET', '/types/default')).toMatchObject({ status: 200, body: { volume_type: { id } } });
    expect(await cinder('POST', '/volumes', { volume: { size: 1 } })).toMatchObject({
      status: 202,
      body: { volume: { volume_type: 'renamed' } },
    });
    expect((await adminCinder('DELETE', `/types/${id}`)).status).toBe(400);
  });

  it('are visible only to projects with access when they are private', async () => {
    const { adminCinder, makeType, cinder, user } = await stage();
    const id = await makeType({ name: 'secret', 'os-volume-type-access:is_public': false });
    const names = async () =>
      read<{ name: string }[]>(await cinder('GET', '/types'), 'volume_types').map(({ name }) => name);
    expect(await names()).not.toContain('secret');
    expect((await cinder('GET', `/types/${id}`)).status).toBe(404);
    const body = { volume: { size: 1, volume_type: 'secret' } };
    expect((await cinder('POST', '/volumes', body)).status).toBe(404);
    const access = { addProjectAccess: { project: user.projectId } };
    expect((await adminCinder('POST', `/types/${id}/action`, access)).status).toBe(202);
    expect((await adminCinder('POST', `/types/${id}/action`, access)).status).toBe(409);
    expect(await names()).toContain('secret');
    expect((await cinder('POST', '/volumes', body)).status).toBe(202);
    expect((await adminCinder('GET', `/types/${id}/os-volume-type-access`)).body).toEqual({
      volume_type_access: [{ volume_type_id: id, project_id: user.projectId }],
    });
    const removal = { removeProjectAccess: { project: user.projectId } };
    expect((await adminCinder('POST', `/types/${id}/action`, removal)).status).toBe(202);
    expect(await names()).not.toContain('secret');
  });

  it('carry encryption and QoS', async () => {
    const { adminCinder, makeType } = await stage();
    const id = await makeType({ name: 'fast' });
    const encryption = { provider: 'luks', cipher: 'aes-xts-plain64', key_size: 256 };
    const made = await adminCinder('POST', `/types/${id}/encryption`, { encryption });
    expect(made.body).toMatchObject({ encryption: { volume_type_id: id, control_location: 'front-end' } });
    const encryptionId = read(made, 'encryption.encryption_id');
    await adminCinder('PUT', `/types/${id}/encryption/${encryptionId}`, { encryption: { key_size: 128 } });
    expect((await adminCinder('GET', `/types/${id}/encryption/key_size`)).body).toEqual({ key_size: 128 });
    expect((await adminCinder('DELETE', `/types/${id}/encryption/${encryptionId}`)).status).toBe(202);
    expect((await adminCinder('GET', `/types/${id}/encryption`)).body).toEqual({});
    const specs = await adminCinder('POST', '/qos-specs', { qos_specs: { name: 'q', total_iops_sec: '100' } });
    expect(specs.body).toMatchObject({ qos_specs: { consumer: 'back-end', specs: { total_iops_sec: '100' } } });
    const qos = read(specs, 'qos_specs.id');
    expect((await adminCinder('GET', `/qos-specs/${qos}/associate?vol_type_id=${id}`)).status).toBe(202);
    expect((await adminCinder('DELETE', `/qos-specs/${qos}`)).status).toBe(400);
    expect((await adminCinder('GET', `/qos-specs/${qos}/associations`)).body).toEqual({
      qos_associations: [{ association_type: 'volume_type', name: 'fast', id }],
    });
    expect((await adminCinder('GET', `/qos-specs/${qos}/disassociate_all`)).status).toBe(202);
    expect((await adminCinder('PUT', `/qos-specs/${qos}/delete_keys`, { keys: ['total_iops_sec'] })).status).toBe(202);
    expect((await adminCinder('DELETE', `/qos-specs/${qos}`)).status).toBe(202);
  });
});

describe('a multi-attach volume', () => {
  it('is defined by its type and attaches to several servers', async () => {
    const tenant = await stage();
    const { makeType, makeVolume, makeServer, nova, volume, clock } = tenant;
    await makeType({ name: 'many', extra_specs: { multiattach: '<is> True' } });
    const id = await makeVolume({ volume_type: 'many' });
    expect(await volume(id)).toMatchObject({ multiattach: true });
    const servers = [await makeServer(), await makeServer()];
    await clock.advance(3000);
    const attach = (server: string) =>
      nova('POST', `/servers/${server}/os-volume_attachments`, { volumeAttachment: { volumeId: id } });
    for (const server of servers) {
      expect((await attach(server)).status).toBe(200);
      await clock.advance(3000);
    }
    expect(read<unknown[]>({ ...(await tenant.cinder('GET', `/volumes/${id}`)) }, 'volume.attachments')).toHaveLength(
      2,
    );
    await nova('DELETE', `/servers/${servers[0]}/os-volume_attachments/${id}`);
    await clock.advance(3000);
    expect(await volume(id)).toMatchObject({ status: 'in-use', attachments: [{ server_id: servers[1] }] });
  });
});

describe('snapshots', () => {
  const withSnapshot = async () => {
    const tenant = await stage();
    const volumeId = await tenant.makeVolume();
    const made = await tenant.cinder('POST', '/snapshots', { snapshot: { volume_id: volumeId, name: 's' } });
    await tenant.clock.advance(1000);
    return { ...tenant, id: read(made, 'snapshot.id') };
  };

  it('are renamed and have metadata', async () => {
    const { cinder, id } = await withSnapshot();
    expect(await cinder('PUT', `/snapshots/${id}`, { snapshot: { name: 't' } })).toMatchObject({
      status: 200,
      body: { snapshot: { name: 't' } },
    });
    const path = `/snapshots/${id}/metadata`;
    expect((await cinder('POST', path, { metadata: { a: '1' } })).body).toEqual({ metadata: { a: '1' } });
    expect((await cinder('PUT', `${path}/b`, { meta: { b: '2' } })).body).toEqual({ meta: { b: '2' } });
    expect((await cinder('GET', `${path}/b`)).body).toEqual({ meta: { b: '2' } });
    expect((await cinder('PUT', path, { metadata: { c: '3' } })).body).toEqual({ metadata: { c: '3' } });
    expect((await cinder('DELETE', `${path}/c`)).status).toBe(200);
    expect((await cinder('GET', `${path}/c`)).status).toBe(404);
  });

  it('are reset and force-deleted by operators', async () => {
    const { cinder, adminCinder, id, clock } = await withSnapshot();
    const act = (body: object) => adminCinder('POST', `/snapshots/${id}/action`, body);
    expect((await cinder('POST', `/snapshots/${id}/action`, { 'os-reset_status': { status: 'error' } })).status).toBe(
      403,
    );
    expect((await act({ 'os-reset_status': { status: 'creating' } })).status).toBe(202);
    expect((await act({ 'os-update_snapshot_status': { status: 'deleting' } })).status).toBe(400);
    expect((await act({ 'os-update_snapshot_status': { status: 'available' } })).status).toBe(202);
    expect((await act({ 'os-reset_status': { status: 'creating' } })).status).toBe(202);
    const report = { 'os-update_snapshot_status': { status: 'error', progress: '80%' } };
    expect((await cinder('POST', `/snapshots/${id}/action`, report)).status).toBe(202);
    expect((await cinder('POST', `/snapshots/${id}/action`, report)).body).toMatchObject({
      badRequest: { message: 'Snapshot status error not allowed for update_snapshot_status' },
    });
    expect((await act({ 'os-force_delete': {} })).status).toBe(202);
    await clock.advance(1000);
    expect((await cinder('GET', `/snapshots/${id}`)).status).toBe(404);
  });
});

describe('actions of volumes', () => {
  it('reserve, attach and detach the volume', async () => {
    const { makeVolume, act, volume } = await stage();
    const id = await makeVolume();
    expect((await act(id, { 'os-reserve': {} })).status).toBe(202);
    expect((await act(id, { 'os-reserve': {} })).status).toBe(400);
    expect((await act(id, { 'os-unreserve': {} })).status).toBe(202);
    expect(await volume(id)).toMatchObject({ status: 'available' });
    expect((await act(id, { 'os-attach': { host_name: 'h', mountpoint: '/mnt' } })).status).toBe(202);
    expect(await volume(id)).toMatchObject({ status: 'in-use', attachments: [{ device: '/mnt' }] });
    expect((await act(id, { 'os-begin_detaching': {} })).status).toBe(202);
    expect((await act(id, { 'os-roll_detaching': {} })).status).toBe(202);
    expect(await volume(id)).toMatchObject({ status: 'in-use' });
    expect((await act(id, { 'os-detach': {} })).status).toBe(202);
    expect(await volume(id)).toMatchObject({ status: 'available', attachments: [] });
  });

  it('overwrite the image metadata and re-image the volume', async () => {
    const { makeVolume, act, volume, imageId, clock } = await stage();
    const id = await makeVolume();
    expect((await act(id, { 'os-set_image_metadata': { metadata: { kind: 'x' } } })).body).toEqual({
      metadata: { kind: 'x' },
    });
    expect(await volume(id)).toMatchObject({ volume_image_metadata: { kind: 'x' } });
    expect((await act(id, { 'os-unset_image_metadata': { key: 'y' } })).status).toBe(404);
    const reimage = { 'os-reimage': { image_id: imageId } };
    expect((await act(id, reimage)).status).toBe(400);
    expect((await act(id, reimage, '3.68')).status).toBe(202);
    await clock.advance(3000);
    expect(await volume(id)).toMatchObject({
      status: 'available',
      bootable: 'true',
      volume_image_metadata: { image_id: imageId },
    });
  });

  it('create an image from the volume', async () => {
    const { makeVolume, act, volume, user, clock } = await stage();
    const id = await makeVolume();
    const made = await act(id, { 'os-volume_upload_image': { image_name: 'copy', disk_format: 'qcow2' } });
    expect(made).toMatchObject({ status: 202, body: { 'os-volume_upload_image': { status: 'uploading' } } });
    expect(await volume(id)).toMatchObject({ status: 'uploading' });
    await clock.advance(6000);
    expect(await volume(id)).toMatchObject({ status: 'available' });
    const image = `/image/v2/images/${read(made, 'os-volume_upload_image.image_id')}`;
    expect((await user.request('GET', image)).body).toMatchObject({
      name: 'copy',
      status: 'active',
      disk_format: 'qcow2',
      owner: user.projectId,
    });
  });
});

describe('attachments', () => {
  const attachments = async (tenant: Pick<TestTenant, 'cinder'>, path = '/attachments') =>
    read<Json[]>(await tenant.cinder('GET', path, undefined, '3.44'), 'attachments');

  it('attach a volume step by step', async () => {
    const tenant = await stage();
    const { makeVolume, volume, cinder } = tenant;
    const id = await makeVolume();
    const instance = '00000000-0000-4000-8000-000000000001';
    const body = { attachment: { volume_uuid: id, instance_uuid: instance } };
    expect((await cinder('POST', '/attachments', body)).status).toBe(404);
    const made = await cinder('POST', '/attachments', body, '3.44');
    expect(made).toMatchObject({ status: 200, body: { attachment: { status: 'reserved', instance } } });
    expect(await volume(id)).toMatchObject({ status: 'reserved', attachments: [] });
    expect((await cinder('POST', '/attachments', body, '3.44')).status).toBe(400);
    const path = `/attachments/${read(made, 'attachment.id')}`;
    await cinder('PUT', path, { attachment: { connector: { host: 'h', mountpoint: '/dev/vdb' } } }, '3.44');
    expect(await volume(id)).toMatchObject({ status: 'attaching' });
    expect((await cinder('POST', `${path}/action`, { 'os-complete': {} }, '3.44')).status).toBe(204);
    expect(await volume(id)).toMatchObject({ status: 'in-use', attachments: [{ device: '/dev/vdb' }] });
    expect(await attachments(tenant, `/attachments?volume_id=${id}`)).toMatchObject([{ status: 'attached' }]);
    expect(await attachments(tenant, '/attachments?instance_id=x')).toEqual([]);
    expect((await cinder('DELETE', path, undefined, '3.44')).status).toBe(200);
    expect(await volume(id)).toMatchObject({ status: 'available', attachments: [] });
  });
});

describe('the answer about a volume type', () => {
  const brief = ['description', 'extra_specs', 'id', 'is_public', 'name'];

  it('has the fields cinder returns on create, update and show', async () => {
    const { adminCinder } = await stage();
    const made = await adminCinder('POST', '/types', { volume_type: { name: 'fast' } });
    const type = read<Json>(made, 'volume_type');
    expect(Object.keys(type).sort()).toEqual([...brief, 'os-volume-type-access:is_public'].sort());
    const path = `/types/${type['id']}`;
    const changed = await adminCinder('PUT', path, { volume_type: { description: 'x' } });
    expect(Object.keys(read<Json>(changed, 'volume_type')).sort()).toEqual(brief);
    const shown = await adminCinder('GET', path);
    expect(Object.keys(read<Json>(shown, 'volume_type')).sort()).toEqual(
      [...brief, 'os-volume-type-access:is_public', 'qos_specs_id'].sort(),
    );
  });
});

describe('operators', () => {
  it('see the services and filter by name and host', async () => {
    const { adminCinder, cinder } = await stage();
    const services = read<Json[]>(await adminCinder('GET', '/os-services'), 'services');
    expect(services).toMatchObject([
      { binary: 'cinder-scheduler', host: 'simulated', status: 'enabled', state: 'up', disabled_reason: null },
      { binary: 'cinder-volume', host: 'simulated@pool', frozen: false, replication_status: 'disabled' },
    ]);
    for (const { updated_at: at } of services) expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000000$/);
    const chosen = async (query: string): Promise<unknown[]> =>
      read<Json[]>(await adminCinder('GET', `/os-services?${query}`), 'services').map(({ binary }) => binary);
    expect(await chosen('binary=cinder-volume')).toEqual(['cinder-volume']);
    expect(await chosen('host=simulated')).toEqual(['cinder-scheduler', 'cinder-volume']);
    expect(await chosen('host=simulated@pool')).toEqual(['cinder-volume']);
    expect(await chosen('binary=cinder-backup')).toEqual([]);
    expect((await cinder('GET', '/os-services')).status).toBe(403);
  });

  it('see the hosts with what is on them', async () => {
    const { adminCinder, makeVolume, user } = await stage();
    await makeVolume();
    expect(read<Json[]>(await adminCinder('GET', '/os-hosts'), 'hosts')).toMatchObject([
      {
        host_name: 'simulated',
        service: 'cinder-scheduler',
        'service-status': 'available',
        'service-state': 'enabled',
      },
      { host_name: 'simulated@pool', service: 'cinder-volume' },
    ]);
    const total = { volume_count: '1', total_volume_gb: '2', snapshot_count: '0', total_snapshot_gb: '0' };
    expect((await adminCinder('GET', '/os-hosts/simulated@pool')).body).toEqual({
      host: [
        { resource: { host: 'simulated@pool', project: '(total)', ...total } },
        { resource: { host: 'simulated@pool', project: user.projectId, ...total } },
      ],
    });
    expect((await adminCinder('GET', '/os-hosts/nowhere')).status).toBe(404);
  });

  it('see the capabilities of a backend', async () => {
    const { adminCinder, cinder } = await stage();
    expect((await adminCinder('GET', '/capabilities/simulated@pool')).body).toMatchObject({
      namespace: 'OS::Storage::Capabilities::simulated@pool',
      vendor_name: 'simulated',
      properties: { thin_provisioning: { type: 'boolean' } },
    });
    expect((await adminCinder('GET', '/capabilities/nowhere')).status).toBe(404);
    expect((await cinder('GET', '/capabilities/simulated@pool')).status).toBe(403);
  });

  it('change the default quotas of projects', async () => {
    const { adminCinder, cinder, user } = await stage();
    const path = '/os-quota-class-sets/default';
    expect((await adminCinder('GET', path)).body).toMatchObject({ quota_class_set: { id: 'default', volumes: 10 } });
    expect((await cinder('PUT', path, { quota_class_set: { volumes: 1 } })).status).toBe(403);
    expect(await adminCinder('PUT', path, { quota_class_set: { volumes: 1 } })).toMatchObject({
      status: 200,
      body: { quota_class_set: { volumes: 1, snapshots: 10 } },
    });
    const own = await cinder('GET', `/os-quota-sets/${user.projectId}`);
    expect(read(own, 'quota_set.volumes')).toBe(1);
    expect((await cinder('POST', '/volumes', { volume: { size: 1 } })).status).toBe(202);
    expect((await cinder('POST', '/volumes', { volume: { size: 1 } })).status).toBe(413);
  });
});

it('operators see the host of a volume', async () => {
  const { adminCinder, cinder } = await stage();
  expect(await adminCinder('GET', '/scheduler-stats/get_pools?detail=true')).toMatchObject({
    status: 200,
    body: { pools: [{ capabilities: { multiattach: true } }] },
  });
  expect((await cinder('GET', '/scheduler-stats/get_pools')).status).toBe(403);
});
