import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../machinery/index.ts';
import { type CertificateAndKey, createAuthority, issueCertificate, parseCertificate } from '../../pki/index.ts';
import { bearerToken, createAuthenticator } from './authenticator.ts';
import { clientCertificateAuthenticator } from './client-certificate.ts';
import { staticTokenAuthenticator } from './static-tokens.ts';
import type { UserInfo } from './user.ts';

const zoe: UserInfo = { name: 'zoe', uid: '1', groups: ['devs'] };
const tokens = [
  staticTokenAuthenticator([
    { token: 'secret', user: zoe },
    { token: 'other', user: { name: 'yan', groups: [] } },
  ]),
];
const withToken = (authorization: string | undefined) => ({ authorization, socket: undefined });

describe('bearerToken', () => {
  it.each([
    ['Bearer abc', 'abc'],
    ['bearer  abc ', 'abc'],
    ['Bearer', undefined],
    ['Bearer ', undefined],
    ['Basic abc', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('reads from the header %j the token %j', (header, token) => {
    expect(bearerToken(header)).toBe(token);
  });
});

describe('createAuthenticator', () => {
  it('adds system:authenticated and returns the same object for the same user', () => {
    const authenticator = createAuthenticator({ tokens });
    const user = authenticator.authenticate(withToken('Bearer secret'));
    expect(user).toEqual({ name: 'zoe', uid: '1', groups: ['devs', 'system:authenticated'] });
    expect(authenticator.authenticate(withToken('Bearer secret'))).toBe(user);
  });

  it('refuses unknown tokens, even when anonymous requests are allowed', () => {
    const authenticator = createAuthenticator({ tokens, anonymous: true });
    expect(authenticator.authenticate(withToken('Bearer wrong'))).toBeUndefined();
    expect(authenticator.authenticate(withToken(undefined))).toEqual({
      name: 'system:anonymous',
      groups: ['system:unauthenticated'],
    });
  });

  it('refuses requests without credentials unless anonymous requests are allowed', () => {
    expect(createAuthenticator({ tokens }).authenticate(withToken(undefined))).toBeUndefined();
  });

  it('reports why a token was refused', () => {
    const picky = createAuthenticator({ tokens: [...tokens, () => ({ error: 'too old' })] });
    expect(picky.authenticateToken('wrong')).toEqual({ error: '[invalid bearer token, too old]' });
    expect(createAuthenticator({ tokens }).authenticateToken('wrong')).toEqual({ error: 'invalid bearer token' });
  });
});

describe('clientCertificateAuthenticator', () => {
  const clock = new ManualClock(Date.now());
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  /** Opens a real TLS connection and returns its server side. */
  async function connection(authority: CertificateAndKey, client: CertificateAndKey | undefined): Promise<TLSSocket> {
    const serving = await issueCertificate({
      authority,
      commonName: 'server',
      hosts: ['localhost'],
      usages: ['server'],
      clock,
    });
    const server = createServer({
      cert: serving.certificate,
      key: serving.privateKey,
      ca: authority.certificate,
      requestCert: true,
      rejectUnauthorized: false,
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'secureConnection') as Promise<[TLSSocket]>;
    const socket = connect({
      port: (server.address() as AddressInfo).port,
      host: '127.0.0.1',
      servername: 'localhost',
      ca: authority.certificate,
      ...(client && { cert: client.certificate, key: client.privateKey }),
    });
    socket.on('error', () => undefined);
    closing.push(() => {
      socket.destroy();
      server.close();
    });
    const [peer] = await accepted;
    peer.on('error', () => undefined);
    return peer;
  }

  it('reads user and groups from a verified certificate until it expires', async () => {
    const authority = await createAuthority({ commonName: 'ca', clock });
    const client = await issueCertificate({
      authority,
      commonName: 'kubernetes-admin',
      organizations: ['system:masters', 'devs'],
      usages: ['client'],
      clock,
    });
    const socket = await connection(authority, client);
    const local = new ManualClock(clock.now());
    const authenticator = createAuthenticator({
      certificates: clientCertificateAuthenticator({ authorities: authority.certificate, clock: local }),
      tokens,
    });
    const user = authenticator.authenticate({ authorization: 'Bearer secret', socket });
    expect(user).toEqual({
      name: 'kubernetes-admin',
      groups: ['system:masters', 'devs', 'system:authenticated'],
      extra: {
        'authentication.kubernetes.io/credential-id': [
          `X509SHA256=${parseCertificate(client.certificate).fingerprint}`,
        ],
      },
    });
    expect(authenticator.authenticate({ authorization: undefined, socket })).toBe(user);
    await local.advance(366 * 24 * 3600_000);
    expect(authenticator.authenticate({ authorization: undefined, socket })).toBeUndefined();
  });

  it('refuses certificates of another authority and server certificates', async () => {
    const authority = await createAuthority({ commonName: 'ca', clock });
    const stranger = await createAuthority({ commonName: 'ca', clock });
    const certificates = clientCertificateAuthenticator({ authorities: authority.certificate, clock });
    const foreign = await issueCertificate({ authority: stranger, commonName: 'x', usages: ['client'], clock });
    expect(certificates(await connection(authority, foreign))).toHaveProperty('error');
    const server = await issueCertificate({ authority, commonName: 'x', usages: ['server'], clock });
    expect(certificates(await connection(authority, server))).toHaveProperty('error');
  });

  it('refuses a certificate that TLS accepted but another authority signed', async () => {
    const authority = await createAuthority({ commonName: 'ca', clock });
    const other = await createAuthority({ commonName: 'other', clock });
    const client = await issueCertificate({ authority: other, commonName: 'x', usages: ['client'], clock });
    const socket = await connection(other, client);
    expect(socket.authorized).toBe(true);
    expect(clientCertificateAuthenticator({ authorities: authority.certificate, clock })(socket)).toEqual({
      error: 'x509: certificate signed by unknown authority',
    });
  });

  it('has no opinion without a certificate or when its common name is empty', async () => {
    const authority = await createAuthority({ commonName: 'ca', clock });
    const certificates = clientCertificateAuthenticator({ authorities: authority.certificate, clock });
    expect(certificates(await connection(authority, undefined))).toBeUndefined();
    const nameless = await issueCertificate({
      authority,
      commonName: '',
      organizations: ['x'],
      usages: ['client'],
      clock,
    });
    expect(certificates(await connection(authority, nameless))).toBeUndefined();
  });
});
