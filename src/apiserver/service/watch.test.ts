import { describe, expect, it } from 'vitest';
import { ManualClock, seededRandom, type UnstructuredObject } from '../../machinery/index.ts';
import {
  type Api,
  advanceUntil,
  configMap,
  type Namespace,
  onTargets,
  startTestServer,
  summary,
  type TestServer,
  targets,
  targetsByEngine,
  type WatchEvent,
} from '../testing/index.ts';

const mergePatch = 'application/merge-patch+json';
const secret = (name: string, labels: Record<string, string> = {}, value = ''): ReturnType<typeof configMap> => ({
  ...configMap(name, { metadata: { labels } }),
  kind: 'Secret',
  stringData: { value },
});
const initialEvents = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
const metadataOnly = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const revisionOf = (object: UnstructuredObject): number => Number(object.metadata.resourceVersion);

async function newest(api: Api, ns: Namespace): Promise<string> {
  return (await api.get(ns.core('secrets'))).object.metadata.resourceVersion!;
}

onTargets(targetsByEngine, (on) => {
  describe('watch', () => {
    it.each(['', '&resourceVersion=0', '&resourceVersion='])(
      'without a revision (%j) sends ADDED for every object, then changes',
      async (query) => {
        const { api, namespace } = on();
        const ns = await namespace();
        await api.create(ns.core('secrets'), secret('a'));
        await api.create(ns.core('secrets'), secret('b'));
        const watch = await api.watch(`${ns.core('secrets')}?watch=true${query}`);
        const first = await watch.take(2);
        await api.create(ns.core('secrets'), secret('c'));
        const rest = await watch.take(1);
        watch.close();
        expect(summary(first).sort()).toEqual(['ADDED a', 'ADDED b']);
        expect(summary(rest)).toEqual(['ADDED c']);
      },
    );

    it('from a revision sends every later change in order, none missing and none twice', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const path = ns.core('secrets');
      await api.create(path, secret('before'));
      const from = await newest(api, ns);
      await api.create(path, secret('a'));
      await api.patch(`${path}/a`, mergePatch, { metadata: { labels: { x: '1' } } });
      await api.delete(`${path}/before`);
      const watch = await api.watch(`${path}?watch=true&resourceVersion=${from}`);
      await api.delete(`${path}/a`);
      const events = await watch.take(4);
      watch.close();
      expect(summary(events)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED before', 'DELETED a']);
      const revisions = events.map(({ object }) => revisionOf(object));
      expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
      expect(Math.min(...revisions)).toBeGreaterThan(Number(from));
    });

    it('sends a deleted object with its last state and the revision of its deletion', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const path = ns.core('secrets');
      const made = await api.create(path, secret('gone', { colour: 'red' }));
      const watch = await api.watch(`${path}?watch=true&resourceVersion=${made.object.metadata.resourceVersion}`);
      await api.delete(`${path}/gone`);
      const [event] = await watch.take(1);
      watch.close();
      expect(event).toMatchObject({
        type: 'DELETED',
        object: {
          kind: 'Secret',
          metadata: { name: 'gone', labels: { colour: 'red' }, uid: made.object.metadata.uid },
        },
      });
      expect(revisionOf(event!.object)).toBeGreaterThan(revisionOf(made.object));
    });

    it('sends ADDED when an object starts to match, and DELETED with its last match when it stops', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const path = ns.core('secrets');
      await api.create(path, secret('x', { tier: 'db' }));
      await api.create(path, secret('other'));
      const from = await newest(api, ns);
      const watch = await api.watch(`${path}?watch=true&labelSelector=tier%3Dweb&resourceVersion=${from}`);
      const relabel = (tier: string | null, more = {}): Promise<unknown> =>
        api.patch(`${path}/x`, mergePatch, { metadata: { labels: { tier, ...more } } });
      await relabel('web');
      await relabel('web', { again: '1' });
      await relabel('db', { again: '2' });
      await relabel('web');
      await api.delete(`${path}/x`);
      const events = await watch.take(5);
      watch.close();
      expect(summary(events)).toEqual(['ADDED x', 'MODIFIED x', 'DELETED x', 'ADDED x', 'DELETED x']);
      expect(events[2]!.object.metadata.labels).toEqual({ tier: 'web', again: '1' });
      const revisions = events.map(({ object }) => revisionOf(object));
      expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
      expect(new Set(revisions).size).toBe(5);
    });

    it('sends the same transitions for field selectors', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const watch = await api.watch(`${ns.core('secrets')}?watch=true&fieldSelector=type%3DOpaque`);
      await api.create(ns.core('secrets'), { ...secret('other'), type: 'example.com/other' });
      await api.create(ns.core('secrets'), secret('opaque'));
      const events = await watch.take(1);
      watch.close();
      expect(summary(events)).toEqual(['ADDED opaque']);
    });

    it('can follow one object by name', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const path = ns.core('secrets');
      await api.create(path, secret('x'));
      await api.create(path, secret('xy'));
      const watch = await api.watch(`${path}?watch=true&fieldSelector=metadata.name%3Dx`);
      const first = await watch.take(1);
      await api.patch(`${path}/xy`, mergePatch, { metadata: { labels: { a: '1' } } });
      await api.patch(`${path}/x`, mergePatch, { metadata: { labels: { a: '1' } } });
      await api.delete(`${path}/x`);
      const rest = await watch.take(2);
      watch.close();
      expect(summary([...first, ...rest])).toEqual(['ADDED x', 'MODIFIED x', 'DELETED x']);
    });

    it('can follow one cluster-scoped object by name, and by name and labels', async () => {
      const { api, namespace } = on();
      const [one, two] = [await namespace(), await namespace()];
      const relabel = (name: string, label: string): Promise<unknown> =>
        api.patch(`/api/v1/namespaces/${name}`, mergePatch, { metadata: { labels: { seen: label } } });
      const select = `fieldSelector=metadata.name%3D${one.name}`;
      const plain = await api.watch(`/api/v1/namespaces?watch=true&${select}`);
      const labelled = await api.watch(`/api/v1/namespaces?watch=true&${select}&labelSelector=seen%3Dyes`);
      expect(summary(await plain.take(1))).toEqual([`ADDED ${one.name}`]);
      await relabel(two.name, 'yes');
      await relabel(one.name, 'yes');
      await relabel(one.name, 'no');
      expect(summary(await plain.take(2))).toEqual([`MODIFIED ${one.name}`, `MODIFIED ${one.name}`]);
      expect(summary(await labelled.take(2))).toEqual([`ADDED ${one.name}`, `DELETED ${one.name}`]);
      plain.close();
      labelled.close();
    });

    it('covers one namespace or all of them', async () => {
      const { api, namespace, unique } = on();
      const [one, two] = [await namespace(), await namespace()];
      const label = unique('watch');
      const all = await api.watch(`/api/v1/secrets?watch=true&labelSelector=all%3D${label}`);
      const single = await api.watch(`${two.core('secrets')}?watch=true`);
      await api.create(one.core('secrets'), secret('a', { all: label }));
      await api.create(two.core('secrets'), secret('b', { all: label }));
      expect(summary(await all.take(2))).toEqual(['ADDED a', 'ADDED b']);
      expect(summary(await single.take(1))).toEqual(['ADDED b']);
      all.close();
      single.close();
    });

    it('is started by the old /watch/ path too', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      await api.create(ns.core('secrets'), secret('a'));
      const watch = await api.watch(`/api/v1/watch/namespaces/${ns.name}/secrets`);
      expect(summary(await watch.take(1))).toEqual(['ADDED a']);
      watch.close();
      const one = await api.watch(`/api/v1/watch/namespaces/${ns.name}/secrets/a`);
      expect(summary(await one.take(1))).toEqual(['ADDED a']);
      one.close();
    });

    it('matches a list, whatever is written meanwhile', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const path = ns.core('secrets');
      const random = seededRandom(7);
      const pick = (): string => `s${Math.floor(random.next() * 6)}`;
      const watch = await api.watch(`${path}?watch=true`);
      const write = async (): Promise<void> => {
        const name = pick();
        const choice = random.next();
        if (choice < 0.4) await api.post(path, secret(name));
        else if (choice < 0.7) await api.patch(`${path}/${name}`, mergePatch, { metadata: { labels: { n: pick() } } });
        else await api.delete(`${path}/${name}`);
      };
      await Promise.all(Array.from({ length: 60 }, write));
      await api.create(path, secret('end'));
      const events = await watch.until(({ object }) => object.metadata.name === 'end');
      watch.close();
      const state = new Map<string, string>();
      let last = 0;
      for (const { type, object } of events) {
        const { name = '', resourceVersion = '' } = object.metadata;
        expect(Number(resourceVersion)).toBeGreaterThan(last);
        last = Number(resourceVersion);
        expect(state.has(name), `${type} ${name}`).toBe(type !== 'ADDED');
        if (type === 'DELETED') state.delete(name);
        else state.set(name, resourceVersion);
      }
      const listed = (await api.get(path)).items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]);
      expect([...state].sort()).toEqual(listed);
    });
  });

  describe('watch with initial events', () => {
    it('sends the objects, then a bookmark that marks their end, then changes', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const path = ns.core('secrets');
      await api.create(path, secret('a'));
      await api.create(path, secret('b'));
      const watch = await api.watch(`${path}?watch=true&${initialEvents}`);
      const start = await watch.take(3);
      const made = await api.create(path, secret('c'));
      const [live] = await watch.take(1);
      watch.close();
      expect(summary(start.slice(0, 2)).sort()).toEqual(['ADDED a', 'ADDED b']);
      const [, , bookmark] = start;
      expect(bookmark).toMatchObject({
        type: 'BOOKMARK',
        object: {
          kind: 'Secret',
          apiVersion: 'v1',
          metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } },
        },
      });
      expect(Object.keys(bookmark!.object.metadata).sort()).toEqual(['annotations', 'resourceVersion']);
      for (const { object } of start.slice(0, 2))
        expect(revisionOf(bookmark!.object)).toBeGreaterThanOrEqual(revisionOf(object));
      expect(revisionOf(made.object)).toBeGreaterThan(revisionOf(bookmark!.object));
      expect(summary([live!])).toEqual(['ADDED c']);
    });

    it.each(['&resourceVersion=0', '&resourceVersion=1', '&resourceVersion='])(
      'accepts a revision (%s)',
      async (query) => {
        const { api, namespace } = on();
        const ns = await namespace();
        await api.create(ns.core('secrets'), secret('a'));
        await newest(api, ns);
        const watch = await api.watch(`${ns.core('secrets')}?watch=true&${initialEvents}${query}`);
        const events = await watch.until(({ type }) => type === 'BOOKMARK');
        watch.close();
        expect(summary(events)).toEqual(['ADDED a', 'BOOKMARK']);
      },
    );

    it('sends only the bookmark when there are no objects', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const watch = await api.watch(`${ns.core('secrets')}?watch=true&${initialEvents}`);
      expect(summary(await watch.take(1))).toEqual(['BOOKMARK']);
      watch.close();
    });

    it('sends only changes when sendInitialEvents=false', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      await api.create(ns.core('secrets'), secret('a'));
      const from = await newest(api, ns);
      const watch = await api.watch(
        `${ns.core('secrets')}?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=${from}`,
      );
      await api.create(ns.core('secrets'), secret('b'));
      expect(summary(await watch.take(1))).toEqual(['ADDED b']);
      watch.close();
    });
  });
});

onTargets(targets, (on, { real }) => {
  describe('watch parameters', () => {
    it.each([
      [
        'sendInitialEvents=true',
        422,
        'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      ],
      ['sendInitialEvents=true&resourceVersionMatch=Exact', 422, 'resourceVersionMatch: Unsupported value: "Exact"'],
      [
        'resourceVersionMatch=NotOlderThan',
        422,
        'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ],
      ['fieldSelector=spec.no%3D1', 400, 'spec.no'],
      ['labelSelector=a%3Db%3Dc', 400, "found '=', expected: ',' or 'end of string'"],
    ])('%s is answered %i', async (query, code, message) => {
      const answer = await on().api.get(`/api/v1/secrets?watch=true&${query}`);
      expect([answer.status, answer.body['message']]).toEqual([code, expect.stringContaining(message)]);
    });

    // kube-apiserver returns 500 here.
    it.skipIf(real)('a resourceVersion that is not a number is answered 400', async () => {
      const answer = await on().api.get('/api/v1/secrets?watch=true&resourceVersion=abc');
      expect([answer.status, answer.body['message']]).toEqual([400, expect.stringContaining('Invalid value: "abc"')]);
    });

    it('events are JSON, one per line', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      await api.create(ns.core('secrets'), secret('a'));
      const answer = await api.get(`${ns.core('secrets')}?watch=true&timeoutSeconds=1`);
      expect(answer.header('content-type')).toBe('application/json');
      const lines = answer.text.split('\n');
      expect(lines.pop()).toBe('');
      expect(lines.map((line) => Object.keys(JSON.parse(line)).sort())).toEqual([['object', 'type']]);
    });
  });
});

/** Runs a test with a server whose clock is advanced manually. */
async function withManualTime(
  test: (server: TestServer, clock: ManualClock) => Promise<void>,
  options: Parameters<typeof startTestServer>[0] = {},
): Promise<void> {
  const clock = new ManualClock(Date.now());
  const server = await startTestServer({ ...options, clock });
  try {
    await test(server, clock);
  } finally {
    await server.stop();
  }
}

const path = '/api/v1/namespaces/default/configmaps';

describe('watches over time', () => {
  it('bookmarks with the newest revision arrive about once a minute when they are allowed', () =>
    withManualTime(async (server, clock) => {
      const api = server.api();
      const watch = await api.watch(`${path}?watch=true&allowWatchBookmarks=true&timeoutSeconds=600`);
      const other = await api.create('/api/v1/namespaces/default/secrets', secret('elsewhere'));
      await clock.advance(60_000);
      const [bookmark] = await watch.take(1);
      expect(bookmark).toEqual({
        type: 'BOOKMARK',
        object: {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: { resourceVersion: other.object.metadata.resourceVersion },
        },
      });
      await clock.advance(180_000);
      expect(summary(await watch.take(3))).toEqual(['BOOKMARK', 'BOOKMARK', 'BOOKMARK']);
      watch.close();
    }));

  it('no bookmarks arrive when the client does not allow them', () =>
    withManualTime(async (server, clock) => {
      const api = server.api();
      const watch = await api.watch(`${path}?watch=true&timeoutSeconds=300`);
      const events: Promise<WatchEvent[]> = watch.rest();
      expect(await advanceUntil(clock, events, 60_000)).toEqual([]);
    }));

  it('a watch ends cleanly after timeoutSeconds, with a last bookmark', () =>
    withManualTime(async (server, clock) => {
      for (const protocol of ['h1', 'h2'] as const) {
        const watch = await server.api(protocol).watch(`${path}?watch=true&allowWatchBookmarks=true&timeoutSeconds=30`);
        const events = await advanceUntil(clock, watch.rest());
        expect(summary(events)).toEqual(['BOOKMARK']);
        expect(watch.wasCut).toBe(false);
      }
    }));

  it('a watch without timeoutSeconds ends by itself after 30 to 60 minutes', () =>
    withManualTime(async (server, clock) => {
      const api = server.api();
      const started = clock.now();
      const watch = await api.watch(`${path}?watch=true`);
      await advanceUntil(clock, watch.rest(), 60_000);
      const minutes = (clock.now() - started) / 60_000;
      expect(watch.wasCut).toBe(false);
      expect(minutes).toBeGreaterThanOrEqual(30);
      expect(minutes).toBeLessThanOrEqual(62);
    }));

  it('a revision the server has not reached is awaited, then answered 504', () =>
    withManualTime(async (server, clock) => {
      const api = server.api();
      const future = server.store.revision + 1000;
      const answer = await advanceUntil(clock, api.get(`${path}?watch=true&resourceVersion=${future}`));
      expect(answer.status).toBe(504);
      expect(answer.body).toMatchObject({ details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } });
    }));
});

describe('watches and history', () => {
  it('a revision older than the history is answered 200, one ERROR of code 410, and the end of the stream', async () => {
    const server = await startTestServer({ history: { minRevisions: 5, maxRevisions: 5, minAgeMs: 0 } });
    const api = server.api();
    for (let i = 0; i < 10; i++) await api.create(path, configMap(`c${i}`));
    const watch = await api.watch(`${path}?watch=true&resourceVersion=1`);
    const events = await watch.rest();
    await server.stop();
    expect(watch.status).toBe(200);
    expect(events).toMatchObject([
      { type: 'ERROR', object: { kind: 'Status', apiVersion: 'v1', reason: 'Expired', code: 410, status: 'Failure' } },
    ]);
    expect(events[0]!.object.message).toMatch(/^too old resource version: 1 \(\d+\)$/);
    expect(watch.wasCut).toBe(false);
  });
});

describe('watches and slow readers', () => {
  it('a reader that falls too far behind is cut off, others are not', async () => {
    const server = await startTestServer();
    const api = server.api();
    const slow = await server.api('h1').watch(`${path}?watch=true`);
    slow.pause();
    const quick = await server.api('h1').watch(`${path}?watch=true`);
    await api.create(path, configMap('big'));
    await api.patch(`${path}/big`, mergePatch, { data: { text: 'x'.repeat(1_000_000) } });
    const writes = 40;
    for (let i = 0; i < writes; i++) {
      await api.patch(`${path}/big`, mergePatch, { data: { n: String(i) } }, { accept: metadataOnly });
      await quick.take(1);
    }
    slow.resume();
    const seen = await slow.rest();
    expect(slow.wasCut).toBe(true);
    expect(seen.length).toBeLessThan(writes);
    expect(summary(await quick.take(2))).toEqual(['MODIFIED big', 'MODIFIED big']);
    await server.stop();
  });
});

describe('watches and shutdown', () => {
  it.each(['h1', 'h2'] as const)('a stopping server ends its watches cleanly over %s', async (protocol) => {
    const server = await startTestServer();
    const watch = await server.api(protocol).watch(`${path}?watch=true`);
    const ending = watch.rest();
    await server.server.stop(5000);
    expect(await ending).toEqual([]);
    expect(watch.wasCut).toBe(false);
    await server.store.close();
  });
});
