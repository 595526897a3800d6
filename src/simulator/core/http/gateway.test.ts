import { describe, expect, it } from 'vitest';
import { send, testCloud } from '../../testing/test-cloud.ts';
import type { FaultEffect, FaultSelector } from '../faults/rule.ts';
import { ConnectionBroken } from './gateway.ts';

const keyPair = { keypair: { name: 'k', public_key: 'ssh-rsa AAAAB3NzaC1yc2E=' } };

async function faulty(effect: FaultEffect, when: FaultSelector = { method: 'POST', path: '*os-keypairs' }) {
  const test = await testCloud();
  const user = await test.member();
  test.cloud.operator.faults.set({ id: 'r', when, count: 1, effect });
  return {
    ...test,
    user,
    create: () => user.request('POST', '/compute/v2.1/os-keypairs', keyPair),
    exists: async () => (await user.request('GET', '/compute/v2.1/os-keypairs/k')).status === 200,
  };
}

describe('faults of requests', () => {
  it('refuse in the words and shape of the service, with Retry-After', async () => {
    const { create, exists } = await faulty({ kind: 'status', status: 429, message: 'slow down', retryAfter: 7 });
    const answer = await create();
    expect(answer.status).toBe(429);
    expect(answer.headers['retry-after']).toBe('7');
    expect(answer.body).toMatchObject({ overLimit: { code: 429, message: 'slow down' } });
    expect(await exists()).toBe(false);
    expect((await create()).status).toBe(200);
  });

  it('can answer with a body of their own, as proxies do', async () => {
    const { create } = await faulty({ kind: 'status', status: 502, body: '<html>bad gateway</html>' });
    expect(await create()).toMatchObject({ status: 502, body: '<html>bad gateway</html>' });
  });

  it.each([true, false])('break the connection, with the work done: %s', async (workDone) => {
    const { create, exists } = await faulty({ kind: 'reset', workDone });
    await expect(create()).rejects.toThrow(ConnectionBroken);
    expect(await exists()).toBe(workDone);
  });

  it('do the work without an answer', async () => {
    const { create, exists } = await faulty({ kind: 'gateway-timeout' });
    expect((await create()).status).toBe(504);
    expect(await exists()).toBe(true);
  });

  it('wait on the clock of the cloud', async () => {
    const { create, clock } = await faulty({ kind: 'latency', ms: 5000 });
    let status = 0;
    const answered = create().then((answer) => {
      status = answer.status;
    });
    await clock.advance(4999);
    expect(status).toBe(0);
    await clock.advance(1);
    await answered;
    expect(status).toBe(200);
  });

  it('hang until the client gives up', async () => {
    const { cloud, user, exists } = await faulty({ kind: 'hang', workDone: true });
    const patience = new AbortController();
    const hung = cloud.transport({
      method: 'POST',
      url: 'http://cloud.test/compute/v2.1/os-keypairs',
      headers: { 'x-auth-token': user.token },
      body: JSON.stringify(keyPair),
      signal: patience.signal,
    });
    patience.abort(new Error('enough'));
    await expect(hung).rejects.toThrow('enough');
    expect(await exists()).toBe(true);
  });

  it('refuse a valid token once', async () => {
    const { user } = await faulty({ kind: 'expired-token' }, { service: 'compute' });
    const list = (): Promise<{ status: number }> => user.request('GET', '/compute/v2.1/servers');
    expect((await list()).status).toBe(401);
    expect((await list()).status).toBe(200);
  });
});

describe('the entry point of the cloud', () => {
  it('answers paths of no service with a page, not with an error', async () => {
    const { cloud } = await testCloud();
    expect((await send(cloud, 'GET', '/nothing')).status).toBe(404);
    expect((await send(cloud, 'GET', '/')).status).toBe(404);
  });

  it('does no work for a client that has gone', async () => {
    const { cloud } = await testCloud();
    const signal = AbortSignal.abort(new Error('gone'));
    await expect(cloud.transport({ method: 'GET', url: '/identity/v3', headers: {}, signal })).rejects.toThrow('gone');
  });

  it('serves glance where its own links point', async () => {
    const test = await testCloud();
    const user = await test.member();
    await user.request('POST', '/image/v2/images', { name: 'a' });
    const { body } = await user.request('GET', '/image/v2/images?limit=1');
    const { next } = body as { next: string };
    expect(next.startsWith('/v2/images?')).toBe(true);
    expect((await user.request('GET', next)).status).toBe(200);
  });

  it('leaves out services when told to', async () => {
    const { cloud, admin } = await testCloud({ without: ['volumev3'] });
    expect((await send(cloud, 'GET', '/volume/')).status).toBe(404);
    const { body } = await admin.request('GET', '/identity/v3/auth/catalog');
    const types = (body as { catalog: { type: string }[] }).catalog.map(({ type }) => type);
    expect(types).toContain('compute');
    expect(types).not.toContain('volumev3');
  });

  it('builds links with the address the client used', async () => {
    const { cloud } = await testCloud();
    const answer = await cloud.transport({ method: 'GET', url: '/compute/', headers: { Host: 'cloud.example:8443' } });
    expect(Buffer.from(answer.body).toString()).toContain('http://cloud.example:8443/compute/v2.1/');
  });

  it('counts requests by service and method', async () => {
    const { cloud, admin } = await testCloud();
    cloud.operator.resetRequests();
    await admin.request('GET', '/compute/v2.1/servers');
    await admin.request('GET', '/compute/v2.1/flavors');
    expect(cloud.operator.requests()).toEqual({ compute: { GET: 2 } });
  });
});
