import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  ApiStatusError,
  anyPeer,
  CapstanError,
  type Clock,
  isConflict,
  isExpired,
  isNotFound,
  type KubeObject,
  loopbackNetworks,
  peerPolicy,
  type Resource,
  seededRandom,
  systemClock,
} from '../../machinery/index.ts';
import { ApiUnreachableError, WatchDecodeError } from '../errors.ts';
import { staticCredentials } from '../kubeconfig/credentials.ts';
import type { ConnectionConfig, CredentialSource } from '../kubeconfig/types.ts';
import { onBehalfOf } from '../request-origin.ts';
import type { WatchEvent } from '../types.ts';
import { type HttpClient, type HttpClientOptions, httpClient } from './client.ts';
import { portForward } from './port-forward.ts';

const pods: Resource<KubeObject> = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
const nodes: Resource<KubeObject> = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };
const clusters: Resource<KubeObject> = {
  group: 'cluster.x-k8s.io',
  version: 'v1beta2',
  kind: 'Cluster',
  plural: 'clusters',
  namespaced: true,
};
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'n' } };
const key = { namespace: 'n', name: 'p' };
const by = { fieldManager: 'tester' };

interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

type Answer = (request: Seen, response: ServerResponse) => void;

/** A clock whose timers fire at once, because these tests do not cover retry delays. */
const hastyClock: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic(),
  after: (ms, callback) => systemClock.after(ms >= 30_000 ? ms : 0, callback),
};

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(answer: Answer): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const entry = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      seen.push(entry);
      answer(entry, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const config = (server: string): ConnectionConfig => ({
  server,
  credentials: staticCredentials({ token: 'secret' }),
  namespace: 'default',
  context: 'test',
});

function connect(server: string, options: HttpClientOptions = {}, more: Partial<ConnectionConfig> = {}): HttpClient {
  const client = httpClient({ ...config(server), ...more }, { random: seededRandom(1), clock: hastyClock, ...options });
  cleanups.push(() => client.close());
  return client;
}

const json =
  (value: unknown, code = 200, headers: Record<string, string | string[]> = {}): Answer =>
  (_, response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(value));
  };

const status = (code: number, reason: string, message = reason): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  reason,
  message,
  code,
});

async function failure(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => error,
  );
}

describe('a metadata-only request', () => {
  it('accepts partial metadata, and a full object from servers that do not support it', async () => {
    const list = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadataList', metadata: {}, items: [] };
    const event = { type: 'ADDED', object: pod };
    const { url, seen } = await serve((request, response) => {
      const isWatch = request.url.includes('watch=true');
      response.end(isWatch ? `${JSON.stringify(event)}\n` : JSON.stringify(list));
    });
    const client = connect(url);
    await client.list(pods, { metadataOnly: true });
    for await (const _ of client.watch(pods, { metadataOnly: true })) break;
    await client.list(pods);
    expect(seen.map(({ headers }) => headers.accept)).toEqual([
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
      'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
      'application/json',
    ]);
  });
});

describe('a request on the wire', () => {
  const call = async (work: (client: HttpClient) => Promise<unknown>, answer: unknown = pod): Promise<Seen> => {
    const { url, seen } = await serve(json(answer));
    await work(connect(url, { userAgent: 'capstan/1' }));
    return seen[0]!;
  };

  it.each<[string, (client: HttpClient) => Promise<unknown>, string, string, unknown?]>([
    ['a get', (c) => c.get(pods, key), 'GET', '/api/v1/namespaces/n/pods/p'],
    ['a get of a cluster-scoped object', (c) => c.get(nodes, { name: 'x' }), 'GET', '/api/v1/nodes/x'],
    [
      'a get at a version',
      (c) => c.get(pods, key, { resourceVersion: '0' }),
      'GET',
      '/api/v1/namespaces/n/pods/p?resourceVersion=0',
    ],
    ['a list of all namespaces', (c) => c.list(clusters), 'GET', '/apis/cluster.x-k8s.io/v1beta2/clusters'],
    [
      'a list with everything',
      (c) =>
        c.list(clusters, {
          namespace: 'n',
          labelSelector: 'a=b,c',
          fieldSelector: 'metadata.name=x',
          limit: 5,
          continue: 't',
          resourceVersion: '7',
          resourceVersionMatch: 'Exact',
        }),
      'GET',
      '/apis/cluster.x-k8s.io/v1beta2/namespaces/n/clusters?labelSelector=a%3Db%2Cc&fieldSelector=metadata.name%3Dx&limit=5&continue=t&resourceVersion=7&resourceVersionMatch=Exact',
    ],
    ['a create', (c) => c.create(pods, pod, by), 'POST', '/api/v1/namespaces/n/pods?fieldManager=tester', pod],
    [
      'a dry run',
      (c) => c.create(pods, pod, { ...by, dryRun: true }),
      'POST',
      '/api/v1/namespaces/n/pods?fieldManager=tester&dryRun=All',
      pod,
    ],
    [
      'an update of the status',
      (c) => c.update(pods, pod, { ...by, subresource: 'status' }),
      'PUT',
      '/api/v1/namespaces/n/pods/p/status?fieldManager=tester',
      pod,
    ],
    [
      'a patch',
      (c) => c.patch(pods, key, 'merge', { a: null }, by),
      'PATCH',
      '/api/v1/namespaces/n/pods/p?fieldManager=tester',
      { a: null },
    ],
    [
      'an apply',
      (c) => c.apply(clusters, { metadata: { name: 'p', namespace: 'n' } }, { ...by, force: true }),
      'PATCH',
      '/apis/cluster.x-k8s.io/v1beta2/namespaces/n/clusters/p?fieldManager=tester&force=true',
      { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', metadata: { name: 'p', namespace: 'n' } },
    ],
    [
      'a delete',
      (c) => c.delete(pods, key, { propagationPolicy: 'Foreground', preconditions: { uid: 'u' }, dryRun: true }),
      'DELETE',
      '/api/v1/namespaces/n/pods/p',
      {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        propagationPolicy: 'Foreground',
        preconditions: { uid: 'u' },
        dryRun: ['All'],
      },
    ],
    [
      'a delete of many',
      (c) => c.deleteCollection(pods, { namespace: 'n', labelSelector: 'a' }),
      'DELETE',
      '/api/v1/namespaces/n/pods?labelSelector=a',
      { kind: 'DeleteOptions', apiVersion: 'v1' },
    ],
    [
      'a post to a subresource',
      (c) => c.createSubresource(pods, key, 'eviction', pod, by),
      'POST',
      '/api/v1/namespaces/n/pods/p/eviction?fieldManager=tester',
      pod,
    ],
  ])('is correct for %s', async (_, work, method, url, body) => {
    const request = await call(work);
    expect({ method: request.method, url: request.url }).toEqual({ method, url });
    expect(request.body === '' ? undefined : JSON.parse(request.body)).toEqual(body);
    expect(request.headers).toMatchObject({
      authorization: 'Bearer secret',
      'user-agent': 'capstan/1',
      accept: 'application/json',
    });
  });

  it.each([
    ['json', 'application/json-patch+json'],
    ['merge', 'application/merge-patch+json'],
    ['strategic', 'application/strategic-merge-patch+json'],
  ] as const)('names the content type of a %s patch', async (type, contentType) => {
    const request = await call((c) => c.patch(pods, key, type, [], by));
    expect(request.headers['content-type']).toBe(contentType);
  });

  it('keeps the path of the server URL and carries impersonation headers', async () => {
    const { url, seen } = await serve(json(pod));
    await connect(
      `${url}/k8s/clusters/c1`,
      {},
      { impersonate: { user: 'boss', groups: ['a', 'b'], extra: { 'Scope/x': ['1'] } } },
    ).get(pods, key);
    expect(seen[0]!.url).toBe('/k8s/clusters/c1/api/v1/namespaces/n/pods/p');
    expect(seen[0]!.headers).toMatchObject({
      'impersonate-user': 'boss',
      'impersonate-group': 'a, b',
      'impersonate-extra-scope%2fx': '1',
    });
  });

  it('is refused for a namespaced object without a namespace', async () => {
    const { url, seen } = await serve(json(pod));
    await expect(async () => connect(url).get(pods, { name: 'p' })).rejects.toThrow(/without a namespace/);
    expect(seen).toEqual([]);
  });
});

describe('a response', () => {
  it('gets the apiVersion and kind that servers omit in list items', async () => {
    const { url } = await serve(
      json({
        apiVersion: 'v1',
        kind: 'PodList',
        metadata: { resourceVersion: '5' },
        items: [{ metadata: { name: 'p' } }],
      }),
    );
    expect((await connect(url).list(pods)).items).toEqual([{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } }]);
  });

  it.each([
    ['a Status', { kind: 'Status', status: 'Success' }, undefined],
    ['an object that is gone', pod, undefined],
    [
      'an object held by a finalizer',
      { ...pod, metadata: { ...pod.metadata, deletionTimestamp: 't', finalizers: ['f'] } },
      'p',
    ],
    [
      'an object in its grace period',
      { ...pod, metadata: { ...pod.metadata, deletionTimestamp: 't', deletionGracePeriodSeconds: 30 } },
      'p',
    ],
    [
      'a terminating namespace',
      { ...pod, metadata: { name: 'p', deletionTimestamp: 't' }, spec: { finalizers: ['kubernetes'] } },
      'p',
    ],
  ])('to a delete with %s tells whether an object remains', async (_, answer, name) => {
    const { url } = await serve(json(answer));
    expect((await connect(url).delete(pods, key))?.metadata.name).toBe(name);
  });

  it('with an error becomes an error with the Status of the server', async () => {
    const { url } = await serve(json(status(404, 'NotFound', 'pods "p" not found'), 404));
    const error = await failure(connect(url).get(pods, key));
    expect(isNotFound(error)).toBe(true);
    expect((error as Error).message).toBe('pods "p" not found');
  });

  it('that is not from Kubernetes is quoted in the error', async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(403, { 'content-type': 'text/html' });
      response.end('<h1>proxy says no</h1>');
    });
    const error = (await failure(connect(url).get(pods, key))) as ApiStatusError;
    expect(error).toBeInstanceOf(ApiStatusError);
    expect(error.reason).toBe('Forbidden');
    expect(error.message).toContain('proxy says no');
  });

  it('of a server named by a tenant is not quoted unless from Kubernetes, and limited in size', async () => {
    const guard = { peers: anyPeer, maxAnswerBytes: 100_000 };
    let sent = 0;
    const { url } = await serve(({ url: path }, response) => {
      if (!path.includes('endless')) {
        response.writeHead(403, { 'content-type': 'text/html' });
        response.end('<h1>internal page</h1>');
        return;
      }
      const more = (): void => {
        while (!response.destroyed) {
          sent += 50_000;
          if (!response.write('x'.repeat(50_000))) return void response.once('drain', more);
        }
      };
      more();
    });
    const error = (await failure(connect(url, {}, { guard }).get(pods, key))) as ApiStatusError;
    expect(error.message).toMatch(/^the server answered 403 to GET [^ ]+$/);
    const endless = { namespace: 'n', name: 'endless' };
    const tooLarge = await failure(connect(url, {}, { guard }).get(pods, endless));
    expect((tooLarge as Error).message).toBe('the server answered with more than 100000 bytes');
    const watching = connect(url, {}, { guard }).watch(pods, { namespace: 'endless' });
    await expect(watching[Symbol.asyncIterator]().next()).rejects.toThrow('larger than 100000 bytes');
    expect(sent).toBeLessThan(16_000_000);
  });

  it('is not requested from an address that the operator denies', async () => {
    const { url, seen } = await serve(json(pod));
    const guard = { peers: peerPolicy({ deny: loopbackNetworks, allow: [] }), maxAnswerBytes: 100_000 };
    for (const server of [url, url.replace('127.0.0.1', 'localhost')]) {
      const error = await failure(connect(server, {}, { guard }).get(pods, key));
      expect((error as Error).message).toContain('must not be connected to from here');
      await expect(portForward({ ...config(server), guard }, key, 1)).rejects.toThrow('must not be connected to');
      const proxied = connect('http://10.0.0.1', {}, { guard, proxyUrl: server }).get(pods, key);
      expect(((await failure(proxied)) as Error).message).toContain('must not be connected to from here');
    }
    expect(seen).toEqual([]);
  });

  it('passes its warnings and every attempt to the hooks', async () => {
    const warnings: string[] = [];
    const requests: string[] = [];
    const { url } = await serve(
      json(pod, 200, { warning: ['299 - "unknown field \\"x\\""', '299 - "a", 299 - "b"', '199 - "other"'] }),
    );
    const client = connect(url, {
      onWarning: (text) => warnings.push(text),
      onRequest: ({ method, code }) => requests.push(`${method} ${code}`),
    });
    await client.get(pods, key);
    expect(warnings).toEqual(['unknown field "x"', 'a', 'b']);
    expect(requests).toEqual(['GET 200']);
  });
});

describe('request accounting', () => {
  it('records origin, verb and resource of every request', async () => {
    const budget: string[] = [];
    const { url } = await serve(json(pod));
    const client = connect(url, {
      onRequest: ({ origin = 'nobody', verb = 'none', resource = 'none' }) =>
        budget.push(`${origin} ${verb} ${resource}`),
    });
    await client.get(pods, key);
    const [one, two] = [onBehalfOf('one', client), onBehalfOf('two', client)];
    await one.update(pods, pod, { ...by, subresource: 'status' });
    await Promise.all([
      two.apply(clusters, { metadata: { name: 'c', namespace: 'n' } }, by),
      one.delete(pods, key),
      client.list(pods, { namespace: 'n' }),
    ]);
    await client.raw('/version');
    expect(budget.toSorted()).toEqual([
      'nobody get pods',
      'nobody list pods',
      'nobody none none',
      'one delete pods',
      'one update pods/status',
      'two apply clusters.cluster.x-k8s.io',
    ]);
  });
});

describe('a path without an object', () => {
  it('is read at once with the given accept header, or as a stream', async () => {
    const { url, seen } = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.end('ok');
    });
    const client = connect(url);
    expect(await client.raw('/readyz?verbose', { accept: 'text/plain' })).toEqual({
      contentType: 'text/plain',
      body: 'ok',
    });
    expect(seen[0]).toMatchObject({ url: '/readyz?verbose', headers: { accept: 'text/plain' } });
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await client.download('/backup')).chunks) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe('ok');
  });
});

describe('a retry', () => {
  const sequence = (answers: Answer[]): Answer => {
    let next = 0;
    return (request, response) => answers[Math.min(next++, answers.length - 1)]!(request, response);
  };
  const reset: Answer = (_, response) => response.socket?.destroy();

  it.each([
    ['a GET after a reset', reset, 'GET', 2],
    ['a GET after 503', json(status(503, 'ServiceUnavailable'), 503), 'GET', 2],
    ['a GET after 429', json(status(429, 'TooManyRequests'), 429), 'GET', 2],
    ['a POST after 429 with Retry-After', json(status(429, 'TooManyRequests'), 429, { 'retry-after': '1' }), 'POST', 2],
    [
      'a POST after 503 with Retry-After',
      json(status(503, 'ServiceUnavailable'), 503, { 'retry-after': '1' }),
      'POST',
      2,
    ],
    ['no POST after 503 alone', json(status(503, 'ServiceUnavailable'), 503), 'POST', 1],
    ['no POST after a reset', reset, 'POST', 1],
    ['no GET after 500', json(status(500, 'InternalError'), 500), 'GET', 1],
    ['no GET after 409', json(status(409, 'Conflict'), 409), 'GET', 1],
    [
      'no GET when asked to come back in an hour',
      json(status(503, 'ServiceUnavailable'), 503, { 'retry-after': '3600' }),
      'GET',
      1,
    ],
  ] as const)('repeats %s', async (_, bad, method, requests) => {
    const { url, seen } = await serve(sequence([bad, json(pod)]));
    const client = connect(url);
    const work = method === 'GET' ? client.get(pods, key) : client.create(pods, pod, by);
    if (requests === 1) await failure(work);
    else expect(await work).toEqual(pod);
    expect(seen).toHaveLength(requests);
  });

  it('asks for a permit each time, and sends nothing without one', async () => {
    const busy = json(status(429, 'TooManyRequests'), 429, { 'retry-after': '1' });
    const { url, seen } = await serve(busy);
    let permits = 1;
    const refusal = new CapstanError('CAP_LEASE_NOT_HELD', 'the lease is gone');
    const permit = (): void => {
      if (permits-- === 0) throw refusal;
    };
    expect(await failure(connect(url).create(pods, pod, { ...by, permit }))).toBe(refusal);
    expect(seen).toHaveLength(1);
  });

  it('ends after the maximum number of attempts', async () => {
    const { url, seen } = await serve(json(status(503, 'ServiceUnavailable'), 503));
    expect(((await failure(connect(url, { maxAttempts: 3 }).get(pods, key))) as ApiStatusError).code).toBe(503);
    expect(seen).toHaveLength(3);
  });

  it('asks for new credentials once after 401, whatever the verb', async () => {
    const { url, seen } = await serve((request, response) =>
      json(
        request.headers.authorization === 'Bearer new' ? pod : status(401, 'Unauthorized'),
        request.headers.authorization === 'Bearer new' ? 200 : 401,
      )(request, response),
    );
    let token = 'old';
    const credentials: CredentialSource = {
      get: () => Promise.resolve({ token }),
      refresh: () => {
        token = 'new';
        return true;
      },
    };
    expect(await connect(url, {}, { credentials }).create(pods, pod, by)).toEqual(pod);
    expect(seen).toHaveLength(2);
  });
});

describe('a request without an answer', () => {
  it('fails with the name of the server and a hint', async () => {
    const error = (await failure(
      connect('http://127.0.0.1:1', { maxAttempts: 1 }).get(pods, key),
    )) as ApiUnreachableError;
    expect(error).toBeInstanceOf(ApiUnreachableError);
    expect(error.message).toContain('http://127.0.0.1:1');
    expect(error.hint).toContain('is the API server running');
  });

  it('fails after the timeout', async () => {
    const { url } = await serve(() => {});
    const error = await failure(connect(url, { requestTimeoutMs: 20 }).get(pods, key));
    expect((error as Error).message).toContain('no answer within 0.02 s');
  });

  it('fails at once when the caller aborts', async () => {
    const stop = new AbortController();
    const { url } = await serve(() => stop.abort(new Error('enough')));
    expect(await failure(connect(url).get(pods, key, { signal: stop.signal }))).toEqual(new Error('enough'));
  });

  it('fails when the client was closed', async () => {
    const { url } = await serve(json(pod));
    const client = connect(url);
    await client.get(pods, key);
    await client.close();
    expect(await failure(client.get(pods, key))).toBeInstanceOf(ApiUnreachableError);
  });
});

describe('a watch', () => {
  const event = (type: string, name: string): string =>
    `${JSON.stringify({ type, object: { ...pod, metadata: { name } } })}\n`;
  const collect = async (
    events: AsyncIterable<WatchEvent<KubeObject>>,
  ): Promise<{ names: string[]; error?: unknown }> => {
    const names: string[] = [];
    try {
      for await (const { type, object } of events) names.push(`${type} ${object.metadata.name}`);
      return { names };
    } catch (error) {
      return { names, error };
    }
  };

  it('delivers events split anywhere until the server ends the stream', async () => {
    const text = Buffer.from(event('ADDED', 'ä') + event('MODIFIED', '漢字'));
    const { url, seen } = await serve((_, response) => {
      response.writeHead(200);
      const send = (at: number): void => {
        if (at >= text.length) response.end();
        else response.write(text.subarray(at, at + 7), () => setImmediate(() => send(at + 7)));
      };
      send(0);
    });
    const client = connect(url);
    const result = await collect(
      client.watch(pods, {
        namespace: 'n',
        resourceVersion: '5',
        allowWatchBookmarks: true,
        sendInitialEvents: true,
        resourceVersionMatch: 'NotOlderThan',
        timeoutSeconds: 9,
      }),
    );
    expect(result).toEqual({ names: ['ADDED ä', 'MODIFIED 漢字'] });
    expect(seen[0]!.url).toBe(
      '/api/v1/namespaces/n/pods?watch=true&resourceVersion=5&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=9',
    );
  });

  it.each<[string, string, (error: unknown) => boolean]>([
    ['an ERROR event', `${JSON.stringify({ type: 'ERROR', object: status(410, 'Expired') })}\n`, isExpired],
    ['a line that is not JSON', 'nonsense\n', (error) => error instanceof WatchDecodeError],
    ['an event without an object', '{"type":"ADDED"}\n', (error) => error instanceof WatchDecodeError],
    ['an event that breaks off', '{"type":"ADD', (error) => error instanceof WatchDecodeError],
  ])('fails on %s after delivering earlier events', async (_, text, expected) => {
    const { url } = await serve((_request, response) => response.end(event('ADDED', 'a') + text));
    const { names, error } = await collect(connect(url).watch(pods));
    expect(names).toEqual(['ADDED a']);
    expect(expected(error)).toBe(true);
  });

  it('fails when it is refused', async () => {
    const { url } = await serve(json(status(409, 'Conflict'), 409));
    expect(isConflict((await collect(connect(url).watch(pods))).error)).toBe(true);
  });

  it('fails when the connection dies', async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(200);
      response.write(event('ADDED', 'a'), () => response.socket?.destroy());
    });
    const { names, error } = await collect(connect(url).watch(pods));
    expect(names).toEqual(['ADDED a']);
    expect(error).toBeInstanceOf(Error);
  });

  it('ends without an error when the caller aborts, and closes the connection', async () => {
    const stop = new AbortController();
    let closed = (): void => {};
    const closing = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const { url } = await serve((_, response) => {
      response.on('close', closed);
      response.writeHead(200);
      response.write(event('ADDED', 'a'));
    });
    const names: string[] = [];
    for await (const { object } of connect(url).watch(pods, { signal: stop.signal })) {
      names.push(object.metadata.name ?? '');
      stop.abort();
    }
    await closing;
    expect(names).toEqual(['a']);
  });

  it('closes the connection when the caller stops reading', async () => {
    let closed = (): void => {};
    const closing = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const { url } = await serve((_, response) => {
      response.on('close', closed);
      response.writeHead(200);
      response.write(event('ADDED', 'a'));
    });
    for await (const _ of connect(url).watch(pods)) break;
    await closing;
  });
});
