import { type ApiStatusError, statusError } from '../../../machinery/index.ts';
import type { Authorizer } from '../attributes.ts';
import { systemGroups, type UserInfo } from '../user.ts';
import { isAggregated } from './aggregation.ts';
import type { RbacIndex } from './rbac-index.ts';
import { compactRules, describeRule, quotedList, uncoveredRules } from './rules.ts';
import { type ClusterRole, type PolicyRule, type RoleBinding, rbacGroup } from './types.ts';

export interface EscalationContext {
  user: UserInfo;
  index: RbacIndex;
  authorizer: Authorizer;
  resource: 'roles' | 'clusterroles' | 'rolebindings' | 'clusterrolebindings';
  /** namespace of the request, empty for cluster-scoped kinds */
  namespace: string;
}

const fullAuthority: PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

function escalation(context: EscalationContext, rules: readonly PolicyRule[]): string | undefined {
  const { rules: owned, errors } = context.index.rulesFor(context.user, context.namespace);
  const missing = uncoveredRules(owned, rules);
  if (missing.length === 0) return undefined;
  const descriptions = [...new Set(compactRules(missing).map(describeRule))].sort();
  const { name, groups } = context.user;
  const text = `user ${JSON.stringify(name)} (groups=${quotedList(groups)}) is attempting to grant RBAC permissions not currently held:\n${descriptions.join('\n')}`;
  return errors.length === 0 ? text : `${text}; resolution errors: [${errors.join(' ')}]`;
}

function permitted(context: EscalationContext, verb: 'escalate' | 'bind', resource: string, name: string): boolean {
  const { decision } = context.authorizer.authorize({
    user: context.user,
    verb,
    group: rbacGroup,
    version: '*',
    resource,
    subresource: '',
    name,
    namespace: context.namespace,
    path: '',
    resourceRequest: true,
  });
  return decision === 'allow';
}

function refusal(context: EscalationContext, name: string, message: string): ApiStatusError {
  return statusError.forbidden({ group: rbacGroup, resource: context.resource, name }, message);
}

/**
 * Refuses a Role with more permissions than the user holds, unless the user may `escalate` it. Runs after admission on
 * create, and on updates that change more than owner references and finalizers. Returns the refusal, if any.
 */
export function checkRoleEscalation(
  context: EscalationContext,
  role: ClusterRole,
  old?: ClusterRole,
): ApiStatusError | undefined {
  const name = role.metadata.name ?? '';
  if (context.user.groups.includes(systemGroups.masters)) return undefined;
  // As upstream, a create has no name, so `escalate` with resourceNames does not apply.
  if (permitted(context, 'escalate', context.resource, old === undefined ? '' : name)) return undefined;
  const missing = escalation(context, role.rules ?? []);
  if (missing !== undefined) return refusal(context, name, missing);
  const aggregated = isAggregated(role) || (old !== undefined && isAggregated(old));
  return aggregated && escalation(context, fullAuthority) !== undefined
    ? refusal(context, name, 'must have cluster-admin privileges to use the aggregationRule')
    : undefined;
}

/**
 * Refuses a binding of a role with more permissions than the user holds, unless the user may `bind` it. Returns 403, or
 * 404 for a missing role.
 */
export function checkBindingEscalation(context: EscalationContext, binding: RoleBinding): ApiStatusError | undefined {
  const { roleRef } = binding;
  if (context.user.groups.includes(systemGroups.masters)) return undefined;
  const resource = roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles';
  if (
    (roleRef.kind === 'ClusterRole' || roleRef.kind === 'Role') &&
    permitted(context, 'bind', resource, roleRef.name)
  ) {
    return undefined;
  }
  const rules = context.index.rulesOf(roleRef, context.namespace);
  if (rules === undefined) {
    // Upstream names the resource of the request, not of the role.
    return statusError.notFound({ group: rbacGroup, resource: context.resource, name: roleRef.name });
  }
  const missing = escalation(
    context,
    rules.map(({ rule }) => rule),
  );
  return missing === undefined ? undefined : refusal(context, binding.metadata.name ?? '', missing);
}
