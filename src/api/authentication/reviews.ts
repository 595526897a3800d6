import { type FieldError, fieldError, type KubeObject, type ResourceDefinition } from '../../machinery/index.ts';
import { defineReview } from '../common/review.ts';

export interface UserInfo {
  username?: string;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
}

export interface TokenReview extends KubeObject {
  spec: { token?: string; audiences?: string[] };
  status?: { authenticated?: boolean; user?: UserInfo; audiences?: string[]; error?: string };
}

export interface SelfSubjectReview extends KubeObject {
  status?: { userInfo?: UserInfo };
}

export interface TokenRequest extends KubeObject {
  spec: {
    audiences?: string[];
    expirationSeconds?: number;
    boundObjectRef?: { apiVersion?: string; kind?: string; name?: string; uid?: string };
  };
  status?: { token: string; expirationTimestamp: string };
}

export function validateTokenRequest(request: TokenRequest): FieldError[] {
  const errors: FieldError[] = [];
  const seconds = request.spec?.expirationSeconds ?? 3600;
  if (seconds < 600) {
    const text = 'may not specify a duration less than 10 minutes';
    errors.push(fieldError.invalid('spec.expirationSeconds', seconds, text));
  }
  if (seconds > 2 ** 32) {
    const text = 'may not specify a duration larger than 2^32 seconds';
    errors.push(fieldError.invalid('spec.expirationSeconds', seconds, text));
  }
  return errors;
}

export const tokenReviewDefinition: ResourceDefinition = defineReview<TokenReview>({
  group: 'authentication.k8s.io',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  namespaced: false,
  component: 'io.k8s.api.authentication.v1.TokenReview',
});

export const selfSubjectReviewDefinition: ResourceDefinition = defineReview<SelfSubjectReview>({
  group: 'authentication.k8s.io',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  namespaced: false,
  component: 'io.k8s.api.authentication.v1.SelfSubjectReview',
});

/** Body of serviceaccounts/token. It is no resource of its own, so discovery does not list it. */
export const tokenRequestDefinition: ResourceDefinition = defineReview<TokenRequest>({
  group: 'authentication.k8s.io',
  kind: 'TokenRequest',
  plural: 'tokenrequests',
  namespaced: true,
  component: 'io.k8s.api.authentication.v1.TokenRequest',
  validateCreate: validateTokenRequest,
});
