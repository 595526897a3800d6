import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Api, configMap, startTestServer, type TestServer } from '../testing/index.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const waiting = { timeout: 20_000, interval: 50 };
const mebibyte = 1024 * 1024;
let server: TestServer;
let admin: Api;
let jane: Api;
let joe: Api;

beforeAll(async () => {
  server = await startTestServer({ flow: { bodyBytes: 32 * mebibyte, writes: 16, watches: 16 } });
  admin = server.api();
  jane = await server.as('jane');
  joe = await server.as('joe');
  await admin.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'everybody' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: ['jane', 'joe'].map((name) => ({ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name })),
  } as never);
});
afterAll(() => server.stop());

function session({ endpoint }: Api): ClientHttp2Session {
  const { host, port, ca, cert, key } = endpoint;
  return connect(`https://${host}:${port}`, { ca, cert: cert!, key: key! });
}

/** Starts a write without sending its body. Resolves with the status code of the response, if any. */
function unfinished(client: ClientHttp2Session, length?: number): { stream: ClientHttp2Stream; code: Promise<number> } {
  const stream = client.request({
    ':method': 'POST',
    ':path': configMaps,
    'content-type': 'application/json',
    ...(length !== undefined && { 'content-length': length }),
  });
  stream.on('error', () => {});
  const code = new Promise<number>((resolve) => {
    stream.on('response', (headers) => resolve(headers[':status'] ?? 0));
    stream.on('close', () => resolve(0));
  });
  return { stream, code };
}

describe('request bodies that never end', () => {
  it.each([3 * mebibyte, 100_000, undefined])('of %s bytes do not keep other users from writing', async (length) => {
    const client = session(jane);
    const requests = Array.from({ length: 200 }, () => unfinished(client, length));
    const refused = await Promise.race(requests.map(async ({ code }) => await code));
    expect(refused).toBe(429);
    const mine = await jane.post(configMaps, configMap(`jane-${length}`, { data: { text: 'x'.repeat(mebibyte) } }));
    expect([201, 429]).toContain(mine.status);
    expect((await joe.post(configMaps, configMap(`joe-${length}`))).status).toBe(201);
    expect((await admin.post(configMaps, configMap(`admin-${length}`))).status).toBe(201);
    client.destroy();
    // Closing the connection releases its share.
    await vi.waitFor(async () => {
      const answer = await jane.post(configMaps, configMap(`jane-later-${length}`));
      expect([201, 409]).toContain(answer.status);
    }, waiting);
  });
});

describe('watches under flow control', () => {
  it('are limited per sender, so that other senders are not refused', async () => {
    const open = async (api: Api): Promise<{ status: number; close(): void }> => api.watch(`${configMaps}?watch=true`);
    const mine = await Promise.all(Array.from({ length: 20 }, () => open(jane)));
    const refused = mine.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(20);
    const [theirs, ours] = [await open(joe), await open(admin)];
    expect([theirs.status, ours.status]).toEqual([200, 200]);
    for (const watch of [...mine, theirs, ours]) watch.close();
    await vi.waitFor(async () => {
      const again = await open(jane);
      expect(again.status).toBe(200);
      again.close();
    }, waiting);
  });
});

describe('writes under flow control', () => {
  it('are refused with a Retry-After time, and succeed after it', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => jane.post(configMaps, configMap(`many-${index}`))),
    );
    for (const answer of answers) {
      expect([201, 429]).toContain(answer.status);
      if (answer.status === 429) {
        expect(answer.header('retry-after')).toBe('1');
        expect(answer.body).toMatchObject({ reason: 'TooManyRequests' });
      }
    }
    expect((await jane.post(configMaps, configMap('afterwards'))).status).toBe(201);
  });
});
