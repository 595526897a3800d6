import { describe, expect, it } from 'vitest';
import { createAuthenticator } from './authenticator.ts';
import { answerSelfSubjectReview, answerTokenReview } from './identity-reviews.ts';

const authenticator = createAuthenticator({
  tokens: [
    (token, audiences = ['api']) =>
      token === 'good' ? { user: { name: 'zoe', uid: '1', groups: ['g'], extra: { a: ['b'] } }, audiences } : undefined,
  ],
});
const review = (spec: object) => ({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec });

describe('TokenReview', () => {
  it('answers with the user and audiences of a valid token', () => {
    expect(answerTokenReview(review({ token: 'good' }), authenticator).status).toEqual({
      authenticated: true,
      user: { username: 'zoe', uid: '1', groups: ['g', 'system:authenticated'], extra: { a: ['b'] } },
      audiences: ['api'],
    });
    expect(answerTokenReview(review({ token: 'good', audiences: ['x'] }), authenticator).status?.audiences).toEqual([
      'x',
    ]);
  });

  it('answers with an error for an invalid token', () => {
    expect(answerTokenReview(review({ token: 'bad' }), authenticator).status).toEqual({
      user: {},
      error: 'invalid bearer token',
    });
  });

  it('refuses a review without a token', () => {
    expect(() => answerTokenReview(review({}), authenticator)).toThrow(
      expect.objectContaining({ code: 400, message: 'token is required for TokenReview in authentication' }),
    );
  });
});

describe('SelfSubjectReview', () => {
  it('answers with the requesting user', () => {
    const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: {} };
    expect(answerSelfSubjectReview(asked, { name: 'zoe', groups: [] }, Date.UTC(2026, 0, 1))).toEqual({
      ...asked,
      metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
      status: { userInfo: { username: 'zoe' } },
    });
  });
});
