import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type OidcIssuer, startOidcIssuer } from '../../../../test/support/oidc-issuer.ts';
import { ManualClock, systemClock } from '../../../machinery/index.ts';
import type { TokenOutcome } from '../authenticator.ts';
import { type OidcAuthenticator, type OidcOptions, oidcAuthenticator } from './index.ts';

describe('ID tokens of an OpenID Connect issuer', () => {
  let issuer: OidcIssuer;
  const made: OidcAuthenticator[] = [];
  const clock = new ManualClock(systemClock.now());
  const errors: string[] = [];
  beforeAll(async () => {
    issuer = await startOidcIssuer();
  });
  afterEach(() => {
    for (const one of made.splice(0)) one.close();
  });
  afterAll(() => issuer.close());
  const accepting = (options: Partial<OidcOptions> = {}): OidcAuthenticator => {
    const one = oidcAuthenticator(
      { issuerUrl: issuer.url, clientId: 'capstan', ca: issuer.authority, ...options },
      { clock, onError: (message) => errors.push(message) },
    );
    made.push(one);
    return one;
  };
  const judged = async (one: OidcAuthenticator, token: string): Promise<TokenOutcome> => {
    await one.prepare(token);
    return one.authenticate(token);
  };

  it.each<[string, Partial<OidcOptions>, Record<string, unknown>, { name: string; groups: string[] }]>([
    ['by its subject', {}, {}, { name: 'ISSUER#alice', groups: [] }],
    ['with another prefix', { usernamePrefix: 'oidc:' }, {}, { name: 'oidc:alice', groups: [] }],
    ['without one', { usernamePrefix: '-' }, {}, { name: 'alice', groups: [] }],
    ['by email', { usernameClaim: 'email' }, { email: 'a@b.c', email_verified: true }, { name: 'a@b.c', groups: [] }],
    [
      'with groups',
      { usernamePrefix: '-', groupsClaim: 'groups', groupsPrefix: 'g:' },
      { groups: ['dev', 'ops', 7] },
      { name: 'alice', groups: ['g:dev', 'g:ops', 'g:7'].slice(0, 2) },
    ],
    [
      'with one group',
      { usernamePrefix: '-', groupsClaim: 'groups' },
      { groups: 'dev' },
      { name: 'alice', groups: ['dev'] },
    ],
    [
      'never as one of the cluster itself',
      { usernamePrefix: '-', groupsClaim: 'groups' },
      { groups: ['system:masters', 'dev'] },
      { name: 'alice', groups: ['dev'] },
    ],
    ['with several audiences', { usernamePrefix: '-' }, { aud: ['x', 'capstan'] }, { name: 'alice', groups: [] }],
    [
      'with a required claim',
      { usernamePrefix: '-', requiredClaims: { hd: 'x' } },
      { hd: 'x' },
      { name: 'alice', groups: [] },
    ],
  ])('name their user %s', async (_how, options, claims, user) => {
    const outcome = await judged(accepting(options), await issuer.token(claims));
    expect(outcome).toEqual({ user: { ...user, name: user.name.replace('ISSUER', issuer.url) } });
  });

  it.each<[string, Partial<OidcOptions>, Record<string, unknown>, RegExp]>([
    ['for another audience', {}, { aud: 'other' }, /expected audience "capstan"/],
    ['that have expired', {}, { exp: 1 }, /it has expired/],
    ['that never expire', {}, { exp: undefined }, /it does not expire/],
    ['that are not valid yet', {}, { nbf: 4e9 }, /not valid yet/],
    ['without the user', { usernameClaim: 'email' }, {}, /claim email is missing/],
    [
      'of an address nobody verified',
      { usernameClaim: 'email' },
      { email: 'a@b.c', email_verified: false },
      /not verified/,
    ],
    ['without a required claim', { requiredClaims: { hd: 'x' } }, { hd: 'y' }, /required claim hd/],
    ['of a user of the cluster itself', { usernamePrefix: '-' }, { sub: 'system:admin' }, /reserved/],
    ['of an algorithm that is not accepted', { signingAlgorithms: ['ES256'] }, {}, /"RS256" is not accepted/],
  ])('are refused %s', async (_what, options, claims, error) => {
    expect(await judged(accepting(options), await issuer.token(claims))).toEqual({
      error: expect.stringMatching(error) as string,
    });
  });

  it('get no opinion when they come from another issuer or are no JWT', async () => {
    const one = accepting();
    expect(await judged(one, 'abc.def')).toBeUndefined();
    expect(await judged(one, await issuer.token({ iss: 'https://other' }))).toBeUndefined();
  });

  it('are refused when they were changed or signed with the public key as a secret', async () => {
    const one = accepting({ signingAlgorithms: ['RS256'] });
    const [header, , signature] = (await issuer.token({})).split('.');
    const claims = Buffer.from(JSON.stringify({ iss: issuer.url, aud: 'capstan', exp: 4e9, sub: 'mallory' })).toString(
      'base64url',
    );
    expect(await judged(one, `${header}.${claims}.${signature}`)).toEqual({
      error: 'oidc: failed to verify signature',
    });
    for (const alg of ['none', 'HS256']) {
      const forged = `${Buffer.from(JSON.stringify({ alg, kid: 'key-1' })).toString('base64url')}.${claims}`;
      const mac = createHmac('sha256', issuer.authority).update(forged).digest('base64url');
      expect(await judged(one, `${forged}.${mac}`)).toEqual({
        error: expect.stringContaining('is not accepted') as string,
      });
    }
  });

  it.each(['RS256', 'RS384', 'RS512', 'PS256', 'PS512', 'ES256', 'ES384', 'ES512'] as const)(
    'are verified when signed with %s',
    async (algorithm) => {
      await issuer.rotate({ algorithm });
      const one = accepting({ signingAlgorithms: [algorithm], usernamePrefix: '-' });
      expect(await judged(one, await issuer.token({}))).toMatchObject({ user: { name: 'alice' } });
      await issuer.rotate();
    },
  );

  it('are accepted right after a key rotation, and refused once their key was withdrawn', async () => {
    const one = accepting({ usernamePrefix: '-' });
    const before = await issuer.token({});
    const { user } = (await judged(one, before)) as { user: object };
    // caches use the user object as key
    expect((one.authenticate(before) as { user: object }).user).toBe(user);
    await issuer.rotate();
    await clock.advance(11_000);
    expect(await judged(one, await issuer.token({}))).toMatchObject({ user: { name: 'alice' } });
    expect(one.authenticate(before)).toEqual({ error: 'oidc: failed to verify signature' });
  });

  it('with unknown key ids cause only one request to the issuer in a while', async () => {
    const one = accepting();
    await judged(one, await issuer.token({}));
    await clock.advance(11_000);
    const asked = issuer.asked();
    for (let i = 0; i < 20; i++) await judged(one, await issuer.token({}, { kid: `unknown-${i}` }));
    expect(issuer.asked() - asked).toBe(1);
  });

  it('are refused with a clear error while the issuer is down', async () => {
    errors.length = 0;
    const one = accepting({ issuerUrl: 'https://127.0.0.1:1' });
    const claims = Buffer.from(JSON.stringify({ iss: 'https://127.0.0.1:1' })).toString('base64url');
    const header = Buffer.from(JSON.stringify({ alg: 'RS256' })).toString('base64url');
    expect(await judged(one, `${header}.${claims}.AA`)).toEqual({
      error: expect.stringContaining('not known yet') as string,
    });
    expect(errors[0]).toContain('https://127.0.0.1:1');
  });
});
