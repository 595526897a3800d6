import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../machinery/index.ts';
import { createAuthority, issueCertificate } from '../../pki/index.ts';
import { Api, configMap, type Endpoint, onTargets, type Protocol, targets } from '../testing/index.ts';

const protocols: Protocol[] = ['h1', 'h2'];
const limitBytes = 3 * 1024 * 1024;

function handshake(endpoint: Endpoint, options: ConnectionOptions): Promise<{ alpn: string | false; tls: string }> {
  return new Promise((resolve, reject) => {
    const { host, port, ca } = endpoint;
    const socket = connectTls({ host, port, ca, ...options }, () => {
      resolve({ alpn: socket.alpnProtocol ?? false, tls: socket.getProtocol() ?? '' });
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

const selfReview = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: {} };
const selfReviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

onTargets(targets, (on, { real }) => {
  describe('TLS', () => {
    it.each([
      [['h2', 'http/1.1'], 'h2'],
      [['http/1.1'], 'http/1.1'],
    ])('a client that offers %j is served with %s', async (ALPNProtocols, chosen) => {
      expect((await handshake(on().endpoint, { ALPNProtocols })).alpn).toBe(chosen);
    });

    it.each(['TLSv1.2', 'TLSv1.3'] as const)('%s is supported', async (version) => {
      const { tls } = await handshake(on().endpoint, { minVersion: version, maxVersion: version });
      expect(tls).toBe(version);
    });

    it('TLS 1.1 is refused', async () => {
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;
      await expect(handshake(on().endpoint, old)).rejects.toThrow();
    });
  });

  describe.each(protocols)('authentication over %s', (protocol) => {
    it.skipIf(real)('the CN of a client certificate becomes the user and each O a group', async () => {
      const api = await on().ours!.as('jane', ['team-a', 'team-b'], protocol);
      const { status, body } = await api.post(selfReviews, selfReview);
      expect(status).toBe(201);
      expect(body).toMatchObject({
        status: { userInfo: { username: 'jane', groups: ['team-a', 'team-b', 'system:authenticated'] } },
      });
    });

    it('a certificate of an unknown authority passes TLS and is answered 401', async () => {
      const { host, port, ca } = on().endpoint;
      const authority = await createAuthority({ commonName: 'stranger', clock: systemClock });
      const { certificate: cert, privateKey: key } = await issueCertificate({
        authority,
        commonName: 'kubernetes-admin',
        organizations: ['system:masters'],
        usages: ['client'],
        clock: systemClock,
      });
      const api = new Api({ host, port, ca, cert, key }, protocol);
      const { status, body } = await api.get('/api/v1/namespaces');
      api.close();
      expect(status).toBe(401);
      expect(body).toMatchObject({ kind: 'Status', reason: 'Unauthorized', code: 401 });
    });

    it('an unknown token is answered 401 with a Status', async () => {
      const { host, port, ca } = on().endpoint;
      const api = new Api({ host, port, ca, token: 'no-such-token' }, protocol);
      const answer = await api.get('/api/v1/namespaces', { accept: 'text/html' });
      api.close();
      expect(answer.status).toBe(401);
      expect(answer.header('content-type')).toBe('application/json');
      expect(answer.body).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'Unauthorized',
        reason: 'Unauthorized',
        code: 401,
      });
    });

    it.skipIf(real)('a request without credentials is answered 401 by default', async () => {
      const answer = await on().ours!.anonymous({ protocol }).get('/version');
      expect(answer.status).toBe(401);
      expect(answer.body).toMatchObject({ kind: 'Status', reason: 'Unauthorized' });
    });
  });

  describe.each(protocols)('messages over %s', (protocol) => {
    it('the headers of a watch are sent before the first event', async () => {
      const api = on().connect(protocol);
      const ns = await on().namespace();
      const { resourceVersion } = (await api.get(ns.core('secrets'))).object.metadata;
      const watch = await api.watch(`${ns.core('secrets')}?watch=true&resourceVersion=${resourceVersion}`);
      expect(watch.status).toBe(200);
      expect(watch.headers['content-type']).toBe('application/json');
      if (protocol === 'h1') expect(watch.headers['transfer-encoding']).toBe('chunked');
      watch.close();
    });

    it('a body of 3 MiB or more is answered 413, whether or not its length is declared', async () => {
      const api = on().connect(protocol);
      const ns = await on().namespace();
      const big = configMap('big', { data: { text: 'x'.repeat(limitBytes) } });
      for (const headers of protocol === 'h1' ? [{}, { 'transfer-encoding': 'chunked' }] : [{}]) {
        const answer = await api.post(ns.core('configmaps'), big, headers);
        expect(answer.status).toBe(413);
        expect(answer.body).toMatchObject({
          reason: 'RequestEntityTooLarge',
          message: 'Request entity too large: limit is 3145728',
        });
      }
      expect((await api.get('/version')).status).toBe(200);
    });

    it('a YAML body is accepted like a JSON body', async () => {
      const api = on().connect(protocol);
      const ns = await on().namespace();
      const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: from-yaml\ndata:\n  answer: "42"\n';
      const answer = await api.post(ns.core('configmaps'), yaml, { 'content-type': 'application/yaml' });
      expect(answer.status).toBe(201);
      expect(answer.body).toMatchObject({ metadata: { name: 'from-yaml' }, data: { answer: '42' } });
    });

    it('answers above 128 KiB are compressed with gzip when the client accepts it', async () => {
      const api = on().connect(protocol);
      const ns = await on().namespace();
      await api.create(ns.core('configmaps'), configMap('large', { data: { text: 'x'.repeat(140 * 1024) } }));
      const path = `${ns.core('configmaps')}/large`;
      const packed = await api.get(path, { 'accept-encoding': 'gzip' });
      expect(packed.header('content-encoding')).toBe('gzip');
      expect(packed.bytes.length).toBeLessThan(10_000);
      expect(packed.object.metadata.name).toBe('large');
      expect((await api.get(path)).header('content-encoding')).toBeUndefined();
      const small = await api.get(`/api/v1/namespaces/${ns.name}`, { 'accept-encoding': 'gzip' });
      expect(small.header('content-encoding')).toBeUndefined();
    });

    it('every answer carries an Audit-Id: its own, or the one the client sent', async () => {
      const api = on().connect(protocol);
      const [first, second] = await Promise.all([api.get('/version'), api.get('/version')]);
      expect(first.header('audit-id')).toMatch(/^[0-9a-f-]{36}$/);
      expect(first.header('audit-id')).not.toBe(second.header('audit-id'));
      const named = await api.get('/version', { 'audit-id': 'from-the-client' });
      expect(named.header('audit-id')).toBe('from-the-client');
    });

    it('warnings are sent as Warning headers of code 299', async () => {
      const api = on().connect(protocol);
      const ns = await on().namespace();
      const answer = await api.post(ns.core('configmaps'), { ...configMap('warned'), 'quo"te': 1 });
      expect(answer.status).toBe(201);
      expect(answer.warnings).toEqual([String.raw`299 - "unknown field \"quo\\\"te\""`]);
    });
  });

  describe('HTTP answers', () => {
    it('an unknown path is a plain 404 without a Status', async () => {
      for (const path of ['/nothing', '/apis/no.such.group/v1', '/apis/no.such.group/v1/things']) {
        const answer = await on().api.get(path);
        expect(answer.status).toBe(404);
        expect(answer.text).toBe('404 page not found\n');
      }
    });

    it.each(['/api/v1/namespaces/default/nothings', '/api/v2/pods', '/apis/apps/v9', '/apis/apps/v9/deployments'])(
      'a path that a served group does not have (%s) is a 404 with a Status',
      async (path) => {
        const answer = await on().api.get(path);
        expect(answer.status).toBe(404);
        expect(answer.body).toEqual({
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: 'the server could not find the requested resource',
          reason: 'NotFound',
          details: {},
          code: 404,
        });
      },
    );

    it('a method that a resource does not support is answered 405', async () => {
      const answer = await on().api.post('/api/v1/namespaces/default/configmaps/x', configMap('x'));
      expect(answer.status).toBe(405);
      expect(answer.body).toMatchObject({ reason: 'MethodNotAllowed', code: 405 });
    });

    it('answers forbid caching by default', async () => {
      const answer = await on().api.get('/api/v1/namespaces/default');
      expect(answer.header('cache-control')).toBe('no-cache, private');
    });

    it('JSON is compact, or indented with pretty=true or for browsers and curl', async () => {
      const { api } = on();
      const path = '/api/v1/namespaces/default';
      expect((await api.get(path)).text.startsWith('{"')).toBe(true);
      expect((await api.get(`${path}?pretty=true`)).text.startsWith('{\n  "')).toBe(true);
      expect((await api.get(path, { 'user-agent': 'curl/8.0' })).text.startsWith('{\n  "')).toBe(true);
    });
  });
});
