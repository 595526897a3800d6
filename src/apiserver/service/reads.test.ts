import { describe, expect, it } from 'vitest';
import { isJsonObject, ManualClock, type UnstructuredObject } from '../../machinery/index.ts';
import {
  type Answer,
  type Api,
  advanceUntil,
  at,
  configMap,
  crd,
  type Namespace,
  onTargets,
  pod,
  startTestServer,
  targets,
  targetsByEngine,
  widget,
} from '../testing/index.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Filters out the CA bundle that a controller publishes in every namespace. */
const mine = (items: readonly UnstructuredObject[]): string[] =>
  items.map(({ metadata }) => metadata.name!).filter((name) => name !== 'kube-root-ca.crt');
const revisionOf = (object: UnstructuredObject): number => Number(object.metadata.resourceVersion);

async function fill(api: Api, ns: Namespace, names: readonly string[], plural = 'secrets'): Promise<void> {
  const kind = plural === 'secrets' ? 'Secret' : 'ConfigMap';
  for (const name of names) await api.create(ns.core(plural), { ...configMap(name), kind });
}

onTargets(targetsByEngine, (on, { real }) => {
  describe('resource versions', () => {
    it('are decimal integers that grow with every write across kinds', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const texts: string[] = [];
      for (const kind of ['Secret', 'ConfigMap', 'Secret']) {
        const plural = `${kind.toLowerCase()}s`;
        const made = await api.create(ns.core(plural), { ...configMap(`rv-${texts.length}`), kind });
        texts.push(made.object.metadata.resourceVersion!);
      }
      for (const text of texts) expect(text).toMatch(/^[1-9]\d*$/);
      const numbers = texts.map(Number);
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
      expect(new Set(numbers).size).toBe(numbers.length);
    });

    it('of a list are the revision of its snapshot, not of its items', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      await fill(api, ns, ['a']);
      await fill(api, ns, ['later'], 'configmaps');
      const answer = await api.get(ns.core('secrets'));
      const later = await api.get(`${ns.core('configmaps')}/later`);
      expect(revisionOf(answer.object)).toBeGreaterThanOrEqual(revisionOf(later.object));
      expect(revisionOf(answer.object)).toBeGreaterThan(revisionOf(answer.items[0]!));
    });
  });

  describe('GET of an object', () => {
    it('answers the newest state with resourceVersion unset, 0 or any reached revision', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const made = await api.create(ns.core('configmaps'), configMap('x', { data: { n: '1' } }));
      const path = `${ns.core('configmaps')}/x`;
      const changed = await api.patch(path, 'application/merge-patch+json', { data: { n: '2' } });
      for (const version of ['', '0', made.object.metadata.resourceVersion, changed.object.metadata.resourceVersion]) {
        const answer = await api.get(`${path}?resourceVersion=${version}`);
        expect(answer.status).toBe(200);
        // 0 accepts any state, so a stale cache may return the first one.
        if (version !== '0') expect(at(answer.body, 'data.n'), `resourceVersion=${version}`).toBe('2');
      }
    });

    it('is answered 404 with the name of an object that does not exist', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const answer = await api.get(`${ns.core('configmaps')}/missing`);
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'configmaps "missing" not found',
        reason: 'NotFound',
        details: { name: 'missing', kind: 'configmaps' },
        code: 404,
      });
    });

    // kube-apiserver returns 500 here.
    it.skipIf(real)('is answered 400 when the resourceVersion is not a number', async () => {
      const answer = await on().api.get('/api/v1/namespaces/default?resourceVersion=abc');
      expect(answer.status).toBe(400);
    });
  });

  describe('LIST', () => {
    it('is ordered by namespace and name', async () => {
      const { api, namespace } = on();
      const [one, two] = [await namespace(), await namespace()];
      for (const ns of [one, two]) await fill(api, ns, ['b', 'a', 'c']);
      const { items } = await api.get('/api/v1/secrets');
      const names = new Set([one.name, two.name]);
      const seen = items
        .filter(({ metadata }) => names.has(metadata.namespace!))
        .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
      expect(seen).toEqual([...seen].sort());
      expect(seen).toHaveLength(6);
    });

    it('has its own kind, items without kind, and an empty items array when there are none', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const { body } = await api.get(ns.core('secrets'));
      expect(body).toMatchObject({ kind: 'SecretList', apiVersion: 'v1', items: [] });
    });

    it('with resourceVersionMatch=Exact returns the state at that revision', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      await fill(api, ns, ['a', 'b']);
      const then = (await api.get(ns.core('secrets'))).object.metadata.resourceVersion;
      await api.delete(`${ns.core('secrets')}/a`);
      await fill(api, ns, ['c']);
      const past = await api.get(`${ns.core('secrets')}?resourceVersion=${then}&resourceVersionMatch=Exact`);
      expect(mine(past.items)).toEqual(['a', 'b']);
      expect(past.object.metadata.resourceVersion).toBe(then);
      const newer = await api.get(`${ns.core('secrets')}?resourceVersion=${then}&resourceVersionMatch=NotOlderThan`);
      expect(revisionOf(newer.object)).toBeGreaterThanOrEqual(Number(then));
      expect(mine((await api.get(ns.core('secrets'))).items)).toEqual(['b', 'c']);
    });

    it.each([
      [
        'resourceVersionMatch=Exact',
        422,
        'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
      ],
      [
        'resourceVersion=0&resourceVersionMatch=Exact',
        422,
        'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
      ],
      [
        'resourceVersion=1&resourceVersionMatch=Newest',
        422,
        'resourceVersionMatch: Unsupported value: "Newest": supported values: "Exact", "NotOlderThan", ""',
      ],
      ['sendInitialEvents=true', 422, 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list'],
      ['resourceVersion=abc', 400, 'resourceVersion: Invalid value: "abc"'],
      ['limit=abc', 400, 'strconv.ParseInt: parsing "abc": invalid syntax'],
      ['continue=abc', 400, 'continue key is not valid'],
    ])('with %s is answered %i', async (query, code, message) => {
      const answer = await on().api.get(`/api/v1/namespaces?${query}`);
      expect([answer.status, answer.body['message']]).toEqual([code, expect.stringContaining(message)]);
    });
  });

  describe('paging', () => {
    it('shows one snapshot across pages, whatever is written in between', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      await fill(api, ns, ['a', 'b', 'c', 'd', 'e']);
      const first = await api.get(`${ns.core('secrets')}?limit=2`);
      expect(mine(first.items)).toEqual(['a', 'b']);
      expect(first.body['metadata']).toMatchObject({ remainingItemCount: 3 });
      await api.delete(`${ns.core('secrets')}/c`);
      await api.patch(`${ns.core('secrets')}/d`, 'application/merge-patch+json', { data: { changed: 'AA==' } });
      await fill(api, ns, ['aa', 'cc', 'z']);
      const token = encodeURIComponent(String(at(first.body, 'metadata.continue')));
      const second = await api.get(`${ns.core('secrets')}?limit=2&continue=${token}`);
      expect(mine(second.items)).toEqual(['c', 'd']);
      expect(second.items[1]).not.toHaveProperty('data');
      expect(at(second.body, 'metadata.remainingItemCount')).toBe(1);
      expect(at(second.body, 'metadata.resourceVersion')).toBe(at(first.body, 'metadata.resourceVersion'));
      const next = encodeURIComponent(String(at(second.body, 'metadata.continue')));
      const third = await api.get(`${ns.core('secrets')}?limit=2&continue=${next}`);
      expect(mine(third.items)).toEqual(['e']);
      expect(third.body['metadata']).not.toHaveProperty('continue');
      expect(third.body['metadata']).not.toHaveProperty('remainingItemCount');
    });

    it('continues across namespaces', async () => {
      const { api, namespace } = on();
      const spaces = [await namespace(), await namespace()];
      const label = on().unique('page');
      for (const ns of spaces) {
        for (const name of ['a', 'b', 'c']) {
          await api.create(ns.core('secrets'), {
            ...configMap(name, { metadata: { labels: { page: label } } }),
            kind: 'Secret',
          });
        }
      }
      const seen: string[] = [];
      let token = '';
      do {
        const page = await api.get(`/api/v1/secrets?labelSelector=page%3D${label}&limit=4&continue=${token}`);
        seen.push(...page.items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
        token = encodeURIComponent(String(at(page.body, 'metadata.continue') ?? ''));
      } while (token !== '');
      const expected = spaces.flatMap(({ name }) => ['a', 'b', 'c'].map((item) => `${name}/${item}`));
      expect(seen).toEqual(expected.sort());
    });

    it('reports no remaining count when a selector is used', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      for (const name of ['a', 'b', 'c']) {
        await api.create(ns.core('secrets'), {
          ...configMap(name, { metadata: { labels: { on: 'yes' } } }),
          kind: 'Secret',
        });
      }
      const page = await api.get(`${ns.core('secrets')}?limit=1&labelSelector=on%3Dyes`);
      expect(mine(page.items)).toEqual(['a']);
      expect(page.body['metadata']).toHaveProperty('continue');
      expect(page.body['metadata']).not.toHaveProperty('remainingItemCount');
    });

    it('refuses a resourceVersion together with a continue token', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      await fill(api, ns, ['a', 'b']);
      const first = await api.get(`${ns.core('secrets')}?limit=1`);
      const token = encodeURIComponent(String(at(first.body, 'metadata.continue')));
      const { resourceVersion } = first.object.metadata;
      const answer = await api.get(
        `${ns.core('secrets')}?limit=1&continue=${token}&resourceVersion=${resourceVersion}`,
      );
      expect(answer.status).toBe(400);
      expect(answer.body['message']).toBe('specifying resource version is not allowed when using continue');
    });
  });
});

onTargets(targets, (on) => {
  describe('label selectors', () => {
    it.each([
      ['tier=web', ['both', 'web']],
      ['tier==web', ['both', 'web']],
      ['tier!=web', ['db', 'none']],
      ['tier in (web,db)', ['both', 'db', 'web']],
      ['tier notin (web)', ['db', 'none']],
      ['tier', ['both', 'db', 'web']],
      ['!tier', ['none']],
      ['tier=web,env=prod', ['both']],
      ['tier in (web),!env', ['web']],
      ['size>3', ['both']],
      ['size<3', ['db']],
      ['', ['both', 'db', 'none', 'web']],
    ])('%j selects %j', async (selector, names) => {
      const { api, namespace } = on();
      const ns = await namespace();
      const labels: Record<string, Record<string, string>> = {
        web: { tier: 'web' },
        db: { tier: 'db', size: '2' },
        both: { tier: 'web', env: 'prod', size: '4' },
        none: {},
      };
      for (const [name, set] of Object.entries(labels)) {
        await api.create(ns.core('secrets'), { ...configMap(name, { metadata: { labels: set } }), kind: 'Secret' });
      }
      const answer = await api.get(`${ns.core('secrets')}?labelSelector=${encodeURIComponent(selector)}`);
      expect(mine(answer.items)).toEqual(names);
    });

    it.each(['a=b=c', 'a in b', '=x', 'a in (b', '-a=b'])(
      'an invalid selector %j is answered 400',
      async (selector) => {
        const answer = await on().api.get(`/api/v1/secrets?labelSelector=${encodeURIComponent(selector)}`);
        expect(answer.status).toBe(400);
      },
    );
  });

  describe('field selectors', () => {
    it('metadata.name and metadata.namespace work for every kind', async () => {
      const { api, namespace } = on();
      const [ns, other] = [await namespace(), await namespace()];
      for (const space of [ns, other]) await fill(api, space, ['a', 'b']);
      const select = async (path: string, selector: string): Promise<string[]> => {
        const { items } = await api.get(`${path}?fieldSelector=${encodeURIComponent(selector)}`);
        return items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
      };
      expect(await select(ns.core('secrets'), 'metadata.name=a')).toEqual([`${ns.name}/a`]);
      expect(await select(ns.core('secrets'), 'metadata.name!=a')).toEqual([`${ns.name}/b`]);
      expect(await select('/api/v1/secrets', `metadata.namespace=${ns.name}`)).toEqual([
        `${ns.name}/a`,
        `${ns.name}/b`,
      ]);
      expect(await select('/api/v1/secrets', `metadata.namespace=${ns.name},metadata.name=b`)).toEqual([
        `${ns.name}/b`,
      ]);
      expect(await select(ns.core('secrets'), 'metadata.name=none')).toEqual([]);
    });

    it('secrets support type, namespaces phase, and pods node and phase', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      await fill(api, ns, ['plain']);
      await api.create(ns.core('secrets'), {
        ...configMap('login', { data: { username: 'bQ==', password: 'bQ==' } }),
        kind: 'Secret',
        type: 'kubernetes.io/basic-auth',
      });
      await api.create(ns.core('pods'), pod('placed', { spec: { nodeName: 'node-1' } }));
      await api.create(ns.core('pods'), pod('waiting'));
      const names = async (path: string, selector: string): Promise<string[]> =>
        mine((await api.get(`${path}?fieldSelector=${encodeURIComponent(selector)}`)).items);
      expect(await names(ns.core('secrets'), 'type=kubernetes.io/basic-auth')).toEqual(['login']);
      expect(await names(ns.core('secrets'), 'type!=kubernetes.io/basic-auth')).toEqual(['plain']);
      expect(await names('/api/v1/namespaces', 'status.phase=Active')).toContain(ns.name);
      expect(await names('/api/v1/namespaces', 'status.phase=Terminating')).not.toContain(ns.name);
      expect(await names(ns.core('pods'), 'spec.nodeName=node-1')).toEqual(['placed']);
      expect(await names(ns.core('pods'), 'spec.nodeName=')).toEqual(['waiting']);
      expect(await names(ns.core('pods'), 'status.phase!=Running,spec.nodeName!=node-1')).toEqual(['waiting']);
    });

    it('events support the fields of their involved object', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const event = (name: string, about: object, reason: string, type: string): Promise<unknown> =>
        api.create(ns.core('events'), {
          apiVersion: 'v1',
          kind: 'Event',
          metadata: { name },
          involvedObject: { kind: 'Pod', namespace: ns.name, ...about },
          reason,
          type,
        });
      await event('one', { name: 'web-0', uid: 'u-1' }, 'Started', 'Normal');
      await event('two', { name: 'web-1', uid: 'u-2' }, 'Failed', 'Warning');
      const names = async (selector: string): Promise<string[]> =>
        mine((await api.get(`${ns.core('events')}?fieldSelector=${encodeURIComponent(selector)}`)).items);
      const described = ['name=web-0', `namespace=${ns.name}`, 'kind=Pod', 'uid=u-1'];
      expect(await names(described.map((term) => `involvedObject.${term}`).join())).toEqual(['one']);
      expect(await names('reason=Failed')).toEqual(['two']);
      expect(await names('type!=Normal')).toEqual(['two']);
      expect(await names('involvedObject.uid=u-3')).toEqual([]);
    });

    it('custom kinds support their selectable fields', async () => {
      const target = on();
      const group = `${target.unique('fields')}.example.com`;
      const version = { selectableFields: [{ jsonPath: '.spec.size' }, { jsonPath: '.spec.replicas' }] };
      await target.api.create(crds, crd({ group, version }));
      target.cleanUp(`${crds}/widgets.${group}`);
      const path = (await target.namespace()).of(`${group}/v1`, 'widgets');
      while ((await target.api.get(path)).status !== 200);
      await target.api.create(path, widget(group, 'a', { size: 'large', replicas: 2 }));
      await target.api.create(path, widget(group, 'b', { size: 'small' }));
      const names = async (selector: string): Promise<string[]> =>
        mine((await target.api.get(`${path}?fieldSelector=${encodeURIComponent(selector)}`)).items);
      expect(await names('spec.size=large')).toEqual(['a']);
      expect(await names('spec.size!=large')).toEqual(['b']);
      expect(await names('spec.replicas=2')).toEqual(['a']);
      const unknown = await target.api.get(`${path}?fieldSelector=spec.colour%3Dred`);
      expect(unknown.status).toBe(400);
      expect(unknown.body['message']).toBe('field label not supported: spec.colour');
    });

    it.each(['spec.nothing=1', 'metadata.labels=x'])('an unknown field (%s) is answered 400', async (selector) => {
      const answer = await on().api.get(`/api/v1/secrets?fieldSelector=${encodeURIComponent(selector)}`);
      expect(answer.status).toBe(400);
      expect(answer.body['message']).toContain(selector.split('=')[0]);
    });
  });
});

describe('a revision that the server has not reached', () => {
  it.each(['/api/v1/namespaces/default', '/api/v1/namespaces'])(
    'GET %s waits for it and then answers 504',
    async (path) => {
      const clock = new ManualClock(Date.now());
      const server = await startTestServer({ clock });
      const future = server.store.revision + 1000;
      const answer = await advanceUntil(clock, server.api().get(`${path}?resourceVersion=${future}`));
      const { revision } = server.store;
      await server.stop();
      expect(answer.status).toBe(504);
      expect(answer.header('retry-after')).toBe('1');
      expect(answer.body).toMatchObject({
        reason: 'Timeout',
        message: `Timeout: Too large resource version: ${future}, current: ${revision}`,
        details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] },
      });
    },
  );

  it('is answered as soon as the server reaches it', async () => {
    const clock = new ManualClock(Date.now());
    const server = await startTestServer({ clock });
    const api = server.api();
    const pending = api.get(`/api/v1/namespaces/default/configmaps?resourceVersion=${server.store.revision + 1}`);
    await api.create('/api/v1/namespaces/default/configmaps', configMap('awaited'));
    const answer = await pending;
    await server.stop();
    expect(mine(answer.items)).toEqual(['awaited']);
  });
});

describe('a revision that is no longer in the history', () => {
  const start = () => startTestServer({ history: { minRevisions: 5, maxRevisions: 5, minAgeMs: 0 } });
  const path = '/api/v1/namespaces/default/configmaps';

  it('is answered 410 for an exact list', async () => {
    const server = await start();
    const answer = await server.api().get(`${path}?resourceVersion=1&resourceVersionMatch=Exact`);
    await server.stop();
    expect(answer.status).toBe(410);
    expect(answer.body).toMatchObject({ reason: 'Expired', code: 410 });
  });

  it('in a continue token is answered 410 with a fresh token that continues at the same place', async () => {
    const server = await start();
    const api = server.api();
    for (const name of ['a', 'b', 'c', 'd']) await api.create(path, configMap(name));
    const first = await api.get(`${path}?limit=2`);
    const token = encodeURIComponent(String(at(first.body, 'metadata.continue')));
    for (let i = 0; i < 10; i++) {
      await api.patch(`${path}/a`, 'application/merge-patch+json', { data: { n: String(i) } });
    }
    await api.create(path, configMap('cc'));
    const expired = await api.get(`${path}?limit=2&continue=${token}`);
    expect(expired.status).toBe(410);
    expect(expired.body).toMatchObject({
      kind: 'Status',
      reason: 'Expired',
      metadata: { continue: expect.any(String) },
    });
    const fresh = encodeURIComponent(String(at(expired.body, 'metadata.continue')));
    const rest: string[] = [];
    let next = fresh;
    while (next !== '') {
      const page = await api.get(`${path}?limit=2&continue=${next}`);
      expect(page.status).toBe(200);
      rest.push(...mine(page.items));
      const { metadata } = page.body;
      next = isJsonObject(metadata) ? encodeURIComponent(String(metadata['continue'] ?? '')) : '';
    }
    await server.stop();
    expect(rest).toEqual(['c', 'cc', 'd']);
  });
});

describe('a costly request', () => {
  it('is refused when a selector has very many requirements', async () => {
    const server = await startTestServer();
    const api = server.api();
    const many = (count: number, one: (index: number) => string): string =>
      encodeURIComponent(Array.from({ length: count }, (_, index) => one(index)).join(','));
    const path = '/api/v1/namespaces/default/configmaps';
    const select = async (selector: string): Promise<number> => (await api.get(`${path}?${selector}`)).status;
    const statuses = [
      await select(`labelSelector=${many(500, (index) => `a${index}`)}`),
      await select(`labelSelector=${many(501, (index) => `a${index}`)}`),
      await select(`fieldSelector=${many(501, () => 'metadata.name!=a')}`),
      await select(`watch=true&labelSelector=${many(501, (index) => `a${index}`)}`),
    ];
    await server.stop();
    expect(statuses).toEqual([200, 400, 400, 400]);
  });

  it('is answered 422 in bounded size and time, however many errors it has', async () => {
    const server = await startTestServer();
    const labels = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`!${index}`, 'x']));
    const answer = await server
      .api()
      .post('/api/v1/namespaces/default/configmaps', configMap('x', { metadata: { labels } }));
    await server.stop();
    expect(answer.status).toBe(422);
    expect(answer.body['message']).toContain(', and 19000 more]');
    expect(answer.text.length).toBeLessThan(4 * 1024 * 1024);
  });
});

describe('continue tokens', () => {
  it('show one snapshot for five minutes, and then continue with the current state', async () => {
    const clock = new ManualClock(Date.now());
    const server = await startTestServer({ clock });
    const api = server.api();
    const path = '/api/v1/namespaces/default/configmaps';
    for (const name of ['a', 'b', 'c', 'd']) await api.create(path, configMap(name));
    const go = async (token: unknown): Promise<Answer> =>
      api.get(`${path}?limit=1&continue=${encodeURIComponent(String(token))}`);
    const names = ({ items }: Answer): unknown[] => items.map(({ metadata }) => metadata.name);
    const first = await api.get(`${path}?limit=1`);
    await api.delete(`${path}/b`);
    await clock.advance(4 * 60_000);
    const second = await go(at(first.body, 'metadata.continue'));
    await clock.advance(61_000);
    const late = await go(at(second.body, 'metadata.continue'));
    const again = await go(at(first.body, 'metadata.continue'));
    const rest = await go(at(again.body, 'metadata.continue'));
    await server.stop();
    expect([names(first), names(second)]).toEqual([['a'], ['b']]);
    for (const expired of [late, again]) {
      expect(expired.status).toBe(410);
      expect(expired.body).toMatchObject({ reason: 'Expired', metadata: { continue: expect.any(String) } });
    }
    expect(names(rest)).toEqual(['c']);
    expect(at(rest.body, 'metadata.resourceVersion')).not.toBe(at(first.body, 'metadata.resourceVersion'));
  });
});
