import { describe, expect, it } from 'vitest';
import { type Secret, Secrets } from '../../api/index.ts';
import { createInformerFactory } from '../../client/index.ts';
import { ManualClock, seededRandom } from '../../machinery/index.ts';
import { memoryClient, settle } from '../../runtime/testkit/index.ts';
import { cachedSecret, partedSecrets, readSecret, secretsOf } from './secrets.ts';

const by = { fieldManager: 'test' };
const key = { namespace: 'n', name: 'clouds' };
const clouds = (text: string, more: Partial<Secret['metadata']> = {}): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { ...key, ...more },
  data: { 'clouds.yaml': text },
});

async function world() {
  const clock = new ManualClock();
  const server = memoryClient({ clock });
  const factory = createInformerFactory({ client: server, clock, random: seededRandom(1), parted: [partedSecrets] });
  factory.informer(Secrets);
  const end = new AbortController();
  const running = factory.run(end.signal);
  await factory.waitForSync();
  const cache = { lister: factory.informer(Secrets).lister };
  return {
    server,
    access: { client: server, cache: { lister: () => cache.lister as never }, signal: end.signal },
    gets: () => server.requests.filter(({ verb }) => verb === 'get').length,
    async stop() {
      end.abort();
      await running;
    },
  };
}

describe('a Secret named by a user', () => {
  it('is read once per version', async () => {
    const { server, access, gets, stop } = await world();
    await server.create(Secrets, clouds('one'), by);
    await settle();
    expect(cachedSecret(access.cache, key)).toBeUndefined();
    const both = await Promise.all([readSecret(access, key), readSecret(access, key)]);
    expect(both.map((secret) => secret?.data)).toEqual([{ 'clouds.yaml': 'one' }, { 'clouds.yaml': 'one' }]);
    await readSecret(access, key);
    expect(gets()).toBe(1);
    await server.patch(Secrets, key, 'merge', { data: { 'clouds.yaml': 'two' } }, by);
    await settle();
    expect((await readSecret(access, key))?.data).toEqual({ 'clouds.yaml': 'two' });
    await readSecret(access, key);
    expect(gets()).toBe(2);
    await stop();
  });

  it('is read when the cache does not know it, and again after a failure', async () => {
    const { server, access, gets, stop } = await world();
    expect(await readSecret(access, key)).toBeUndefined();
    await server.create(Secrets, clouds('one'), by);
    await settle();
    const broken = { ...access, client: { ...server, get: () => Promise.reject(new Error('cut off')) } };
    await expect(readSecret(broken, key)).rejects.toThrow('cut off');
    expect((await readSecret(access, key))?.data).toEqual({ 'clouds.yaml': 'one' });
    expect(gets()).toBe(2);
    await stop();
  });

  it('is available without a read when its owner asks for it', async () => {
    const { server, access, stop } = await world();
    const owner = { apiVersion: 'v1', kind: 'Plane', name: 'p', uid: 'u-1' };
    await server.create(Secrets, clouds('one', { ownerReferences: [owner] }), by);
    await server.create(Secrets, clouds('two', { name: 'other' }), by);
    await settle();
    const read = await secretsOf(access, 'n', 'u-1');
    expect(read(key)?.data).toEqual({ 'clouds.yaml': 'one' });
    expect(read({ namespace: 'n', name: 'other' })).toBeUndefined();
    await stop();
  });
});
