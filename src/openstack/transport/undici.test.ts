import { createServer as createHttpServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import { type AddressInfo, connect as connectSocket } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loopbackNetworks, peerPolicy, systemClock } from '../../machinery/index.ts';
import { type CertificateAndKey, createAuthority, issueCertificate } from '../../pki/index.ts';
import type { CloudConfig } from '../config/cloud-config.ts';
import { connect } from '../openstack.ts';
import { failureOf } from '../testing/failure.ts';
import { fakeConfig } from '../testing/fake-cloud.ts';
import { type HttpTransportOptions, httpTransport, type TlsSettings } from './undici.ts';

let authority: CertificateAndKey;
let serverCertificate: CertificateAndKey;
let clientCertificate: CertificateAndKey;
const cleanUps: (() => Promise<unknown> | unknown)[] = [];

beforeAll(async () => {
  const clock = systemClock;
  authority = await createAuthority({ commonName: 'cloud', clock });
  const hosts = ['127.0.0.1', 'cloud.test'];
  serverCertificate = await issueCertificate({ authority, commonName: 'k', hosts, usages: ['server'], clock });
  clientCertificate = await issueCertificate({ authority, commonName: 'me', usages: ['client'], clock });
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUps.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  );
  return (server.address() as AddressInfo).port;
}

const tlsServer = (answer: RequestListener, options: ServerOptions = {}): Promise<number> =>
  listen(
    createHttpsServer({ cert: serverCertificate.certificate, key: serverCertificate.privateKey, ...options }, answer),
  );

function transportWith(tls: Partial<TlsSettings>, env: HttpTransportOptions['env'] = {}) {
  const transport = httpTransport({ tls: { verify: true, ...tls }, env });
  cleanUps.push(() => transport.close?.());
  return transport;
}

const get = { method: 'GET', headers: {} };
const ok: RequestListener = (_request, response) => response.end('fine');

describe('a server that a tenant names', () => {
  const tls = { verify: true };
  const using = (options: Partial<HttpTransportOptions>) => {
    const transport = httpTransport({ tls, env: {}, ...options });
    cleanUps.push(() => transport.close?.());
    return transport;
  };

  it('cannot fill the memory with one answer', async () => {
    let sent = 0;
    const port = await listen(
      createHttpServer((_request, response) => {
        const more = (): void => {
          while (!response.destroyed) {
            sent += 100_000;
            if (!response.write(Buffer.alloc(100_000))) return void response.once('drain', more);
          }
        };
        more();
      }),
    );
    const transport = using({ maxAnswerBytes: 1_000_000 });
    const error = await failureOf(
      connect(fakeConfig({ authUrl: `http://127.0.0.1:${port}/v3` }), { transport }).projectId(),
    );
    expect(error).toMatchObject({ kind: 'unexpected' });
    expect(error.message).toContain('answered with more than is taken at once');
    expect(sent).toBeLessThan(32_000_000);
  });

  it('is not asked where the operator forbids its address, by whatever name', async () => {
    let asked = 0;
    const port = await listen(
      createHttpServer((_request, response) => {
        asked++;
        response.end('{}');
      }),
    );
    const transport = using({ peers: peerPolicy({ deny: loopbackNetworks, allow: [] }) });
    for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::ffff:127.0.0.1]']) {
      const config = fakeConfig({ authUrl: `http://${host}:${port}/v3` });
      const error = await failureOf(connect(config, { transport }).projectId());
      expect(error.message).toContain('must not be connected to from here');
    }
    expect(asked).toBe(0);
    const allowed = using({ peers: peerPolicy({ deny: loopbackNetworks, allow: ['127.0.0.1'] }) });
    expect((await allowed({ ...get, url: `http://127.0.0.1:${port}/` })).status).toBe(200);
  });
});

describe('httpTransport', () => {
  it('keeps connections open', async () => {
    const sockets = new Set<unknown>();
    const port = await listen(
      createHttpServer((request: IncomingMessage, response) => {
        sockets.add(request.socket);
        response.end();
      }),
    );
    const transport = transportWith({});
    for (let i = 0; i < 20; i++) await transport({ ...get, url: `http://127.0.0.1:${port}/` });
    // A connection may still be finishing its last response when the next request starts.
    expect(sockets.size).toBeLessThanOrEqual(2);
  });

  it('sends bodies whole and as streams', async () => {
    const port = await listen(
      createHttpServer((request, response) => {
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => response.end(Buffer.concat(chunks)));
      }),
    );
    const transport = transportWith({});
    const url = `http://127.0.0.1:${port}/`;
    const text = async (body: object): Promise<string> =>
      Buffer.from((await transport({ method: 'PUT', url, headers: {}, ...body })).body).toString();
    async function* stream(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('in ');
      yield Buffer.from('parts');
    }
    expect(await text({ body: 'text' })).toBe('text');
    expect(await text({ body: Buffer.from('bytes') })).toBe('bytes');
    expect(await text({ stream: stream() })).toBe('in parts');
  });

  it('trusts the given authority, or any when told to', async () => {
    const url = `https://127.0.0.1:${await tlsServer(ok)}/`;
    await expect(transportWith({})({ ...get, url })).rejects.toThrow();
    expect((await transportWith({ ca: authority.certificate })({ ...get, url })).status).toBe(200);
    expect((await transportWith({ verify: false })({ ...get, url })).status).toBe(200);
  });

  it('presents a client certificate from two files or one', async () => {
    const port = await tlsServer(ok, { ca: authority.certificate, requestCert: true, rejectUnauthorized: true });
    const url = `https://127.0.0.1:${port}/`;
    const { certificate, privateKey } = clientCertificate;
    const ca = authority.certificate;
    expect((await transportWith({ ca, cert: certificate, key: privateKey })({ ...get, url })).status).toBe(200);
    expect((await transportWith({ ca, cert: certificate + privateKey })({ ...get, url })).status).toBe(200);
    await expect(transportWith({ ca })({ ...get, url })).rejects.toThrow();
  });

  it('goes through the proxy of the environment, with a tunnel for https', async () => {
    const port = await tlsServer((_request, response) => response.end('through'));
    const tunnels: string[] = [];
    const proxy = createHttpServer((request, response) => response.end(`plain ${request.url}`));
    proxy.on('connect', (request, client, head) => {
      tunnels.push(String(request.url));
      const upstream = connectSocket(port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        upstream.write(head);
        upstream.pipe(client).pipe(upstream);
      });
      client.on('error', () => upstream.destroy());
      upstream.on('error', () => client.destroy());
      cleanUps.push(
        () => upstream.destroy(),
        () => client.destroy(),
      );
    });
    const proxyUrl = `http://127.0.0.1:${await listen(proxy)}`;
    const transport = transportWith({ ca: authority.certificate }, { HTTPS_PROXY: proxyUrl, HTTP_PROXY: proxyUrl });
    const body = async (url: string): Promise<string> =>
      Buffer.from((await transport({ ...get, url })).body).toString();
    expect(await body('https://cloud.test:5000/v3')).toBe('through');
    expect(tunnels).toEqual(['cloud.test:5000']);
    expect(await body('http://cloud.test/v3')).toBe('plain http://cloud.test/v3');
  });
});

describe('errors shown to a user', () => {
  const login = (config: Partial<CloudConfig>, env: HttpTransportOptions['env'] = {}) => {
    const { tls, ...rest } = config;
    const transport = transportWith(tls ?? {}, env);
    return failureOf(connect(fakeConfig(rest), { transport, patience: { attempts: 1 } }).projectId());
  };

  it('explain a certificate that is not trusted', async () => {
    const authUrl = `https://127.0.0.1:${await tlsServer(ok)}/v3`;
    const error = await login({ authUrl });
    expect(error.kind).toBe('tls');
    expect(error.message).toMatch(
      /^identity: https:\/\/127\.0\.0\.1:\d+\/v3 has a TLS certificate that is not trusted \[.*; set cacert/,
    );
  });

  it('explain a certificate for another name', async () => {
    const other = await issueCertificate({
      authority,
      commonName: 'x',
      hosts: ['x.test'],
      usages: ['server'],
      clock: systemClock,
    });
    const port = await tlsServer(ok, { cert: other.certificate, key: other.privateKey });
    const error = await login({
      authUrl: `https://127.0.0.1:${port}/v3`,
      tls: { verify: true, ca: authority.certificate },
    });
    expect(error.message).toContain('has a TLS certificate for another name');
  });

  it('explain that the server requires a client certificate', async () => {
    const port = await tlsServer(ok, { ca: authority.certificate, requestCert: true, rejectUnauthorized: true });
    const error = await login({
      authUrl: `https://127.0.0.1:${port}/v3`,
      tls: { verify: true, ca: authority.certificate },
    });
    expect(error.message).toMatch(/client certificate|closed the connection/);
  });

  it('explain that https was spoken to a server of http', async () => {
    const port = await listen(createHttpServer(ok));
    const error = await login({ authUrl: `https://127.0.0.1:${port}/v3` });
    expect(error.message).toContain('does not speak TLS');
  });

  it('explain that nobody listens', async () => {
    const port = await listen(createHttpServer(ok));
    await cleanUps.pop()!();
    const error = await login({ authUrl: `http://127.0.0.1:${port}/v3` });
    expect(error).toMatchObject({ kind: 'network', notSent: true });
    expect(error.message).toContain('refuses connections');
  });

  it('explain that the connection broke', async () => {
    const port = await listen(createHttpServer((request) => request.socket.destroy()));
    expect((await login({ authUrl: `http://127.0.0.1:${port}/v3` })).message).toContain('closed the connection');
  });

  it('explain that a proxy answered with a page', async () => {
    const page = '<html><head><title>Corporate policy</title></head><body>Please log in</body></html>';
    const proxy = createHttpServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(page);
    });
    const proxyUrl = `http://127.0.0.1:${await listen(proxy)}`;
    const error = await login({ authUrl: 'http://cloud.test/v3' }, { HTTP_PROXY: proxyUrl });
    expect(error.kind).toBe('notOpenStack');
    expect(error.message).toContain('answered with a web page instead of an OpenStack API answer (POST');
  });

  it('explain that a proxy requires a password', async () => {
    const proxy = createHttpServer();
    proxy.on('connect', (_request, client) => client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'));
    const proxyUrl = `http://127.0.0.1:${await listen(proxy)}`;
    const error = await login({ authUrl: 'https://cloud.test/v3' }, { HTTPS_PROXY: proxyUrl });
    expect(error.message).toMatch(/the proxy did not connect to https:\/\/cloud\.test\/v3: .*407.*; check HTTPS_PROXY/);
  });
});
