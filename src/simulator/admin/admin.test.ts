import { describe, expect, it } from 'vitest';
import { send, type TestAnswer } from '../testing/test-cloud.ts';
import { testTenant } from '../testing/test-tenant.ts';

async function operators() {
  const tenant = await testTenant();
  const admin = (method: string, path: string, body?: unknown): Promise<TestAnswer> =>
    send(tenant.cloud, method, `/_admin${path}`, {
      headers: { 'X-Admin-Token': tenant.cloud.secrets.adminToken },
      ...(body !== undefined && { body }),
    });
  return { ...tenant, operate: admin };
}

describe('the admin API', () => {
  it('refuses clients without a token of its own, even administrators of the cloud', async () => {
    const { cloud, admin } = await operators();
    expect((await send(cloud, 'GET', '/_admin/faults')).status).toBe(401);
    expect((await admin.request('GET', '/_admin/faults')).status).toBe(401);
  });

  it('lists its operations', async () => {
    const { operate } = await operators();
    expect(JSON.stringify((await operate('GET', '')).body)).toContain('POST /_admin/faults');
    expect((await operate('GET', '/nothing')).status).toBe(404);
    expect((await operate('PUT', '/faults')).status).toBe(405);
  });

  it('sets, shows and removes fault rules', async () => {
    const { operate, user } = await operators();
    const rule = { when: { service: 'compute' }, count: 1, effect: { kind: 'status', status: 503 } };
    expect((await operate('PUT', '/faults/down', rule)).status).toBe(204);
    expect((await user.request('GET', '/compute/v2.1/servers')).status).toBe(503);
    expect((await operate('GET', '/faults')).body).toMatchObject([{ rule: { id: 'down' }, seen: 1, struck: 1 }]);
    expect((await operate('DELETE', '/faults/down')).status).toBe(204);
    expect((await operate('DELETE', '/faults/down')).status).toBe(404);
    expect((await operate('POST', '/faults', { id: 'x', effect: { kind: 'bogus' } })).body).toMatchObject({
      error: expect.stringContaining('effect.kind') as string,
    });
    expect((await operate('POST', '/faults', '{bad')).status).toBe(400);
    await operate('POST', '/faults', { id: 'x', effect: { kind: 'stuck' } });
    await operate('DELETE', '/faults');
    expect((await operate('GET', '/faults')).body).toEqual([]);
  });

  it('changes how long operations take', async () => {
    const { operate, makeServer, clock, server } = await operators();
    const timings = { 'server.schedule': 0, 'server.network': 0, 'server.spawn': [60_000, 60_000] };
    expect((await operate('PATCH', '/timings', { timings })).status).toBe(204);
    const id = await makeServer();
    await clock.advance(59_000);
    expect((await server(id))['status']).toBe('BUILD');
    await clock.advance(1000);
    expect((await server(id))['status']).toBe('ACTIVE');
    expect((await operate('GET', '/timings')).body).toMatchObject({ timeScale: 1, timings: { 'server.schedule': 0 } });
    expect((await operate('PATCH', '/timings', { timings: { nope: 1 } })).body).toMatchObject({
      error: 'timings: there is no step "nope"',
    });
    expect((await operate('PATCH', '/timings', { timeScale: -1 })).status).toBe(400);
  });

  it('revokes all tokens or those of a project', async () => {
    const { operate, user, admin } = await operators();
    await operate('POST', '/tokens/expire', { project: user.projectId });
    expect((await user.request('GET', '/compute/v2.1/servers')).status).toBe(401);
    expect((await admin.request('GET', '/compute/v2.1/servers')).status).toBe(200);
    await operate('POST', '/tokens/expire');
    expect((await admin.request('GET', '/compute/v2.1/servers')).status).toBe(401);
  });

  it('does to servers what operators do', async () => {
    const { operate, makeServer, clock, server, nova } = await operators();
    const id = await makeServer();
    await clock.advance(3000);
    expect((await operate('POST', `/servers/${id}/stop`)).status).toBe(204);
    expect((await server(id))['status']).toBe('SHUTOFF');
    expect((await operate('POST', `/servers/${id}/stop`)).status).toBe(404);
    await operate('POST', `/servers/${id}/start`);
    await operate('POST', `/servers/${id}/console`, { text: 'kernel panic\n' });
    const log = await nova('POST', `/servers/${id}/action`, { 'os-getConsoleOutput': {} });
    expect(log.body).toMatchObject({ output: expect.stringContaining('kernel panic') as string });
    expect((await operate('POST', `/servers/${id}/break`, {})).status).toBe(400);
    await operate('POST', `/servers/${id}/break`, { message: 'gone bad' });
    expect((await server(id))['fault']).toMatchObject({ message: 'gone bad' });
    await operate('DELETE', `/servers/${id}`);
    expect((await nova('GET', `/servers/${id}`)).status).toBe(404);
  });

  it('changes quotas and hosts', async () => {
    const { operate, user, nova, makeServer, server, clock } = await operators();
    await operate('PATCH', `/quotas/compute/${user.projectId}`, { instances: 3 });
    expect(await nova('GET', '/limits')).toMatchObject({ body: { limits: { absolute: { maxTotalInstances: 3 } } } });
    expect((await operate('PATCH', `/quotas/compute/${user.projectId}`, { instances: 'x' })).status).toBe(400);
    expect((await operate('PATCH', `/quotas/bogus/${user.projectId}`, {})).status).toBe(404);
    for (const host of ['host-1', 'host-2']) await operate('PATCH', `/hosts/${host}`, { up: false });
    const id = await makeServer();
    await clock.advance(3000);
    expect((await server(id))['OS-EXT-AZ:availability_zone']).toBe('az2');
    expect((await operate('PATCH', '/hosts/nope', {})).status).toBe(404);
  });

  it('counts requests', async () => {
    const { operate, user } = await operators();
    await operate('DELETE', '/requests');
    await user.request('GET', '/image/v2/images');
    expect((await operate('GET', '/requests')).body).toEqual({ image: { GET: 1 } });
  });
});
