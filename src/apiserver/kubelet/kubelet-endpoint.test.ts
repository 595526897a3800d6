import { request as httpsRequest } from 'node:https';
import { type Duplex, duplexPair } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock, type UnstructuredObject } from '../../machinery/index.ts';
import { type CertificateAndKey, createAuthority, issueCertificate } from '../../pki/index.ts';
import { data, SpdyClient } from '../http/spdy/testing/spdy-client.ts';
import { type KubeletEndpoint, startKubeletEndpoint } from './kubelet-endpoint.ts';

const clock = systemClock;
const pod: UnstructuredObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { containers: [{ name: 'c' }] },
};

let endpoint: KubeletEndpoint;
let authority: CertificateAndKey;
let apiServer: CertificateAndKey;
let stranger: CertificateAndKey;
let foreigner: CertificateAndKey;
const asked: unknown[] = [];

beforeAll(async () => {
  authority = await createAuthority({ commonName: 'clients', clock });
  const other = await createAuthority({ commonName: 'others', clock });
  const issue = (by: CertificateAndKey, commonName: string): Promise<CertificateAndKey> =>
    issueCertificate({ authority: by, commonName, usages: ['client'], clock });
  [apiServer, stranger, foreigner] = await Promise.all([
    issue(authority, 'kube-apiserver'),
    issue(authority, 'stranger'),
    issue(other, 'kube-apiserver'),
  ]);
  endpoint = await startKubeletEndpoint({
    host: '127.0.0.1',
    port: 0,
    clock,
    certificate: await issueCertificate({
      authority: other,
      commonName: 'node',
      hosts: ['127.0.0.1'],
      usages: ['server'],
      clock,
    }),
    clientAuthorities: authority.certificate,
    authorize: async ({ name }, verb) => {
      asked.push([name, verb]);
      return name === 'kube-apiserver';
    },
    pods: {
      find: (namespace, name) => (namespace === 'n' && name === 'p' ? pod : undefined),
      async *logs(_pod, { container, tailLines }) {
        yield `${container} said\n`;
        yield `${tailLines} lines\n`;
      },
      async connect(_pod, port) {
        const [near, far] = duplexPair();
        far.write(`port ${port}`);
        return near;
      },
      async execute(_pod, { command, container, out }) {
        out(`${container}: ${command.join(' ')}`);
        return 0;
      },
      async attach() {},
    },
  });
});
afterAll(() => endpoint.close());

interface Answer {
  code: number;
  body: string;
}

function options(path: string, client?: CertificateAndKey): object {
  return {
    host: '127.0.0.1',
    port: endpoint.port,
    path,
    rejectUnauthorized: false,
    agent: false,
    ...(client && { cert: client.certificate, key: client.privateKey }),
  };
}

function get(path: string, client?: CertificateAndKey): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(options(path, client), (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () => resolve({ code: response.statusCode ?? 0, body }));
    });
    request.on('error', reject).end();
  });
}

/** Connects like an API server: POST with an upgrade to SPDY. */
function talk(path: string, protocol: string, client?: CertificateAndKey): Promise<Duplex | number> {
  const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocol };
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ ...options(path, client), method: 'POST', headers });
    request.on('upgrade', (_response, socket) => resolve(socket));
    request.on('response', (response) => resolve(response.statusCode ?? 0));
    request.on('error', reject).end();
  });
}

describe('the kubelet endpoint', () => {
  it('serves logs to clients with the right to the node proxy', async () => {
    asked.length = 0;
    expect(await get('/containerLogs/n/p/c?tailLines=5', apiServer)).toEqual({ code: 200, body: 'c said\n5 lines\n' });
    expect(asked).toEqual([['kube-apiserver', 'get']]);
  });

  it.each<[string, () => CertificateAndKey | undefined, number]>([
    ['without a certificate', () => undefined, 401],
    ['with a certificate of another authority', () => foreigner, 401],
    ['without the right to', () => stranger, 403],
  ])('refuses clients %s', async (_who, client, code) => {
    expect((await get('/containerLogs/n/p/c', client())).code).toBe(code);
    expect(await talk('/exec/n/p/c?command=id&output=1', 'v4.channel.k8s.io', client())).toBe(code);
    expect(await talk('/portForward/n/p', 'portforward.k8s.io', client())).toBe(code);
  });

  it('answers 404, 422 or 400 for requests that it cannot serve', async () => {
    expect((await get('/containerLogs/n/absent/c', apiServer)).code).toBe(404);
    expect((await get('/containerLogs/n/p/c?tailLines=x', apiServer)).code).toBe(422);
    expect((await get('/pods', apiServer)).code).toBe(404);
    expect((await get('/%E0%A4%A', apiServer)).code).toBe(400);
    expect(await talk('/exec/n/p/another-uid/c?command=id&output=1', 'v4.channel.k8s.io', apiServer)).toBe(404);
    expect(await talk('/run/n/p/c', 'v4.channel.k8s.io', apiServer)).toBe(404);
  });

  it('runs commands over the streams an API server opens', async () => {
    const path = '/exec/n/p/u/c?command=echo&command=hello&output=1&error=1';
    const socket = await talk(path, 'v5.channel.k8s.io, v4.channel.k8s.io', apiServer);
    if (typeof socket === 'number') throw new Error(`answered ${socket}`);
    const spdy = new SpdyClient(socket);
    await spdy.open(1, { streamtype: 'error' });
    await spdy.open(3, { streamtype: 'stdout' });
    await spdy.open(5, { streamtype: 'stderr' });
    await vi.waitFor(() => expect(spdy.dataOf(3).toString()).toBe('c: echo hello'));
    await vi.waitFor(() => expect(spdy.dataOf(1).toString()).toContain('"Success"'));
    spdy.close();
  });

  it('forwards ports of Pods', async () => {
    const socket = await talk('/portForward/n/p', 'portforward.k8s.io', apiServer);
    if (typeof socket === 'number') throw new Error(`answered ${socket}`);
    const spdy = new SpdyClient(socket);
    await spdy.open(1, { streamtype: 'error', port: '2379', requestid: '0' });
    await spdy.open(3, { streamtype: 'data', port: '2379', requestid: '0' });
    spdy.send(data(3, 'hello'));
    await vi.waitFor(() => expect(spdy.dataOf(3).toString()).toBe('port 2379'));
    spdy.close();
  });
});
