import type { TypeTable } from '../schema/type-table.ts';

export const rbacTypes: TypeTable = {
  alias: 'rbac',
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  componentPrefix: 'io.k8s.api.rbac.v1',
  text: `
Role kind # Permissions inside one namespace.
  rules  2  []PolicyRule  always atomic  # What is allowed.

PolicyRule # Verbs allowed on resources or URLs.
  verbs            1  []string  required atomic  # What may be done; * is everything.
  apiGroups        2  []string  atomic           # The groups of the resources; the empty string is the core group.
  resources        3  []string  atomic           # The resources, with subresources as RESOURCE/SUBRESOURCE; * is all.
  resourceNames    4  []string  atomic           # Only objects of these names; empty is all.
  nonResourceURLs  5  []string  atomic           # Paths that are not resources; for ClusterRoles.

ClusterRole kind # Permissions in the whole cluster, or in any namespace where it is bound.
  rules            2  []PolicyRule      always atomic  # What is allowed.
  aggregationRule  3  *AggregationRule                 # Collects the rules from other ClusterRoles.

AggregationRule
  clusterRoleSelectors  1  []meta.LabelSelector  atomic

RoleBinding kind # Gives a role to users in one namespace.
  subjects  2  []Subject  atomic    # Who gets it.
  roleRef   3  RoleRef    required  # The Role or ClusterRole; cannot change.

Subject atomic # Someone who is given a role.
  kind       1  string  required  # User, Group or ServiceAccount.
  apiGroup   2  string            # Empty for a ServiceAccount, rbac.authorization.k8s.io otherwise.
  name       3  string  required  # Name of the user, group or account.
  namespace  4  string            # Namespace of the account.

RoleRef atomic # Points to a role.
  apiGroup  1  string  required  # Group of the role.
  kind      2  string  required  # Role or ClusterRole.
  name      3  string  required  # Name of the role.

ClusterRoleBinding kind # Gives a ClusterRole to users everywhere.
  subjects  2  []Subject  atomic    # Who gets it.
  roleRef   3  RoleRef    required  # The ClusterRole; cannot change.
`,
};
