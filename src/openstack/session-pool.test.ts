import { describe, expect, it } from 'vitest';
import { createSessionPool, sessionKey } from './session-pool.ts';
import { failureOf } from './testing/failure.ts';
import { fakeCloud, fakeConfig } from './testing/fake-cloud.ts';

describe('createSessionPool', () => {
  it('requests one token and one version document for all clients with the same credential', async () => {
    const cloud = fakeCloud();
    cloud.on('GET /compute/v2.1/limits', { json: { limits: { absolute: {} } } });
    const pool = createSessionPool({ transport: cloud.transport, clock: cloud.clock });
    await Promise.all(Array.from({ length: 50 }, () => pool.connect(fakeConfig()).compute.limits()));
    expect(cloud.log.filter((line) => line.includes('auth/tokens'))).toHaveLength(1);
    expect(cloud.log.filter((line) => line === 'GET /compute/v2.1/')).toHaveLength(1);
    expect(pool.connect(fakeConfig())).toBe(pool.connect(fakeConfig()));
  });

  it('shares the session between regions of one credential', async () => {
    const cloud = fakeCloud();
    const pool = createSessionPool({ transport: cloud.transport, clock: cloud.clock });
    await pool.connect(fakeConfig({ region: 'RegionOne' })).projectId();
    await pool.connect(fakeConfig({ region: 'RegionTwo' })).projectId();
    expect(cloud.log).toHaveLength(1);
    expect(pool.size).toBe(1);
  });

  it("reports each client's own configuration when the shared credential is refused", async () => {
    const cloud = fakeCloud();
    cloud.on('POST /identity/v3/auth/tokens', {
      status: 401,
      json: { error: { code: 401, message: 'The request you have made requires authentication.' } },
    });
    const pool = createSessionPool({ transport: cloud.transport, clock: cloud.clock });
    const messages = await Promise.all(
      ['Secret team-a/clouds', 'Secret team-b/clouds'].map(async (source) => {
        const { identity, network } = pool.connect(fakeConfig({ source }));
        return [await failureOf(identity.whoami()), await failureOf(network.networks.get('x'))].map(String);
      }),
    );
    const [first = [], second = []] = messages;
    for (const message of first) expect(message).toMatch(/check username, .* in Secret team-a\/clouds$/);
    for (const message of second) expect(message).toMatch(/check username, .* in Secret team-b\/clouds$/);
    expect(cloud.log).toHaveLength(1);
  });

  it('keeps sessions of different credentials apart', () => {
    const keys = [
      fakeConfig(),
      fakeConfig({ authUrl: 'http://other.test' }),
      fakeConfig({ credential: { method: 'token', token: 't' } }),
      fakeConfig({ scope: { kind: 'none' } }),
      fakeConfig({ tls: { verify: false } }),
    ].map(sessionKey);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.join()).not.toContain('correct horse');
  });

  it('drops the session that was unused for longest', () => {
    const pool = createSessionPool({ transport: fakeCloud().transport, maxSessions: 2 });
    const config = (token: string) => fakeConfig({ credential: { method: 'token', token } });
    const first = pool.connect(config('1'));
    const second = pool.connect(config('2'));
    pool.connect(config('1'));
    pool.connect(config('3'));
    expect(pool.size).toBe(2);
    expect(pool.connect(config('1'))).toBe(first);
    expect(pool.connect(config('2'))).not.toBe(second);
  });
});
