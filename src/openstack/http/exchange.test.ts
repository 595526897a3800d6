import { describe, expect, it } from 'vitest';
import { CapstanError } from '../../machinery/index.ts';
import { failureOf } from '../testing/failure.ts';
import { fakeCloud, tokenAnswer } from '../testing/fake-cloud.ts';

const server = { server: { id: 'x', name: 's', status: 'ACTIVE' } };
const path = 'GET /compute/v2.1/servers/x';

describe('requests to a cloud', () => {
  it('cost one token and one version document per credential', async () => {
    const cloud = fakeCloud();
    cloud.on(path, { json: server });
    const { compute } = cloud.connect();
    await Promise.all([1, 2, 3].map(() => compute.servers.get('x')));
    expect(cloud.log).toEqual([
      'POST /identity/v3/auth/tokens',
      'GET /compute/v2.1/',
      'GET /compute/v2.1/servers/x',
      'GET /compute/v2.1/servers/x',
      'GET /compute/v2.1/servers/x',
    ]);
  });

  it('ask for a permit each time and send nothing without one', async () => {
    const cloud = fakeCloud();
    cloud.on('DELETE /compute/v2.1/servers/x', { status: 503 });
    let permits = 3;
    const refusal = new CapstanError('CAP_LEASE_NOT_HELD', 'the lease is gone');
    const permit = (): void => {
      if (permits-- === 0) throw refusal;
    };
    const { compute } = cloud.connect({ permit, patience: { attempts: 5 } });
    let outcome: unknown;
    void compute.servers.delete('x').catch((error: unknown) => {
      outcome = error;
    });
    await until(() => cloud.clock.untilNext() !== undefined && cloud.log.length === 3);
    await cloud.clock.advance(60_000);
    await until(() => outcome !== undefined);
    expect(outcome).toBe(refusal);
    expect(cloud.log).toHaveLength(3);
  });

  it('carry token, microversion and user agent', async () => {
    const cloud = fakeCloud();
    cloud.on(path, { json: server });
    await cloud.connect({ userAgent: 'capstan/1' }).compute.servers.get('x');
    expect(cloud.requests.at(-1)!.headers).toMatchObject({
      'x-auth-token': 'token-1',
      'openstack-api-version': 'compute 2.90',
      'user-agent': 'capstan/1',
    });
  });

  it('fetch a new token once when the old one is refused', async () => {
    const cloud = fakeCloud();
    cloud.on('DELETE /compute/v2.1/servers/x', ({ headers }) =>
      headers['x-auth-token'] === 'token-2' ? { status: 204 } : { status: 401, json: { error: { message: 'no' } } },
    );
    expect(await cloud.connect().compute.servers.delete('x')).toBe(true);
    expect(cloud.log.filter((line) => line.includes('auth/tokens'))).toHaveLength(2);
  });

  it('fail when the new token is refused as well', async () => {
    const cloud = fakeCloud();
    cloud.on(path, { status: 401, json: { error: { code: 401, message: 'no' } } });
    const error = await failureOf(cloud.connect().compute.servers.get('x'));
    expect(error).toMatchObject({ kind: 'unauthorized', service: 'compute' });
    expect(cloud.log.filter((line) => line === path)).toHaveLength(2);
  });

  it('share one new token when many are refused at the same time', async () => {
    const cloud = fakeCloud();
    cloud.on(path, ({ headers }) =>
      headers['x-auth-token'] === 'token-1' ? { status: 401, json: {} } : { json: server },
    );
    const { compute } = cloud.connect();
    await Promise.all([1, 2, 3, 4].map(() => compute.servers.get('x')));
    expect(cloud.log.filter((line) => line.includes('auth/tokens'))).toHaveLength(2);
  });

  it('wait as long as the cloud asks, by the given clock', async () => {
    const cloud = fakeCloud();
    let calls = 0;
    cloud.on(path, () =>
      ++calls === 1 ? { status: 429, headers: { 'retry-after': '7' }, json: {} } : { json: server },
    );
    const before = cloud.clock.now();
    const result = cloud.connect().compute.servers.get('x');
    await until(() => cloud.clock.untilNext() !== undefined && calls === 1);
    expect(cloud.clock.untilNext()).toBeGreaterThanOrEqual(7000);
    await cloud.clock.advance(10_000);
    expect(await result).toMatchObject({ id: 'x' });
    expect(cloud.clock.now() - before).toBe(10_000);
  });

  it('are not repeated when that might do harm', async () => {
    const cloud = fakeCloud();
    cloud.on('POST /compute/v2.1/servers', { fails: Object.assign(new Error('gone'), { code: 'ECONNRESET' }) });
    const desired = { name: 's', flavorId: 'f', imageId: 'i', networks: 'none' } as const;
    const error = await failureOf(cloud.connect().compute.servers.create(desired));
    expect(error.kind).toBe('network');
    expect(cloud.log.filter((line) => line.startsWith('POST /compute'))).toHaveLength(1);
  });

  it('end when nobody answers in time', async () => {
    const cloud = fakeCloud();
    cloud.on('POST /compute/v2.1/servers', { hangs: true });
    const desired = { name: 's', flavorId: 'f', imageId: 'i', networks: 'none' } as const;
    const result = failureOf(cloud.connect({ timeoutMs: 5000 }).compute.servers.create(desired));
    await until(() => cloud.log.some((line) => line.startsWith('POST /compute')));
    await cloud.clock.advance(5000);
    expect((await result).message).toMatch(/did not answer within 5 s .*; check whether the service is overloaded/);
  });

  it('end at once when the caller aborts', async () => {
    const cloud = fakeCloud();
    cloud.on(path, { hangs: true });
    const stop = new AbortController();
    const result = cloud.connect().compute.servers.get('x', { signal: stop.signal });
    await until(() => cloud.log.includes(path));
    stop.abort(new Error('enough'));
    await expect(result).rejects.toThrow('enough');
    expect(cloud.clock.untilNext()).toBeUndefined();
  });

  it('are limited in number', async () => {
    const cloud = fakeCloud();
    let running = 0;
    let most = 0;
    cloud.on(path, async () => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      return { json: server };
    });
    const { compute } = cloud.connect({ concurrency: 3 });
    await Promise.all(Array.from({ length: 20 }, () => compute.servers.get('x')));
    expect(most).toBe(3);
  });

  it('log their work without secrets', async () => {
    const cloud = fakeCloud();
    cloud.on('POST /compute/v2.1/servers', ({ json }) => ({
      status: 400,
      json: { badRequest: { code: 400, message: `Bad: ${JSON.stringify(json)}` } },
    }));
    const told: unknown[] = [];
    const log = {
      debug: (message: string, fields?: object) => void told.push(message, fields),
      warn: (message: string, fields?: object) => void told.push(message, fields),
    };
    const desired = { name: 's', flavorId: 'f', networks: 'none', userData: 'join token abcdef' } as const;
    const error = await failureOf(cloud.connect({ log }).compute.servers.create(desired));
    const everything = JSON.stringify([told, error.message, error.detail]);
    const encoded = Buffer.from('join token abcdef').toString('base64');
    for (const secret of [encoded, 'abcdef', 'correct horse', 'token-1']) expect(everything).not.toContain(secret);
  });
});

describe('tokens', () => {
  it('are renewed before they expire', async () => {
    const cloud = fakeCloud();
    cloud.on(path, { json: server });
    const { compute } = cloud.connect();
    await compute.servers.get('x');
    await cloud.clock.advance(50 * 60_000);
    await compute.servers.get('x');
    expect(cloud.requests.at(-1)!.headers['x-auth-token']).toBe('token-1');
    await cloud.clock.advance(5 * 60_000);
    await compute.servers.get('x');
    expect(cloud.requests.at(-1)!.headers['x-auth-token']).toBe('token-2');
  });

  it('live as long as keystone says, whatever its clock shows', async () => {
    const cloud = fakeCloud();
    let issued = 0;
    cloud.on('POST /identity/v3/auth/tokens', () => {
      issued++;
      const answer = tokenAnswer(cloud.clock, 'early') as {
        json: { token: { issued_at: string; expires_at: string } };
      };
      answer.json.token.issued_at = '2001-01-01T00:00:00.000000Z';
      answer.json.token.expires_at = '2001-01-01T01:00:00.000000Z';
      return answer;
    });
    cloud.on(path, { json: server });
    const { compute } = cloud.connect();
    await compute.servers.get('x');
    await compute.servers.get('x');
    expect(issued).toBe(1);
  });

  it('are used to their end while keystone is unavailable', async () => {
    const cloud = fakeCloud();
    cloud.on(path, { json: server });
    const { compute } = cloud.connect({ patience: { attempts: 1 } });
    await compute.servers.get('x');
    cloud.on('POST /identity/v3/auth/tokens', { status: 500, json: {} });
    await cloud.clock.advance(57 * 60_000);
    expect(await compute.servers.get('x')).toMatchObject({ id: 'x' });
    await cloud.clock.advance(4 * 60_000);
    expect((await failureOf(compute.servers.get('x'))).kind).toBe('internal');
  });

  it('are not requested again and again with a wrong password', async () => {
    const cloud = fakeCloud();
    cloud.on('POST /identity/v3/auth/tokens', {
      status: 401,
      json: { error: { code: 401, message: 'The request you have made requires authentication.' } },
    });
    const { compute } = cloud.connect();
    const error = await failureOf(compute.servers.get('x'));
    await failureOf(compute.servers.get('x'));
    expect(cloud.log).toHaveLength(1);
    expect(error.message).toBe(
      'identity: cloud "fake" does not accept user "u" with this password and scope: The request you have made requires authentication (POST /auth/tokens, HTTP 401, req-1); check username, password, domain and project in clouds.yaml',
    );
    await cloud.clock.advance(31_000);
    await failureOf(compute.servers.get('x'));
    expect(cloud.log).toHaveLength(2);
  });

  it('explain an application credential that was deleted', async () => {
    const cloud = fakeCloud();
    cloud.on('POST /identity/v3/auth/tokens', {
      status: 404,
      json: { error: { code: 404, message: 'Could not find Application Credential: abc.' } },
    });
    const { identity } = cloud.connect(
      {},
      { credential: { method: 'applicationCredential', id: 'abc', secret: 's' }, scope: { kind: 'none' } },
    );
    const error = await failureOf(identity.whoami());
    expect(error.kind).toBe('unauthorized');
    expect(error.message).toMatch(
      /application credential "abc": Could not find .*; check whether it has expired or was deleted/,
    );
  });

  it('are requested where the list of versions says when not found at auth_url', async () => {
    const cloud = fakeCloud();
    cloud.on('POST /identity/v3/auth/tokens', {
      status: 404,
      text: '<html><title>404 Not Found</title></html>',
      headers: { 'content-type': 'text/html' },
    });
    cloud.on('GET /identity/', {
      status: 300,
      json: {
        versions: { values: [{ id: 'v3.14', links: [{ rel: 'self', href: 'http://internal:35357/keystone/v3/' }] }] },
      },
    });
    cloud.on('POST /keystone/v3/auth/tokens', tokenAnswer(cloud.clock, 'found'));
    expect(await cloud.connect().projectId()).toBe('project-id');
  });

  it('report that there is no keystone at all', async () => {
    const cloud = fakeCloud();
    cloud.on('POST /identity/v3/auth/tokens', { status: 404, json: { error: { message: 'what?' } } });
    expect((await failureOf(cloud.connect().projectId())).message).toMatch(
      /there is no Keystone v3 at http:\/\/cloud\.test\/identity .*; check auth_url of cloud "fake" in clouds\.yaml/,
    );
  });
});

async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1000; turn++) {
    if (condition()) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  throw new Error('the condition never came true');
}
