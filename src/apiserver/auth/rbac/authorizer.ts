import { aggregateText } from '../../../machinery/index.ts';
import {
  type AuthorizationAttributes,
  type AuthorizationDecision,
  type Authorizer,
  noOpinion,
  type RulesReview,
} from '../attributes.ts';
import type { UserInfo } from '../user.ts';
import { missingRole, type RbacIndex } from './rbac-index.ts';
import { ruleAllows, ruleQuery } from './rules.ts';

/** Number of cached decisions per user; controllers repeat the same few hundred requests. */
const rememberedPerUser = 2048;

function decide(index: RbacIndex, attributes: AuthorizationAttributes): AuthorizationDecision {
  const query = ruleQuery(attributes);
  let allowedBy: string | undefined;
  let errors: string[] | undefined;
  index.visitGrants(attributes.user, attributes.namespace, (grant) => {
    const rules = index.rulesOf(grant.roleRef, grant.namespace);
    if (rules === undefined) {
      errors ??= [];
      errors.push(missingRole(grant.roleRef));
      return false;
    }
    for (const rule of rules) {
      if (ruleAllows(rule, query)) {
        allowedBy = grant.description;
        return true;
      }
    }
    return false;
  });
  if (allowedBy !== undefined) return { decision: 'allow', reason: `RBAC: allowed by ${allowedBy}` };
  if (errors === undefined) return noOpinion;
  const unique = [...new Set(errors)];
  return { decision: 'noOpinion', reason: `RBAC: ${aggregateText(unique)}` };
}

/**
 * Builds the cache key of a request. Each part is prefixed with its length, because URL-decoded names may contain any
 * separator and two requests must never share a key.
 */
function questionKey(attributes: AuthorizationAttributes): string {
  const { verb, group, resource, subresource, namespace, name, path } = attributes;
  if (!attributes.resourceRequest) return `/${verb.length}:${verb}${path}`;
  const lengths = `${verb.length}:${group.length}:${resource.length}:${subresource.length}:${namespace.length}:`;
  return `${lengths}${verb}${group}${resource}${subresource}${namespace}${name}`;
}

/** Authorizes by the Roles and Bindings in the index. RBAC never denies: without a matching rule it has no opinion. */
export function rbacAuthorizer(index: RbacIndex): Authorizer {
  let remembered = new WeakMap<UserInfo, Map<string, AuthorizationDecision>>();
  let version = index.version;
  return {
    authorize(attributes): AuthorizationDecision {
      if (version !== index.version) {
        version = index.version;
        remembered = new WeakMap();
      }
      let decisions = remembered.get(attributes.user);
      if (decisions === undefined) {
        decisions = new Map();
        remembered.set(attributes.user, decisions);
      }
      const key = questionKey(attributes);
      const known = decisions.get(key);
      if (known !== undefined) return known;
      const decision = decide(index, attributes);
      if (decisions.size >= rememberedPerUser) decisions.clear();
      decisions.set(key, decision);
      return decision;
    },
    rulesFor(user, namespace): RulesReview {
      const { rules, errors } = index.rulesFor(user, namespace);
      const review: RulesReview = { resourceRules: [], nonResourceRules: [], incomplete: false };
      for (const { rule } of rules) {
        if (rule.resources !== undefined && rule.resources.length > 0) {
          review.resourceRules.push({
            verbs: rule.verbs,
            ...(rule.apiGroups !== undefined && { apiGroups: rule.apiGroups }),
            resources: rule.resources,
            ...(rule.resourceNames !== undefined &&
              rule.resourceNames.length > 0 && { resourceNames: rule.resourceNames }),
          });
        }
        if (rule.nonResourceURLs !== undefined && rule.nonResourceURLs.length > 0) {
          review.nonResourceRules.push({ verbs: rule.verbs, nonResourceURLs: rule.nonResourceURLs });
        }
      }
      if (errors.length > 0) review.evaluationError = aggregateText(errors);
      return review;
    },
  };
}
