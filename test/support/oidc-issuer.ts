import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { systemClock } from '../../src/machinery/index.ts';
import { createAuthority, issueCertificate } from '../../src/pki/index.ts';

/** An OpenID Connect issuer on loopback with a third-party implementation of signatures. */
export interface OidcIssuer {
  readonly url: string;
  /** PEM CA of its serving certificate */
  readonly authority: string;
  /** number of requests for its keys */
  asked(): number;
  /** signs with the newest key */
  token(claims: Record<string, unknown>, options?: { algorithm?: string; kid?: string }): Promise<string>;
  /** creates a new key; older ones are removed on request */
  rotate(options?: { keepOlder?: boolean; algorithm?: string }): Promise<void>;
  close(): Promise<void>;
}

export async function startOidcIssuer(): Promise<OidcIssuer> {
  const authority = await createAuthority({ commonName: 'authority of the issuer', clock: systemClock });
  const serving = await issueCertificate({
    authority,
    commonName: 'issuer',
    organizations: [],
    hosts: ['127.0.0.1'],
    usages: ['server'],
    clock: systemClock,
  });
  let keys: JWK[] = [];
  let newest: { key: CryptoKey; kid: string; algorithm: string } | undefined;
  let count = 0;
  let asked = 0;
  let url = '';
  const server: Server = createServer({ cert: serving.certificate, key: serving.privateKey }, (request, response) => {
    const answers: Record<string, () => unknown> = {
      '/.well-known/openid-configuration': () => ({ issuer: url, jwks_uri: `${url}/keys` }),
      '/keys': () => {
        asked++;
        return { keys };
      },
    };
    const answer = answers[request.url ?? ''];
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' });
    response.end(answer ? JSON.stringify(answer()) : '{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const rotate: OidcIssuer['rotate'] = async ({ keepOlder = false, algorithm = 'RS256' } = {}) => {
    const pair = await generateKeyPair(algorithm, { extractable: true });
    const kid = `key-${++count}`;
    keys = [...(keepOlder ? keys : []), { ...(await exportJWK(pair.publicKey)), kid, alg: algorithm, use: 'sig' }];
    newest = { key: pair.privateKey, kid, algorithm };
  };
  await rotate();
  return {
    url,
    authority: authority.certificate,
    asked: () => asked,
    rotate,
    token: async (claims, options = {}) => {
      const { key, kid, algorithm } = newest!;
      const now = Math.floor(systemClock.now() / 1000);
      const all = { iss: url, aud: 'capstan', exp: now + 600, iat: now, sub: 'alice', ...claims };
      return await new SignJWT(all)
        .setProtectedHeader({ alg: options.algorithm ?? algorithm, kid: options.kid ?? kid })
        .sign(key);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
