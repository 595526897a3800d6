import { describe, expect, it } from 'vitest';
import { read, testTenant } from '../testing/test-tenant.ts';

type Json = Record<string, unknown>;

async function stage() {
  const tenant = await testTenant();
  const adminNova = (method: string, path: string, body?: unknown, version = '2.60') =>
    tenant.admin.request(method, `/compute/v2.1${path}`, body, { 'openstack-api-version': `compute ${version}` });
  const running = async (wanted: Json = {}): Promise<string> => {
    const id = await tenant.makeServer(wanted);
    await tenant.clock.advance(4000);
    return id;
  };
  const act = async (id: string, body: Json, version?: string) => {
    const answer = await tenant.nova('POST', `/servers/${id}/action`, body, version);
    await tenant.clock.advance(5000);
    return answer;
  };
  return { ...tenant, adminNova, running, act };
}

describe('a server that is powered off', () => {
  it('stays off when it is rebuilt and takes the settings of the request', async () => {
    const { running, act, server, imageId } = await stage();
    const id = await running();
    await act(id, { 'os-stop': null });
    const rebuild = { imageRef: imageId, name: 'again', description: 'new', 'OS-DCF:diskConfig': 'AUTO' };
    expect((await act(id, { rebuild }, '2.1')).status).toBe(400);
    expect((await act(id, { rebuild }, '2.19')).status).toBe(202);
    expect(await server(id)).toMatchObject({
      status: 'SHUTOFF',
      name: 'again',
      description: 'new',
      'OS-DCF:diskConfig': 'AUTO',
    });
    expect((await act(id, { rebuild: { imageRef: imageId, nonsense: 1 } })).status).toBe(400);
  });

  it('stays off when it is resized', async () => {
    const { running, act, server, largeFlavorId } = await stage();
    const id = await running();
    await act(id, { 'os-stop': null });
    await act(id, { resize: { flavorRef: largeFlavorId } });
    expect(await server(id)).toMatchObject({ status: 'VERIFY_RESIZE', 'OS-EXT-STS:power_state': 4 });
    await act(id, { confirmResize: null });
    expect(await server(id)).toMatchObject({ status: 'SHUTOFF' });
  });
});

describe('a server', () => {
  it('gets another host name from 2.90 on', async () => {
    const { running, nova } = await stage();
    const id = await running();
    const body = { server: { hostname: 'other' } };
    expect((await nova('PUT', `/servers/${id}`, body)).status).toBe(400);
    expect((await nova('PUT', `/servers/${id}`, body, '2.90')).body).toMatchObject({
      server: { 'OS-EXT-SRV-ATTR:hostname': 'other' },
    });
  });

  it('shows its addresses on one network', async () => {
    const { running, nova } = await stage();
    const id = await running();
    expect((await nova('GET', `/servers/${id}/ips/net`)).body).toMatchObject({ net: [{ version: 4 }] });
    expect((await nova('GET', `/servers/${id}/ips/other`)).status).toBe(404);
  });

  it('leaves an image when it is shelved, which is deleted when it is unshelved', async () => {
    const { running, act, server, user } = await stage();
    const id = await running();
    const images = async () => read<Json[]>(await user.request('GET', '/image/v2/images?name=s-shelved'), 'images');
    await act(id, { shelve: null });
    expect(await server(id)).toMatchObject({ status: 'SHELVED_OFFLOADED' });
    expect(await images()).toMatchObject([{ status: 'active', instance_uuid: id }]);
    await act(id, { unshelve: null });
    expect(await server(id)).toMatchObject({ status: 'ACTIVE' });
    expect(await images()).toEqual([]);
  });

  it('still lists its actions after its deletion, from 2.21 on', async () => {
    const { running, nova, clock } = await stage();
    const id = await running();
    await nova('DELETE', `/servers/${id}`);
    await clock.advance(3000);
    const path = `/servers/${id}/os-instance-actions`;
    const actions = read<Json[]>(await nova('GET', path, undefined, '2.21'), 'instanceActions');
    expect(actions.map(({ action }) => action)).toEqual(['delete', 'create']);
    expect((await nova('GET', path, undefined, '2.20')).status).toBe(404);
  });

  it('lists the actions of a period', async () => {
    const { running, act, nova, clock } = await stage();
    const id = await running();
    await clock.advance(10_000);
    const between = new Date(clock.now()).toISOString();
    await clock.advance(10_000);
    await act(id, { reboot: { type: 'HARD' } });
    const actions = async (filter: string) =>
      read<Json[]>(
        await nova('GET', `/servers/${id}/os-instance-actions?${filter}`, undefined, '2.66'),
        'instanceActions',
      ).map(({ action }) => action);
    expect(await actions(`changes-since=${between}`)).toEqual(['reboot']);
    expect(await actions(`changes-before=${between}`)).toEqual(['create']);
    expect((await nova('GET', `/servers/${id}/os-instance-actions?changes-since=soon`, undefined, '2.66')).status).toBe(
      400,
    );
  });

  it('has one volume swapped for another by an operator', async () => {
    const { running, nova, adminNova, cinder, clock } = await stage();
    const id = await running();
    const make = async () => read(await cinder('POST', '/volumes', { volume: { size: 1 } }), 'volume.id');
    const [old, next] = [await make(), await make()];
    await clock.advance(3000);
    await nova('POST', `/servers/${id}/os-volume_attachments`, { volumeAttachment: { volumeId: old } });
    await clock.advance(3000);
    const body = { volumeAttachment: { volumeId: next } };
    expect((await nova('PUT', `/servers/${id}/os-volume_attachments/${old}`, body)).status).toBe(403);
    expect((await adminNova('PUT', `/servers/${id}/os-volume_attachments/${old}`, body)).status).toBe(202);
    expect((await cinder('GET', `/volumes/${old}`)).body).toMatchObject({ volume: { status: 'available' } });
    expect((await cinder('GET', `/volumes/${next}`)).body).toMatchObject({ volume: { status: 'in-use' } });
    const keep = { volumeAttachment: { volumeId: next, delete_on_termination: true } };
    expect((await nova('PUT', `/servers/${id}/os-volume_attachments/${next}`, keep, '2.85')).status).toBe(202);
    const shown = await nova('GET', `/servers/${id}/os-volume_attachments/${next}`, undefined, '2.85');
    expect(shown.body).toMatchObject({ volumeAttachment: { delete_on_termination: true } });
  });
});

it('an empty public key is refused', async () => {
  const { nova } = await stage();
  expect(await nova('POST', '/os-keypairs', { keypair: { name: 'k', public_key: '' } })).toMatchObject({
    status: 400,
    body: { badRequest: { message: 'Keypair data is invalid: failed to generate fingerprint' } },
  });
});

it('extra specs of flavors are changed one by one', async () => {
  const { adminNova, flavorId } = await stage();
  const path = `/flavors/${flavorId}/os-extra_specs`;
  await adminNova('POST', path, { extra_specs: { a: '1' } });
  expect((await adminNova('PUT', `${path}/a`, { a: '2' })).body).toEqual({ a: '2' });
  expect((await adminNova('PUT', `${path}/a`, { b: '2' })).status).toBe(400);
  expect((await adminNova('GET', path)).body).toMatchObject({ extra_specs: { a: '2' } });
});

it('reads the body of key-value pairs before it looks for the object, and accepts one pair at a time', async () => {
  const { adminNova, nova, makeServer } = await stage();
  expect((await adminNova('POST', '/flavors/none/os-extra_specs', { extra_specs: { a: 1 } })).status).toBe(400);
  expect((await adminNova('POST', '/flavors/none/os-extra_specs', { extra_specs: { a: '1' } })).status).toBe(404);
  const path = `/servers/${await makeServer({ metadata: { a: '1' } })}/metadata`;
  expect((await nova('PUT', `${path}/a`, { meta: { a: '2', b: '3' } })).status).toBe(400);
  expect((await nova('GET', path)).body).toEqual({ metadata: { a: '1' } });
});

describe("images under nova's old image API", () => {
  it('are listed, shown and deleted until 2.35', async () => {
    const { nova, running } = await stage();
    const server = await running();
    const made = await nova('POST', `/servers/${server}/action`, { createImage: { name: 'snap' } }, '2.1');
    const path = `/images/${made.headers['location']!.split('/').at(-1)}`;
    expect((await nova('GET', path, undefined, '2.1')).body).toMatchObject({
      image: {
        name: 'snap',
        status: 'SAVING',
        progress: 25,
        metadata: { image_type: 'snapshot' },
        server: { id: server },
      },
    });
    const names = async (query: string): Promise<string[]> =>
      read<{ name: string }[]>(await nova('GET', `/images${query}`, undefined, '2.1'), 'images').map(
        ({ name }) => name,
      );
    expect(await names(`?server=${server}`)).toEqual(['snap']);
    expect(await names('/detail?type=snapshot&status=SAVING')).toEqual(['snap']);
    expect(await names('?name=nobody')).toEqual([]);
    expect(await names('?limit=1')).toEqual(['snap']);
    expect((await nova('GET', '/images?changes-since=x', undefined, '2.1')).status).toBe(400);
    expect((await nova('GET', path, undefined, '2.36')).status).toBe(404);
    expect((await nova('DELETE', path, undefined, '2.1')).status).toBe(204);
    expect((await nova('GET', path, undefined, '2.1')).body).toMatchObject({
      itemNotFound: { message: 'Image not found.' },
    });
  });

  it('have metadata that only their owner changes', async () => {
    const { nova, running, user } = await stage();
    const made = await nova('POST', `/servers/${await running()}/action`, { createImage: { name: 'snap' } }, '2.1');
    const path = `/images/${made.headers['location']!.split('/').at(-1)}/metadata`;
    const ask = (method: string, at: string, body?: Json) => nova(method, at, body, '2.1');
    expect((await ask('PUT', path, { metadata: { x: 'y' } })).body).toEqual({ metadata: { x: 'y' } });
    expect((await ask('POST', path, { metadata: { z: 'w' } })).body).toEqual({ metadata: { x: 'y', z: 'w' } });
    expect((await ask('PUT', `${path}/z`, { meta: { z: 'q' } })).body).toEqual({ meta: { z: 'q' } });
    expect((await ask('PUT', `${path}/z`, { meta: { a: 'q' } })).status).toBe(400);
    expect((await ask('GET', `${path}/z`)).body).toEqual({ meta: { z: 'q' } });
    expect((await ask('DELETE', `${path}/z`)).status).toBe(204);
    expect((await ask('DELETE', `${path}/z`)).status).toBe(404);
    expect((await ask('GET', `${path}/__proto__`)).status).toBe(404);
    const images = read<{ id: string; owner: string }[]>(await user.request('GET', '/image/v2/images'), 'images');
    const foreign = images.find(({ owner }) => owner !== user.projectId)!;
    expect((await ask('PUT', `/images/${foreign.id}/metadata`, { metadata: {} })).status).toBe(403);
    expect((await ask('DELETE', `/images/${foreign.id}`)).status).toBe(403);
  });
});

it('access to a flavor can be granted once and revoked once', async () => {
  const { adminNova, user } = await stage();
  const wanted = { name: 'own', ram: 1, vcpus: 1, disk: 1, 'os-flavor-access:is_public': false };
  const id = read(await adminNova('POST', '/flavors', { flavor: wanted }), 'flavor.id');
  const act = async (name: string) =>
    (await adminNova('POST', `/flavors/${id}/action`, { [name]: { tenant: user.projectId } })).status;
  expect(await act('removeTenantAccess')).toBe(404);
  expect(await act('addTenantAccess')).toBe(200);
  expect(await act('addTenantAccess')).toBe(409);
  expect(await act('removeTenantAccess')).toBe(200);
});

describe('operators', () => {
  it('group hosts into aggregates, which make zones', async () => {
    const { adminNova, nova } = await stage();
    const list = async () => read<Json[]>(await adminNova('GET', '/os-aggregates'), 'aggregates');
    const before = (await list()).length;
    const made = await adminNova('POST', '/os-aggregates', { aggregate: { name: 'a', availability_zone: 'fresh' } });
    const id = read<number>(made, 'aggregate.id');
    expect((await adminNova('POST', '/os-aggregates', { aggregate: { name: 'a' } })).status).toBe(409);
    const [host] = read<{ hypervisor_hostname: string }[]>(await adminNova('GET', '/os-hypervisors'), 'hypervisors');
    const act = (body: Json) => adminNova('POST', `/os-aggregates/${id}/action`, body);
    const add = { add_host: { host: host!.hypervisor_hostname } };
    expect((await act(add)).body).toMatchObject({ aggregate: { hosts: [host!.hypervisor_hostname] } });
    expect((await act(add)).status).toBe(409);
    const zones = read<{ zoneName: string }[]>(await nova('GET', '/os-availability-zone'), 'availabilityZoneInfo');
    expect(zones.map(({ zoneName }) => zoneName)).toContain('fresh');
    expect((await act({ set_metadata: { metadata: { ssd: 'true' } } })).body).toMatchObject({
      aggregate: { metadata: { ssd: 'true', availability_zone: 'fresh' } },
    });
    expect((await act({ set_metadata: { metadata: { ssd: null } } })).body).toMatchObject({
      aggregate: { metadata: { availability_zone: 'fresh' } },
    });
    expect((await adminNova('DELETE', `/os-aggregates/${id}`)).status).toBe(400);
    expect((await act({ remove_host: { host: host!.hypervisor_hostname } })).status).toBe(200);
    expect((await adminNova('PUT', `/os-aggregates/${id}`, { aggregate: { name: 'b' } })).body).toMatchObject({
      aggregate: { name: 'b' },
    });
    expect((await adminNova('DELETE', `/os-aggregates/${id}`)).status).toBe(200);
    expect(await list()).toHaveLength(before);
    expect((await nova('GET', '/os-aggregates')).status).toBe(403);
  });

  it('see services and hypervisors with numbers, and from 2.53 on with UUIDs', async () => {
    const { adminNova, running } = await stage();
    await running();
    const services = async (query: string, version: string) =>
      read<Json[]>(await adminNova('GET', `/os-services${query}`, undefined, version), 'services');
    const [numbered] = await services('?binary=nova-compute', '2.1');
    const [named] = await services('?binary=nova-compute', '2.53');
    expect(numbered!['id']).toEqual(expect.any(Number));
    expect(named!['id']).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    const host = String(named!['host']);
    expect(await services(`?host=${host}`, '2.53')).toEqual([named]);
    const get = async (path: string, version: string) => adminNova('GET', `/os-hypervisors${path}`, undefined, version);
    const found = read<Json[]>(await get('/detail?with_servers=true', '2.53'), 'hypervisors');
    expect(found.map(({ servers }) => servers).filter(Boolean)).toHaveLength(1);
    const own = found.find((each) => each['hypervisor_hostname'] === host)!;
    expect(own['service']).toEqual({ id: named!['id'], host, disabled_reason: null });
    expect((await get(`/${String(own['id'])}`, '2.53')).body).toMatchObject({ hypervisor: { id: own['id'] } });
    expect(read<Json[]>(await get(`?hypervisor_hostname_pattern=${host}`, '2.53'), 'hypervisors')).toHaveLength(1);
    expect((await get('?hypervisor_hostname_pattern=nobody', '2.53')).status).toBe(404);
    const [older] = read<Json[]>(await get(`/${host}/search`, '2.1'), 'hypervisors');
    expect((await get(`/${String(older!['id'])}`, '2.1')).body).toMatchObject({
      hypervisor: { id: older!['id'], cpu_info: '{}', hypervisor_hostname: host },
    });
    expect((await get(`/${host}/search`, '2.53')).status).toBe(404);
    expect((await get('/detail', '2.88')).body).not.toHaveProperty('hypervisors.0.vcpus');
    expect((await get('/0', '2.1')).status).toBe(404);
  });

  it('see hypervisors, machines and migrations', async () => {
    const { adminNova, running, nova } = await stage();
    const id = await running();
    expect((await adminNova('GET', '/os-hypervisors/statistics')).body).toMatchObject({
      hypervisor_statistics: { running_vms: 1 },
    });
    expect((await adminNova('GET', '/os-hypervisors/statistics', undefined, '2.88')).status).toBe(404);
    expect((await adminNova('GET', `/servers/${id}/diagnostics`)).body).toMatchObject({ state: 'running' });
    expect((await nova('GET', `/servers/${id}/diagnostics`)).status).toBe(403);
    expect((await adminNova('POST', `/servers/${id}/action`, { migrate: null })).status).toBe(202);
    expect((await adminNova('GET', `/os-migrations?instance_uuid=${id}`)).body).toMatchObject({
      migrations: [{ instance_uuid: id, migration_type: 'migration' }],
    });
    const screen = { remote_console: { protocol: 'vnc', type: 'novnc' } };
    expect((await nova('POST', `/servers/${id}/remote-consoles`, screen)).body).toMatchObject({
      remote_console: { type: 'novnc', url: expect.stringContaining('token=') },
    });
    expect((await nova('GET', '/extensions/os-aggregates')).body).toMatchObject({
      extension: { alias: 'os-aggregates' },
    });
    expect((await nova('GET', '/extensions/nonsense')).status).toBe(404);
  });
});

it("security groups are served by nova's old API until 2.35", async () => {
  const { nova, user } = await stage();
  const groups = (method: string, path = '', body?: unknown) =>
    nova(method, `/os-security-groups${path}`, body, '2.35');
  expect((await groups('GET')).body).toMatchObject({ security_groups: [{ name: 'default' }] });
  expect((await nova('GET', '/os-security-groups', undefined, '2.36')).status).toBe(404);
  const id = read(await groups('POST', '', { security_group: { name: 'g', description: 'd' } }), 'security_group.id');
  const rule = { parent_group_id: id, ip_protocol: 'tcp', from_port: 22, to_port: 22, cidr: '10.0.0.0/8' };
  const made = await nova('POST', '/os-security-group-rules', { security_group_rule: rule }, '2.35');
  expect(made.body).toMatchObject({ security_group_rule: { from_port: 22, ip_range: { cidr: '10.0.0.0/8' } } });
  const again = await nova('POST', '/os-security-group-rules', { security_group_rule: rule }, '2.35');
  expect(again.status).toBe(400);
  expect((await groups('PUT', `/${id}`, { security_group: { name: 'h' } })).body).toMatchObject({
    security_group: { name: 'h', rules: [{ ip_protocol: 'tcp' }] },
  });
  const shown = await user.request('GET', `/network/v2.0/security-groups/${id}`);
  expect(shown.body).toMatchObject({ security_group: { name: 'h' } });
  const ruleId = read(made, 'security_group_rule.id');
  expect((await nova('DELETE', `/os-security-group-rules/${ruleId}`, undefined, '2.35')).status).toBe(202);
  expect((await groups('DELETE', `/${id}`)).status).toBe(202);
  expect((await groups('GET', `/${id}`)).status).toBe(404);
});
