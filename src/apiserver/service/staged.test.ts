import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigMaps } from '../../api/index.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../machinery/index.ts';
import type { LocalClient } from '../local-client.ts';
import { objectKey } from '../storage/keys.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';

/** Two calls in one turn: the second sees the first write before it is on disk. */
describe('a write that is not yet committed to disk', () => {
  let server: TestServer;
  let client: LocalClient;
  beforeAll(async () => {
    server = await startTestServer();
    client = server.local;
  });
  afterAll(() => server?.stop());

  const signal = new AbortController().signal;
  const options = { signal, fieldManager: 'test' };
  const named = (name: string): { namespace: string; name: string } => ({ namespace: 'default', name });
  const create = (name: string, data = {}): Promise<unknown> =>
    client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: named(name), data }, options);
  const remove = (name: string): Promise<unknown> => client.delete(ConfigMaps, named(name), { signal });
  const key = (name: string): string => objectKey({ group: '', plural: 'configmaps' }, 'default', name);
  const committed = (name: string): Record<string, string> | undefined =>
    server.store.get(key(name))?.value.object['data'] as Record<string, string> | undefined;
  /** Resolves with the error of a call and the committed state at that moment. */
  const refusal = (call: Promise<unknown>, name: string): Promise<{ error: unknown; seen: unknown }> =>
    call.then(
      () => {
        throw new Error('not refused');
      },
      (error: unknown) => ({ error, seen: committed(name) }),
    );

  it('is not found by a client that was told the object is deleted', async () => {
    await create('gone', { a: '1' });
    const update = { apiVersion: 'v1', kind: 'ConfigMap', metadata: named('gone'), data: { a: '2' } };
    const first = remove('gone');
    // Waits only microtasks: the removal is accepted, but not yet committed.
    while (server.store.head(key('gone'))) await Promise.resolve();
    expect(committed('gone')).toBeDefined();
    const [, again, late] = await Promise.all([
      first,
      refusal(remove('gone'), 'gone'),
      refusal(client.update(ConfigMaps, update, options), 'gone'),
    ]);
    for (const { error, seen } of [again, late]) {
      expect(isNotFound(error)).toBe(true);
      expect(seen).toBeUndefined();
    }
  });

  it('can be read by a client that was told the object already exists', async () => {
    const [, { error, seen }] = await Promise.all([create('twice', { a: '1' }), refusal(create('twice'), 'twice')]);
    expect(isAlreadyExists(error)).toBe(true);
    expect(seen).toEqual({ a: '1' });
  });

  it('is seen after a conflict, and makes an update without change as durable as itself', async () => {
    await create('changed', { a: '1' });
    const live = await client.get(ConfigMaps, named('changed'), { signal });
    const desired = { ...live, data: { a: '2' } };
    const { resourceVersion: _, ...metadata } = live.metadata;
    const [, { error, seen }, unchanged] = await Promise.all([
      client.update(ConfigMaps, desired, options),
      refusal(client.update(ConfigMaps, { ...live, data: { a: '3' } }, options), 'changed'),
      client.update(ConfigMaps, { ...desired, metadata }, options).then(() => committed('changed')),
    ]);
    expect(isConflict(error)).toBe(true);
    expect(seen).toEqual({ a: '2' });
    expect(unchanged).toEqual({ a: '2' });
  });
});
