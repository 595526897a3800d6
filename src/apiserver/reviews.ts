import { asTyped, type Clock, type UnstructuredObject } from '../machinery/index.ts';
import {
  type AccessControl,
  type AccessReview,
  answerLocalSubjectAccessReview,
  answerSelfSubjectAccessReview,
  answerSelfSubjectReview,
  answerSelfSubjectRulesReview,
  answerSubjectAccessReview,
  answerTokenReview,
  type SelfSubjectReview,
  type SelfSubjectRulesReview,
  type TokenReview,
} from './auth/index.ts';
import type { ReviewHandler } from './http/resource-handler.ts';

/** Builds the handlers of review kinds, which are created and answered but never stored. */
export function reviewHandlers(access: AccessControl, clock: Clock): ReadonlyMap<string, ReviewHandler> {
  const { authorizer, authenticator } = access;
  const answer = <R extends object>(
    handle: (review: R, user: Parameters<ReviewHandler>[2]['user']) => unknown,
  ): ReviewHandler => {
    return async (review, target, caller) => {
      if (target.namespace !== undefined) review.metadata.namespace = target.namespace;
      return handle(asTyped<R>(review), caller.user) as UnstructuredObject;
    };
  };
  return new Map<string, ReviewHandler>([
    [
      'authorization.k8s.io/subjectaccessreviews',
      answer<AccessReview>((review) => answerSubjectAccessReview(review, authorizer)),
    ],
    [
      'authorization.k8s.io/localsubjectaccessreviews',
      answer<AccessReview>((review) => answerLocalSubjectAccessReview(review, authorizer)),
    ],
    [
      'authorization.k8s.io/selfsubjectaccessreviews',
      answer<AccessReview>((review, user) => answerSelfSubjectAccessReview(review, user, authorizer)),
    ],
    [
      'authorization.k8s.io/selfsubjectrulesreviews',
      answer<SelfSubjectRulesReview>((review, user) => answerSelfSubjectRulesReview(review, user, authorizer)),
    ],
    ['authentication.k8s.io/tokenreviews', answer<TokenReview>((review) => answerTokenReview(review, authenticator))],
    [
      'authentication.k8s.io/selfsubjectreviews',
      answer<SelfSubjectReview>((review, user) => answerSelfSubjectReview(review, user, clock.now())),
    ],
  ]);
}
