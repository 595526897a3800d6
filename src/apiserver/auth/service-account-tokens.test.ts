import { createHmac } from 'node:crypto';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { asTyped, type KubeObject, ManualClock, seededRandom } from '../../machinery/index.ts';
import { generateKeys } from '../../pki/index.ts';
import type { SecretObject } from './bootstrap-tokens.ts';
import { type JwtSigningKey, jwtSigningKey, signJwt } from './jwt.ts';
import { type BoundObjectLookup, serviceAccountTokenAuthenticator } from './service-account-tokens.ts';
import { createTokenIssuer, type TokenIssuer, type TokenRequest } from './token-issuer.ts';

const issuerUrl = 'https://kubernetes.default.svc';
const keyPair = await generateKeys();
const key: JwtSigningKey = jwtSigningKey(keyPair.privateKey);

let clock: ManualClock;
let objects: Map<string, KubeObject>;
let lookup: BoundObjectLookup;
let issuer: TokenIssuer;

function object(kind: string, name: string, uid: string, rest: object = {}): KubeObject {
  return { apiVersion: 'v1', kind, metadata: { name, namespace: 'a', uid }, ...rest };
}
const authenticator = (keys = [key]) =>
  serviceAccountTokenAuthenticator({ issuers: [issuerUrl], keys, audiences: [issuerUrl], lookup, clock });
const account = { namespace: 'a', name: 'sa', uid: 'u1' };

beforeEach(() => {
  clock = new ManualClock(Date.UTC(2026, 0, 1));
  objects = new Map([
    ['serviceaccount/sa', object('ServiceAccount', 'sa', 'u1')],
    ['pod/p', object('Pod', 'p', 'u2', { spec: { serviceAccountName: 'sa', nodeName: 'n' } })],
    ['secret/s', object('Secret', 's', 'u3')],
    ['node/n', object('Node', 'n', 'u4')],
  ]);
  const find = (kind: string) => (namespace: string, name: string) =>
    namespace === 'a' ? objects.get(`${kind}/${name}`) : undefined;
  lookup = {
    serviceAccount: find('serviceaccount'),
    pod: find('pod'),
    secret: find('secret') as (namespace: string, name: string) => SecretObject | undefined,
    node: (name) => objects.get(`node/${name}`),
  };
  issuer = createTokenIssuer({
    issuer: issuerUrl,
    signingKey: key,
    audiences: [issuerUrl],
    clock,
    random: seededRandom(1),
  });
});

describe('tokens of service accounts', () => {
  it('authenticate their account with its groups and credential id', () => {
    const { token, expiresAt } = issuer.issueServiceAccountToken(account);
    expect(expiresAt).toBe(clock.now() + 3600_000);
    const authenticate = authenticator();
    const outcome = authenticate(token);
    expect(outcome).toEqual({
      user: {
        name: 'system:serviceaccount:a:sa',
        uid: 'u1',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:a'],
        extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^JTI=[0-9a-f-]{36}$/)] },
      },
      audiences: [issuerUrl],
    });
    expect((authenticate(token) as { user: object }).user).toBe((outcome as { user: object }).user);
  });

  it('carry the pod and the node they are bound to', () => {
    const { token } = issuer.issueServiceAccountToken({
      ...account,
      bound: { kind: 'Pod', object: { name: 'p', uid: 'u2' }, node: { name: 'n', uid: 'u4' } },
    });
    expect(authenticator()(token)).toMatchObject({
      user: {
        extra: {
          'authentication.kubernetes.io/pod-name': ['p'],
          'authentication.kubernetes.io/pod-uid': ['u2'],
          'authentication.kubernetes.io/node-name': ['n'],
          'authentication.kubernetes.io/node-uid': ['u4'],
        },
      },
    });
    // the node in the token is only informational
    objects.delete('node/n');
    expect(authenticator()(token)).toHaveProperty('user');
  });

  it('expire with one minute of grace for clock skew', async () => {
    const { token } = issuer.issueServiceAccountToken({ ...account, expirationSeconds: 600 });
    const authenticate = authenticator();
    await clock.advance(659_000);
    expect(authenticate(token)).toHaveProperty('user');
    await clock.advance(2000);
    expect(authenticate(token)).toEqual({ error: 'service account token has expired' });
  });

  it('are refused before their validity begins', () => {
    const { token } = issuer.issueServiceAccountToken(account);
    clock = new ManualClock(clock.now() - 120_000);
    expect(authenticator()(token)).toEqual({ error: 'service account token is not valid yet' });
  });

  it.each([
    ['the account is gone', 'serviceaccount/sa', undefined, 'serviceaccounts "sa" not found'],
    [
      'the account is another',
      'serviceaccount/sa',
      object('ServiceAccount', 'sa', 'new'),
      'service account UID (new) does not match claim (u1)',
    ],
    ['the pod is gone', 'pod/p', undefined, 'service account token has been invalidated'],
    [
      'the pod is another',
      'pod/p',
      object('Pod', 'p', 'new'),
      'pod UID (new) does not match service account pod ref claim (u2)',
    ],
  ])('are refused at once when %s', (_, name, replacement, error) => {
    const { token } = issuer.issueServiceAccountToken({
      ...account,
      bound: { kind: 'Pod', object: { name: 'p', uid: 'u2' } },
    });
    const authenticate = authenticator();
    expect(authenticate(token)).toHaveProperty('user');
    if (replacement === undefined) objects.delete(name);
    else objects.set(name, replacement);
    expect(authenticate(token)).toEqual({ error });
  });

  it.each(['Secret', 'Node'] as const)('are refused once the %s they are bound to is gone', (kind) => {
    const name = kind === 'Secret' ? 's' : 'n';
    const uid = kind === 'Secret' ? 'u3' : 'u4';
    const { token } = issuer.issueServiceAccountToken({ ...account, bound: { kind, object: { name, uid } } });
    const authenticate = authenticator();
    expect(authenticate(token)).toHaveProperty('user');
    objects.delete(`${kind.toLowerCase()}/${name}`);
    expect(authenticate(token)).toEqual({ error: 'service account token has been invalidated' });
  });

  it('are accepted only for their audiences', () => {
    const { token } = issuer.issueServiceAccountToken({ ...account, audiences: ['vault', 'other'] });
    expect(authenticator()(token)).toEqual({
      error: `token audiences ["vault" "other"] is invalid for the target audiences ["${issuerUrl}"]`,
    });
    expect(authenticator()(token, ['vault', 'x'])).toMatchObject({ audiences: ['vault'] });
  });

  it('get no opinion when they come from another issuer or are no JWT', () => {
    const foreign = signJwt(key, { iss: 'https://elsewhere', sub: 'x' });
    for (const token of [foreign, 'abc', 'a.b.c', '', '..', 'e30.e30.']) {
      expect(authenticator()(token)).toBeUndefined();
    }
  });

  it('are refused with a broken, foreign, missing or swapped signature', async () => {
    const { token } = issuer.issueServiceAccountToken(account);
    const [header, payload, signature] = token.split('.') as [string, string, string];
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const flipped = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1);
    const symmetric = `${encode({ alg: 'HS256' })}.${payload}`;
    const forged = [
      `${header}.${payload}.${flipped}`,
      `${header}.${encode({ ...claims, sub: 'system:serviceaccount:kube-system:admin' })}.${signature}`,
      `${encode({ alg: 'none' })}.${payload}.`,
      `${symmetric}.${createHmac('sha256', keyPair.publicKey).update(symmetric).digest('base64url')}`,
      signJwt(jwtSigningKey((await generateKeys()).privateKey), claims as never),
    ];
    for (const one of forged) expect(authenticator()(one)).toEqual({ error: 'invalid signature' });
  });

  it('are accepted in one spelling only, without padding or spaces', () => {
    const { token } = issuer.issueServiceAccountToken(account);
    expect(authenticator()(`${token}=`)).toBeUndefined();
    expect(authenticator()(` ${token}`)).toBeUndefined();
  });

  it('are accepted from an older key while that key is kept', async () => {
    const newer = jwtSigningKey((await generateKeys('RSA-2048')).privateKey);
    const { token } = issuer.issueServiceAccountToken(account);
    expect(authenticator([newer, key])(token)).toHaveProperty('user');
    expect(authenticator([newer])(token)).toHaveProperty('error');
  });
});

describe('service account tokens stored in Secrets', () => {
  const claims = {
    iss: 'kubernetes/serviceaccount',
    sub: 'system:serviceaccount:a:sa',
    'kubernetes.io/serviceaccount/namespace': 'a',
    'kubernetes.io/serviceaccount/secret.name': 's',
    'kubernetes.io/serviceaccount/service-account.name': 'sa',
    'kubernetes.io/serviceaccount/service-account.uid': 'u1',
  };
  const token = signJwt(key, claims);
  const data = { token: Buffer.from(token).toString('base64') };

  it('are valid only while their Secret contains them', () => {
    const authenticate = authenticator();
    objects.set('secret/s', object('Secret', 's', 'u3', { data }));
    expect(authenticate(token)).toEqual({
      user: {
        name: 'system:serviceaccount:a:sa',
        uid: 'u1',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:a'],
      },
      audiences: [issuerUrl],
    });
    objects.set('secret/s', object('Secret', 's', 'u3', { data: { token: 'eA==' } }));
    expect(authenticate(token)).toEqual({ error: "Token does not match server's copy" });
    objects.delete('secret/s');
    expect(authenticate(token)).toEqual({ error: 'Token has been invalidated' });
  });

  it('are refused when subject and account claims differ', () => {
    objects.set('secret/s', object('Secret', 's', 'u3', { data }));
    const other = signJwt(key, { ...claims, sub: 'system:serviceaccount:a:root' });
    expect(authenticator()(other)).toEqual({ error: 'sub claim is invalid' });
  });
});

describe('answerTokenRequest', () => {
  const request = (spec: TokenRequest['spec'], metadata = {}): TokenRequest => ({
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata,
    spec: spec ?? {},
  });
  const answer = (...parameters: Parameters<typeof request>) =>
    issuer.answerTokenRequest(request(...parameters), objects.get('serviceaccount/sa')!, lookup);

  it('fills in defaults and the status with the token', () => {
    const { response, warnings } = answer({});
    expect(response).toEqual({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { name: 'sa', namespace: 'a', uid: 'u1', creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { audiences: [issuerUrl], expirationSeconds: 3600, boundObjectRef: null },
      status: { token: expect.any(String), expirationTimestamp: '2026-01-01T01:00:00Z' },
    });
    expect(warnings).toEqual([]);
    expect(authenticator()(response.status!.token)).toHaveProperty('user');
  });

  it('adds the node of the pod to a token bound to a pod', () => {
    const { response } = answer({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: 'u2' } });
    expect(authenticator()(response.status!.token)).toMatchObject({
      user: { extra: { 'authentication.kubernetes.io/node-uid': ['u4'] } },
    });
  });

  // Observed on kube-apiserver 1.34.4.
  it.each<[Parameters<typeof request>, number, string]>([
    [
      [{ expirationSeconds: 60 }],
      422,
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes',
    ],
    [
      [{ expirationSeconds: 99999999999 }],
      422,
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 99999999999: may not specify a duration larger than 2^32 seconds',
    ],
    [
      [{}, { name: 'foo' }],
      422,
      'TokenRequest.authentication.k8s.io "sa" is invalid: metadata.name: Invalid value: "foo": must match the service account name if specified',
    ],
    [
      [{ boundObjectRef: { kind: 'Foo', apiVersion: 'v1', name: 'x' } }],
      400,
      'cannot bind token to object of type /v1, Kind=Foo',
    ],
    [[{ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'x' } }], 404, 'secrets "x" not found'],
    [
      [{ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: 'old' } }],
      409,
      'Operation cannot be fulfilled on Pod "p": the UID in the bound object reference (old) does not match the UID in record. The object might have been deleted and then recreated',
    ],
  ])('refuses the request %j', (parameters, code, message) => {
    expect(() => answer(...parameters)).toThrow(expect.objectContaining({ code, message }));
  });

  it('refuses to bind to a pod of another account', () => {
    objects.set('pod/p', object('Pod', 'p', 'u2', { spec: { serviceAccountName: 'other' } }));
    expect(() => answer({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } })).toThrow(
      'cannot bind token for serviceaccount "sa" to pod running with different serviceaccount name.',
    );
  });

  it('shortens a lifetime above the maximum and warns about it', () => {
    issuer = createTokenIssuer({
      issuer: issuerUrl,
      signingKey: key,
      audiences: [issuerUrl],
      maxExpirationSeconds: 7200,
      clock,
      random: seededRandom(1),
    });
    const { response, warnings } = answer({ expirationSeconds: 10_000 });
    expect(response.spec?.expirationSeconds).toBe(7200);
    expect(warnings).toEqual(['requested expiration of 10000 seconds shortened to 7200 seconds']);
  });
});

describe('the published signing keys', () => {
  it('allow an independent library to verify tokens', async () => {
    const rsa = jwtSigningKey((await generateKeys('RSA-2048')).privateKey);
    for (const signingKey of [key, rsa]) {
      const one = createTokenIssuer({
        issuer: issuerUrl,
        signingKey,
        olderKeys: [key, rsa],
        audiences: ['x'],
        clock,
        random: seededRandom(1),
      });
      const { token } = one.issueServiceAccountToken(account);
      const keys = createLocalJWKSet(asTyped<JSONWebKeySet>(one.jwks()));
      const { payload } = await jwtVerify(token, keys, {
        issuer: issuerUrl,
        audience: 'x',
        currentDate: new Date(clock.now()),
      });
      expect(payload.sub).toBe('system:serviceaccount:a:sa');
      expect(JSON.stringify(one.jwks())).not.toContain('"d"');
    }
  });

  it('are listed in the discovery document', () => {
    expect(issuer.openIdConfiguration('https://h/openid/v1/jwks')).toEqual({
      issuer: issuerUrl,
      jwks_uri: 'https://h/openid/v1/jwks',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    });
  });
});
