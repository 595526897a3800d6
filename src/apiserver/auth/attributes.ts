import {
  type ApiStatusError,
  type FieldRequirement,
  type LabelRequirement,
  statusError,
} from '../../machinery/index.ts';
import type { UserInfo } from './user.ts';

/** Attributes of a request. Absent values are empty strings. */
export interface AuthorizationAttributes {
  readonly user: UserInfo;
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  readonly namespace: string;
  /** URL path; used only for non-resource requests */
  readonly path: string;
  readonly resourceRequest: boolean;
  readonly fieldSelector?: readonly FieldRequirement[];
  readonly labelSelector?: readonly LabelRequirement[];
}

export interface AuthorizationDecision {
  readonly decision: 'allow' | 'deny' | 'noOpinion';
  readonly reason: string;
}

export interface ResourceRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
}

export interface NonResourceRule {
  verbs: string[];
  nonResourceURLs?: string[];
}

/** The status of a SelfSubjectRulesReview. */
export interface RulesReview {
  resourceRules: ResourceRule[];
  nonResourceRules: NonResourceRule[];
  incomplete: boolean;
  evaluationError?: string;
}

export interface Authorizer {
  authorize(attributes: AuthorizationAttributes): AuthorizationDecision;
  /** permissions of a user in a namespace, as far as they can be listed */
  rulesFor(user: UserInfo, namespace: string): RulesReview;
}

export const noOpinion: AuthorizationDecision = Object.freeze({ decision: 'noOpinion', reason: '' });
export const allowed: AuthorizationDecision = Object.freeze({ decision: 'allow', reason: '' });

/** Refusals escape HTML characters, because they contain names from the client. */
const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const quote = (text: string): string =>
  JSON.stringify(text).replace(/[&<>]/g, (character) => escapes[character] ?? character);

function describe(attributes: AuthorizationAttributes): string {
  const user = quote(attributes.user.name);
  if (!attributes.resourceRequest) return `User ${user} cannot ${attributes.verb} path ${quote(attributes.path)}`;
  const resource =
    attributes.subresource === '' ? attributes.resource : `${attributes.resource}/${attributes.subresource}`;
  const what = `User ${user} cannot ${attributes.verb} resource ${quote(resource)} in API group ${quote(attributes.group)}`;
  return attributes.namespace === ''
    ? `${what} at the cluster scope`
    : `${what} in the namespace ${quote(attributes.namespace)}`;
}

/** Builds the 403 of a refused request with the message of kube-apiserver. */
export function forbiddenError(attributes: AuthorizationAttributes, reason = ''): ApiStatusError {
  const text = describe(attributes);
  return statusError.forbidden(
    attributes.resourceRequest
      ? { group: attributes.group, resource: attributes.resource, name: attributes.name }
      : { group: '', resource: '' },
    reason === '' ? text : `${text}: ${reason}`,
  );
}
