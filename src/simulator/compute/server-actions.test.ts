import { describe, expect, it } from 'vitest';
import type { Machine } from '../core/contracts.ts';
import { testTenant } from '../testing/test-tenant.ts';

async function running(options: Parameters<typeof testTenant>[0] = {}) {
  const tenant = await testTenant(options);
  const id = await tenant.makeServer();
  await tenant.clock.advance(3000);
  const act = (body: object, version?: string) => tenant.nova('POST', `/servers/${id}/action`, body, version);
  const status = async (): Promise<unknown> => (await tenant.server(id))['status'];
  return { ...tenant, id, act, status };
}

describe('server actions', () => {
  it.each<[object, string, string, object | undefined]>([
    [{ 'os-stop': null }, 'ACTIVE', 'SHUTOFF', { 'os-start': null }],
    [{ pause: null }, 'ACTIVE', 'PAUSED', { unpause: null }],
    [{ suspend: null }, 'ACTIVE', 'SUSPENDED', { resume: null }],
    [{ rescue: {} }, 'ACTIVE', 'RESCUE', { unrescue: null }],
    [{ shelve: null }, 'ACTIVE', 'SHELVED_OFFLOADED', { unshelve: null }],
    [{ reboot: { type: 'SOFT' } }, 'REBOOT', 'ACTIVE', undefined],
    [{ reboot: { type: 'hard' } }, 'HARD_REBOOT', 'ACTIVE', undefined],
  ])('changes the server: %j', async (action, during, after, back) => {
    const { act, status, clock } = await running();
    expect([200, 202]).toContain((await act(action)).status);
    expect(await status()).toBe(during);
    await clock.advance(5000);
    expect(await status()).toBe(after);
    if (!back) return;
    expect((await act(action)).status).toBe(409);
    expect((await act(back)).status).toBe(202);
    await clock.advance(5000);
    expect(await status()).toBe('ACTIVE');
  });

  it.each<[object, number, string]>([
    [{ 'os-start': null }, 409, 'while it is in vm_state active'],
    [{ bogus: null }, 400, 'There is no such action: bogus'],
    [{}, 400, 'Malformed request body'],
    [{ reboot: { type: 'x' } }, 400, "Invalid input for field/attribute type. Value: x. 'x' is not one of"],
    [{ 'os-resetState': { state: 'error' } }, 403, "Policy doesn't allow os_compute_api:os-admin-actions:reset_state"],
    [{ confirmResize: null }, 409, "Cannot 'confirmResize' instance"],
  ])('%j is refused with %i', async (action, status, message) => {
    const { act } = await running();
    const answer = await act(action);
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(message);
  });

  it('resizes in two steps or reverts', async () => {
    const { act, status, clock, server, id, largeFlavorId, nova, read } = await running();
    const used = async (): Promise<number> =>
      read<number>(await nova('GET', '/limits'), 'limits.absolute.totalCoresUsed');
    for (const last of [{ revertResize: null }, { confirmResize: null }]) {
      const wanted = { flavorRef: largeFlavorId, 'OS-DCF:diskConfig': 'AUTO' };
      expect((await act({ resize: wanted })).status).toBe(202);
      expect(await status()).toBe('RESIZE');
      await clock.advance(5000);
      expect(await status()).toBe('VERIFY_RESIZE');
      await act(last);
      await clock.advance(5000);
      expect(await status()).toBe('ACTIVE');
      const isKept = 'confirmResize' in last;
      expect(await server(id)).toMatchObject({
        flavor: { original_name: isKept ? 'large' : 'small' },
        'OS-DCF:diskConfig': 'AUTO',
      });
      expect(await used()).toBe(isKept ? 4 : 1);
    }
  });

  it('rebuilds the server from another image', async () => {
    const { act, status, clock, imageId } = await running();
    expect(await act({ rebuild: { imageRef: imageId, name: 'again' } })).toMatchObject({
      status: 202,
      body: { server: { name: 'again' } },
    });
    expect(await status()).toBe('REBUILD');
    await clock.advance(5000);
    expect(await status()).toBe('ACTIVE');
  });

  it('creates an image of the server', async () => {
    const { act, clock, user, read, id } = await running();
    const image = read(await act({ createImage: { name: 'snap' } }), 'image_id');
    expect(await user.request('GET', `/image/v2/images/${image}`)).toMatchObject({
      body: { status: 'queued', instance_uuid: id },
    });
    await clock.advance(6000);
    expect(await user.request('GET', `/image/v2/images/${image}`)).toMatchObject({
      body: { status: 'active', visibility: 'private' },
    });
  });

  it('locks the server against its own project', async () => {
    const { act, nova, id } = await running();
    await act({ lock: null });
    expect(await nova('DELETE', `/servers/${id}`)).toMatchObject({
      status: 409,
      body: { conflictingRequest: { message: `Instance ${id} is locked` } },
    });
    expect((await act({ 'os-stop': null })).status).toBe(409);
    await act({ unlock: null });
    expect((await act({ 'os-stop': null })).status).toBe(202);
  });

  it('shows the last lines of the console', async () => {
    const { act, cloud, id } = await running();
    expect((await act({ 'os-getConsoleOutput': {} })).body).toMatchObject({
      output: expect.stringContaining('Booting') as string,
    });
    cloud.operator.writeConsole(id, 'one\ntwo\nthree\n');
    expect((await act({ 'os-getConsoleOutput': { length: 2 } })).body).toEqual({ output: 'two\nthree\n' });
  });

  it('are listed with the newest first', async () => {
    const { act, nova, id, read, clock } = await running();
    await act({ 'os-stop': null });
    await clock.advance(2000);
    const actions = read<{ action: string }[]>(
      await nova('GET', `/servers/${id}/os-instance-actions`),
      'instanceActions',
    );
    expect(actions.map(({ action }) => action)).toEqual(['stop', 'create']);
  });
});

describe('parts of a server', () => {
  it('attaches and detaches interfaces while the server runs', async () => {
    const { nova, id, networkId, user, read, clock } = await running();
    const given = read(
      await user.request('POST', '/network/v2.0/ports', { port: { network_id: networkId } }),
      'port.id',
    );
    const base = `/servers/${id}/os-interface`;
    const attached = await nova('POST', base, { interfaceAttachment: { port_id: given } });
    expect(attached).toMatchObject({
      status: 200,
      body: { interfaceAttachment: { port_id: given, port_state: 'ACTIVE' } },
    });
    expect((await nova('POST', base, { interfaceAttachment: { port_id: given } })).status).toBe(409);
    const made = read(
      await nova('POST', base, { interfaceAttachment: { net_id: networkId } }),
      'interfaceAttachment.port_id',
    );
    for (const port of [given, made]) expect((await nova('DELETE', `${base}/${port}`)).status).toBe(202);
    await clock.advance(2000);
    expect(read<unknown[]>(await nova('GET', base), 'interfaceAttachments')).toHaveLength(1);
    expect(await user.request('GET', `/network/v2.0/ports/${given}`)).toMatchObject({
      body: { port: { device_id: '', status: 'DOWN' } },
    });
    expect((await user.request('GET', `/network/v2.0/ports/${made}`)).status).toBe(404);
  });

  it('attaches and detaches volumes while the server runs', async () => {
    const { nova, cinder, id, read, clock } = await running();
    const volume = read(await cinder('POST', '/volumes', { volume: { size: 1 } }), 'volume.id');
    const base = `/servers/${id}/os-volume_attachments`;
    const desired = { volumeAttachment: { volumeId: volume } };
    expect((await nova('POST', base, desired)).status).toBe(400);
    await clock.advance(1000);
    expect(await nova('POST', base, desired)).toMatchObject({
      status: 200,
      body: { volumeAttachment: { device: '/dev/sdb', volumeId: volume } },
    });
    expect(await cinder('GET', `/volumes/${volume}`)).toMatchObject({ body: { volume: { status: 'reserved' } } });
    await clock.advance(1000);
    expect(await cinder('GET', `/volumes/${volume}`)).toMatchObject({
      body: { volume: { status: 'in-use', attachments: [{ server_id: id }] } },
    });
    expect((await cinder('DELETE', `/volumes/${volume}`)).status).toBe(400);
    expect((await nova('DELETE', `${base}/${volume}`)).status).toBe(202);
    expect(await cinder('GET', `/volumes/${volume}`)).toMatchObject({ body: { volume: { status: 'detaching' } } });
    await clock.advance(1000);
    expect(await cinder('GET', `/volumes/${volume}`)).toMatchObject({
      body: { volume: { status: 'available', attachments: [] } },
    });
  });

  it('stores metadata and tags', async () => {
    const { nova, id } = await running();
    expect((await nova('POST', `/servers/${id}/metadata`, { metadata: { a: '1' } })).body).toEqual({
      metadata: { a: '1' },
    });
    expect((await nova('POST', `/servers/${id}/metadata`, { metadata: { b: '2' } })).body).toEqual({
      metadata: { a: '1', b: '2' },
    });
    expect((await nova('DELETE', `/servers/${id}/metadata/a`)).status).toBe(204);
    expect((await nova('DELETE', `/servers/${id}/metadata/a`)).body).toMatchObject({
      itemNotFound: { message: 'Metadata item was not found' },
    });
    expect((await nova('PUT', `/servers/${id}/tags/x`)).status).toBe(201);
    expect((await nova('PUT', `/servers/${id}/tags/x`)).status).toBe(204);
    expect((await nova('GET', `/servers/${id}/tags`)).body).toEqual({ tags: ['x'] });
    expect((await nova('GET', `/servers/${id}/tags`, undefined, '2.25')).status).toBe(404);
    expect((await nova('DELETE', `/servers/${id}/tags/x`)).status).toBe(204);
    expect((await nova('DELETE', `/servers/${id}/tags/x`)).body).toMatchObject({
      itemNotFound: { message: `Instance ${id} has no tag 'x'` },
    });
  });
});

describe('changes by operators', () => {
  it('are visible in the server', async () => {
    const { cloud, status, id, server, nova } = await running();
    cloud.operator.stopServer(id);
    expect(await status()).toBe('SHUTOFF');
    cloud.operator.startServer(id);
    expect(await status()).toBe('ACTIVE');
    cloud.operator.breakServer(id, 'disk on fire');
    expect(await server(id)).toMatchObject({ status: 'ERROR', fault: { message: 'disk on fire' } });
    cloud.operator.deleteServer(id);
    expect((await nova('GET', `/servers/${id}`)).status).toBe(404);
    expect(() => cloud.operator.deleteServer(id)).toThrow(`there is no server ${id}`);
  });

  it('can take floating IPs away', async () => {
    const { cloud, user, read, networkId, subnetId, id, nova, server } = await running();
    const networks = await user.request('GET', '/network/v2.0/networks?router:external=true');
    const external = read(networks, 'networks.0.id');
    const router = read(
      await user.request('POST', '/network/v2.0/routers', {
        router: { external_gateway_info: { network_id: external } },
      }),
      'router.id',
    );
    await user.request('PUT', `/network/v2.0/routers/${router}/add_router_interface`, { subnet_id: subnetId });
    const port = read(await nova('GET', `/servers/${id}/os-interface`), 'interfaceAttachments.0.port_id');
    const other = read(
      await user.request('POST', '/network/v2.0/ports', { port: { network_id: networkId } }),
      'port.id',
    );
    const floating = await user.request('POST', '/network/v2.0/floatingips', {
      floatingip: { floating_network_id: external, port_id: port },
    });
    const address = read(floating, 'floatingip.floating_ip_address');
    expect(JSON.stringify(await server(id))).toContain(address);
    cloud.operator.moveFloatingIp(address, other);
    expect(JSON.stringify(await server(id))).not.toContain(address);
    expect(await user.request('GET', `/network/v2.0/floatingips/${read(floating, 'floatingip.id')}`)).toMatchObject({
      body: { floatingip: { port_id: other } },
    });
    cloud.operator.moveFloatingIp(address, null);
    expect(() => cloud.operator.moveFloatingIp('172.24.4.250', null)).toThrow('there is no floating address');
  });
});

describe('faults of servers', () => {
  it.each<[string, string, object, string, string | undefined]>([
    [
      'no valid host',
      'server.schedule',
      { kind: 'error' },
      'ERROR',
      'No valid host was found. There are not enough hosts available.',
    ],
    ['a failing hypervisor', 'server.build', { kind: 'error', message: 'no space left' }, 'ERROR', 'no space left'],
    ['a build that never ends', 'server.build', { kind: 'stuck' }, 'BUILD', undefined],
    ['a slow build', 'server.build', { kind: 'slow', ms: 60_000 }, 'BUILD', undefined],
  ])('lead to the expected status: %s', async (_name, operation, effect, status, message) => {
    const { cloud, makeServer, server, clock } = await testTenant();
    cloud.operator.faults.set({ id: 'r', when: { operation, name: 'bad-*' }, effect: effect as { kind: 'stuck' } });
    const bad = await makeServer({ name: 'bad-1' });
    const good = await makeServer({ name: 'good' });
    await clock.advance(10_000);
    expect((await server(good))['status']).toBe('ACTIVE');
    const struck = await server(bad);
    expect(struck['status']).toBe(status);
    expect((struck['fault'] as { message: string } | undefined)?.message).toBe(message);
    await clock.advance(60_000);
    if ((effect as { kind: string }).kind === 'slow') expect((await server(bad))['status']).toBe('ACTIVE');
  });

  it('keep servers from being deleted', async () => {
    const { cloud, id, nova, clock, server, status } = await running();
    cloud.operator.faults.set({
      id: 'r',
      when: { operation: 'server.delete' },
      count: 1,
      effect: { kind: 'error', message: 'busy' },
    });
    await nova('DELETE', `/servers/${id}`);
    await clock.advance(5000);
    expect(await server(id)).toMatchObject({ status: 'ERROR', fault: { message: 'busy' } });
    await nova('DELETE', `/servers/${id}`);
    await clock.advance(5000);
    expect(await status().catch(() => 'gone')).toBe('gone');
  });

  it('report an exhausted quota', async () => {
    const { cloud, nova, flavorId, imageId } = await testTenant();
    cloud.operator.faults.set({
      id: 'r',
      when: { operation: 'server.quota' },
      count: 1,
      effect: { kind: 'over-quota' },
    });
    const server = { name: 's', flavorRef: flavorId, imageRef: imageId, networks: 'none' };
    expect((await nova('POST', '/servers', { server })).status).toBe(403);
    expect((await nova('POST', '/servers', { server })).status).toBe(202);
  });
});

describe('the machines behind the servers', () => {
  it('are told of every power change after it is stored', async () => {
    const told: string[] = [];
    const machines: Machine[] = [];
    const { act, clock, id, nova } = await running({
      machineHost: {
        powerOn: (machine, console) => {
          told.push('on');
          machines.push(machine);
          console.write('hello\n');
        },
        powerOff: (_id, reason) => void told.push(`off ${reason}`),
        removed: () => void told.push('removed'),
      },
    });
    expect(told).toEqual(['on']);
    expect(machines[0]).toMatchObject({
      id,
      name: 's',
      flavor: { vcpus: 1 },
      image: { name: 'ubuntu' },
      interfaces: [{ status: 'ACTIVE' }],
    });
    expect((await act({ 'os-getConsoleOutput': { length: 1 } })).body).toEqual({ output: 'hello\n' });
    await act({ reboot: { type: 'HARD' } });
    await clock.advance(5000);
    await act({ 'os-stop': null });
    await clock.advance(5000);
    await act({ 'os-start': null });
    await clock.advance(5000);
    await nova('DELETE', `/servers/${id}`);
    await clock.advance(5000);
    expect(told).toEqual(['on', 'off reboot', 'on', 'off stop', 'on', 'off delete', 'removed']);
  });

  it('get the user data unchanged', async () => {
    let given: Uint8Array | undefined;
    const { makeServer, clock } = await testTenant({
      machineHost: {
        powerOn: ({ userData }) => {
          given = userData;
        },
        powerOff: () => {},
        removed: () => {},
      },
    });
    await makeServer({ user_data: Buffer.from('#cloud-config\n').toString('base64') });
    await clock.advance(3000);
    expect(Buffer.from(given!).toString()).toBe('#cloud-config\n');
  });
});
