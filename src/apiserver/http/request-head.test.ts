import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom, systemClock } from '../../machinery/index.ts';
import { type AuditEvent, createAuditor } from '../audit/index.ts';
import { type Answer, configMap, type Protocol, startTestServer, type TestServer } from '../testing/index.ts';

const protocols: Protocol[] = ['h1', 'h2'];
const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
const reviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

let server: TestServer;
const events: AuditEvent[] = [];

beforeAll(async () => {
  const sink = { record: (event: AuditEvent) => void events.push(event), close: async () => undefined };
  server = await startTestServer({ auditor: createAuditor({ sink, clock: systemClock, random: seededRandom(1) }) });
});
afterEach(() => void events.splice(0));
afterAll(() => server.stop());

const tiny = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, '1']));

function completed(answer: Answer): AuditEvent | undefined {
  return events.find(({ auditID, stage }) => auditID === answer.header('audit-id') && stage === 'ResponseComplete');
}

describe.each(protocols)('the head of a request over %s', (protocol) => {
  it('is read completely: the last of 950 headers is respected', async () => {
    const api = server.api(protocol);
    const answer = await api.post(reviews, review, { ...tiny(950), 'impersonate-user': 'jane' });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ status: { userInfo: { username: 'jane' } } });
  });

  it.each([1001, 1500, 1900])('with %d more headers is refused with 431 and nothing is stored', async (count) => {
    const api = server.api(protocol);
    const answer = await api.post('/api/v1/namespaces/default/configmaps', configMap(`many-${protocol}-${count}`), {
      ...tiny(count),
      'impersonate-user': 'jane',
    });
    expect(answer.status).toBe(431);
    expect(answer.body).toMatchObject({ kind: 'Status', reason: 'RequestHeaderFieldsTooLarge', code: 431 });
    expect((await api.get(`/api/v1/namespaces/default/configmaps/many-${protocol}-${count}`)).status).toBe(404);
    expect(completed(answer)).toMatchObject({ verb: 'create', user: {}, responseStatus: { code: 431 } });
  });

  it('is refused with 431 above 64 KiB', async () => {
    const api = server.api(protocol);
    const large = Object.fromEntries(Object.keys(tiny(10)).map((name) => [name, 'x'.repeat(7 * 1024)]));
    const answer = await api.post(reviews, review, { ...large, 'impersonate-user': 'jane' });
    expect(answer.status).toBe(431);
    expect(completed(answer)).toMatchObject({ requestURI: reviews, responseStatus: { code: 431 } });
  });

  it('is never served when it is far larger than the limit', async () => {
    const api = server.api(protocol);
    const answer = await api
      .post(reviews, review, { 'x-large': 'x'.repeat(200 * 1024), 'impersonate-user': 'jane' })
      .then(({ status }) => status)
      .catch(() => 'cut off');
    expect([431, 'cut off']).toContain(answer);
    const tooMany = await api
      .post(reviews, review, { ...tiny(15_000), 'impersonate-user': 'jane' })
      .then(({ status }) => status)
      .catch(() => 'cut off');
    expect([431, 'cut off']).toContain(tooMany);
  });
});

describe.each(protocols)('the audit log over %s', (protocol) => {
  it.each([
    [{}, 'Authentication failed, no credentials provided'],
    [{ token: 'nobody-issued-this' }, 'Authentication failed, attempted: bearer'],
  ])('contains requests without valid credentials: %j', async (credentials, message) => {
    const api = server.anonymous({ ...credentials, protocol });
    const answer = await api.get('/api/v1/namespaces/default/secrets/x?pretty=1');
    expect(answer.status).toBe(401);
    expect(completed(answer)).toMatchObject({
      verb: 'get',
      requestURI: '/api/v1/namespaces/default/secrets/x?pretty=1',
      user: {},
      userAgent: 'test/1.0',
      sourceIPs: [expect.stringContaining('127.0.0.1')],
      objectRef: { resource: 'secrets', namespace: 'default', name: 'x' },
      responseStatus: { code: 401, status: 'Failure', reason: 'Unauthorized', message },
    });
    expect(JSON.stringify(events)).not.toContain('nobody-issued-this');
  });

  it('contains refused impersonations under the name of the real user', async () => {
    const jane = await server.as('jane', [], protocol);
    const answer = await jane.request('GET', '/api/v1/namespaces', undefined, { 'impersonate-user': 'admin' });
    expect(answer.status).toBe(403);
    const event = completed(answer);
    expect(event).toMatchObject({
      verb: 'list',
      user: { username: 'jane' },
      responseStatus: {
        code: 403,
        reason: 'Forbidden',
        message: expect.stringContaining('cannot impersonate resource "users"'),
      },
    });
    expect(event).not.toHaveProperty('impersonatedUser');
  });

  it('contains refused requests with code and reason', async () => {
    const jane = await server.as('jane', [], protocol);
    const forbidden = await jane.get('/api/v1/namespaces');
    expect(completed(forbidden)).toMatchObject({ responseStatus: { code: 403, reason: 'Forbidden' } });
    const api = server.api(protocol);
    const method = await api.request('PUT', '/api/v1/namespaces', configMap('x'));
    expect(completed(method)).toMatchObject({ responseStatus: { code: 405, reason: 'MethodNotAllowed' } });
    const large = await api.post('/api/v1/namespaces/default/configmaps', 'x'.repeat(4 * 1024 * 1024));
    expect(completed(large)).toMatchObject({ responseStatus: { code: 413, reason: 'RequestEntityTooLarge' } });
    const nothing = await api.get('/no/such/path');
    expect(completed(nothing)).toMatchObject({ responseStatus: { code: 404 } });
  });

  it('does not contain the request body', async () => {
    const api = server.api(protocol);
    const answer = await api.post('/api/v1/namespaces/default/secrets', {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'Not A Name' },
      data: { text: 'not base64: hush' },
    });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(completed(answer)).toMatchObject({ responseStatus: { code: answer.status } });
    expect(JSON.stringify(events)).not.toContain('hush');
  });
});
