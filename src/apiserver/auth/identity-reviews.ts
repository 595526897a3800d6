import { formatTime, type KubeObject, statusError } from '../../machinery/index.ts';
import type { Authenticator } from './authenticator.ts';
import { type ApiUserInfo, toApiUserInfo, type UserInfo } from './user.ts';

export interface TokenReview extends KubeObject {
  spec?: { token?: string; audiences?: string[] | null };
  status?: { authenticated?: boolean; user: ApiUserInfo; audiences?: string[]; error?: string };
}

export interface SelfSubjectReview extends KubeObject {
  status?: { userInfo: ApiUserInfo };
}

/** Validates a token for other servers. Throws ApiStatusError 400 without a token. */
export function answerTokenReview(review: TokenReview, authenticator: Authenticator): TokenReview {
  const token = review.spec?.token ?? '';
  if (token === '') throw statusError.badRequest('token is required for TokenReview in authentication');
  const asked = review.spec?.audiences ?? [];
  const outcome = authenticator.authenticateToken(token, asked.length > 0 ? asked : undefined);
  if ('error' in outcome) return { ...review, status: { user: {}, error: outcome.error } };
  return {
    ...review,
    status: {
      authenticated: true,
      user: toApiUserInfo(outcome.user),
      ...(outcome.audiences !== undefined && outcome.audiences.length > 0 && { audiences: [...outcome.audiences] }),
    },
  };
}

/** `kubectl auth whoami` */
export function answerSelfSubjectReview(review: SelfSubjectReview, user: UserInfo, nowMs: number): SelfSubjectReview {
  return {
    ...review,
    metadata: { ...review.metadata, creationTimestamp: formatTime(nowMs) },
    status: { userInfo: toApiUserInfo(user) },
  };
}
