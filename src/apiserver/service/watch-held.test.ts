import { expect, it } from 'vitest';
import { loopbackUser } from '../auth/index.ts';
import { StoredObject } from '../storage/stored-object.ts';
import { configMap, startTestServer } from '../testing/index.ts';
import type { Caller } from './types.ts';
import type { WatchDelivery } from './watch.ts';

const prefix = '/core/configmaps/default/';

it('a watcher that never reads the initial state is cut off before changes accumulate', async () => {
  const { server, store, stop } = await startTestServer();
  const put = (name: string): Promise<unknown> => {
    const live = store.head(prefix + name);
    return store.put(
      prefix + name,
      live ? { kind: 'revision', revision: live.revision } : { kind: 'absent' },
      (revision) => {
        const object = configMap(name, { metadata: { namespace: 'default', resourceVersion: String(revision) } });
        return StoredObject.fromObject(object);
      },
    );
  };
  // More than one slice, so that the first slice waits for the reader.
  await Promise.all(Array.from({ length: 600 }, (_, i) => put(`c${i}`)));
  const caller: Caller = { user: loopbackUser, userAgent: '', signal: new AbortController().signal, warn: () => {} };
  const delivered: WatchDelivery[] = [];
  let cut = 0;
  const target = server.api.resolve('', 'v1', 'configmaps', 'default');
  const end = await server.api.watch(
    target,
    caller,
    {},
    {
      deliver: (deliveries) => delivered.push(...deliveries),
      ready: () => new Promise(() => {}),
      end: () => {},
      cut: () => void cut++,
    },
  );
  await Promise.all(Array.from({ length: 9_000 }, () => put('c1')));
  expect(cut).toBe(0);
  await Promise.all(Array.from({ length: 2_000 }, () => put('c1')));
  expect(cut).toBe(1);
  expect(delivered).toHaveLength(500);
  end();
  await stop();
});
