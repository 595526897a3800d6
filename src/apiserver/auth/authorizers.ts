import { aggregateText } from '../../machinery/index.ts';
import { type AuthorizationDecision, type Authorizer, allowed, noOpinion, type RulesReview } from './attributes.ts';
import { systemGroups } from './user.ts';

const everything: RulesReview = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
};
const nothing: RulesReview = { resourceRules: [], nonResourceRules: [], incomplete: false };

/** Allows everything; for tests and for unreachable servers. */
export const alwaysAllowAuthorizer: Authorizer = {
  authorize: () => allowed,
  rulesFor: () => everything,
};

/** Allows members of system:masters everything, so that broken policies can always be repaired. */
export const mastersAuthorizer: Authorizer = {
  authorize: ({ user }) => (user.groups.includes(systemGroups.masters) ? allowed : noOpinion),
  // The cluster-admin binding lists their rules, as upstream does.
  rulesFor: () => nothing,
};

/** Asks authorizers in order until one allows or denies. Reasons of authorizers without opinion are joined. */
export function unionAuthorizer(...authorizers: readonly Authorizer[]): Authorizer {
  return {
    authorize(attributes): AuthorizationDecision {
      let reason = '';
      for (const authorizer of authorizers) {
        const decision = authorizer.authorize(attributes);
        if (decision.decision !== 'noOpinion') return decision;
        if (decision.reason !== '') reason = reason === '' ? decision.reason : `${reason}\n${decision.reason}`;
      }
      return reason === '' ? noOpinion : { decision: 'noOpinion', reason };
    },
    rulesFor(user, namespace): RulesReview {
      const reviews = authorizers.map((authorizer) => authorizer.rulesFor(user, namespace));
      const errors = reviews.flatMap(({ evaluationError }) => evaluationError ?? []);
      return {
        resourceRules: reviews.flatMap(({ resourceRules }) => resourceRules),
        nonResourceRules: reviews.flatMap(({ nonResourceRules }) => nonResourceRules),
        incomplete: reviews.some(({ incomplete }) => incomplete),
        ...(errors.length > 0 && { evaluationError: aggregateText(errors) }),
      };
    },
  };
}
