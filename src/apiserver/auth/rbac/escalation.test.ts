import { describe, expect, it } from 'vitest';
import { mastersAuthorizer, unionAuthorizer } from '../authorizers.ts';
import type { UserInfo } from '../user.ts';
import { rbacAuthorizer } from './authorizer.ts';
import { bootstrapPolicy } from './bootstrap-policy.ts';
import { checkBindingEscalation, checkRoleEscalation, type EscalationContext } from './escalation.ts';
import { RbacIndex, type RbacKind } from './rbac-index.ts';
import { type ClusterRole, type PolicyRule, type RoleBinding, rbacApiVersion, rbacGroup } from './types.ts';

const zoe: UserInfo = { name: 'zoe', groups: ['system:authenticated'] };

function world(extra: PolicyRule[] = []): { index: RbacIndex; context: EscalationContext } {
  const index = new RbacIndex();
  for (const object of bootstrapPolicy()) index.set(object.kind as RbacKind, object as ClusterRole);
  index.set('Role', {
    apiVersion: rbacApiVersion,
    kind: 'Role',
    metadata: { name: 'r', namespace: 'a' },
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }, ...extra],
  });
  index.set('RoleBinding', {
    apiVersion: rbacApiVersion,
    kind: 'RoleBinding',
    metadata: { name: 'rb', namespace: 'a' },
    roleRef: { apiGroup: rbacGroup, kind: 'Role', name: 'r' },
    subjects: [{ kind: 'User', name: 'zoe' }],
  } as RoleBinding);
  const authorizer = unionAuthorizer(mastersAuthorizer, rbacAuthorizer(index));
  return { index, context: { user: zoe, index, authorizer, resource: 'roles', namespace: 'a' } };
}

const newRole = (rules: PolicyRule[]): ClusterRole => ({
  apiVersion: rbacApiVersion,
  kind: 'Role',
  metadata: { name: 'x', namespace: 'a' },
  rules,
});

const newBinding = (kind: string, name: string): RoleBinding => ({
  apiVersion: rbacApiVersion,
  kind: 'RoleBinding',
  metadata: { name: 'x', namespace: 'a' },
  roleRef: { apiGroup: rbacGroup, kind, name },
});

const tooMuch: PolicyRule[] = [
  { verbs: ['get', 'list'], apiGroups: ['', 'apps'], resources: ['pods', 'deployments'] },
  { verbs: ['delete'], apiGroups: [''], resources: ['secrets'], resourceNames: ['a', 'b'] },
];

describe('writing RBAC roles', () => {
  it('is refused when the role grants more than the user holds, in the words of kube-apiserver', () => {
    const error = checkRoleEscalation(world().context, newRole(tooMuch));
    // Observed on kube-apiserver 1.34.4.
    expect(error?.status).toMatchObject({
      code: 403,
      message:
        'roles.rbac.authorization.k8s.io "x" is forbidden: user "zoe" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
        '{APIGroups:[""], Resources:["deployments"], Verbs:["get" "list"]}\n' +
        '{APIGroups:[""], Resources:["pods"], Verbs:["list"]}\n' +
        '{APIGroups:[""], Resources:["secrets"], ResourceNames:["a"], Verbs:["delete"]}\n' +
        '{APIGroups:[""], Resources:["secrets"], ResourceNames:["b"], Verbs:["delete"]}\n' +
        '{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}\n' +
        '{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list"]}',
      details: { name: 'x', group: rbacGroup, kind: 'roles' },
    });
  });

  it('is allowed when the role grants no more than the user holds', () => {
    const { context } = world([{ verbs: ['*'], apiGroups: ['apps'], resources: ['*'] }]);
    expect(
      checkRoleEscalation(
        context,
        newRole([
          { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['one'] },
          { verbs: ['create', '*'], apiGroups: ['apps'], resources: ['deployments/scale', '*'] },
        ]),
      ),
    ).toBeUndefined();
  });

  it('is refused when the user holds the right only for named objects', () => {
    const { context } = world([{ verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['one'] }]);
    const error = checkRoleEscalation(context, newRole([{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }]));
    expect(error?.message).toContain('{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}');
  });

  it('is allowed for system:masters and for users with the verb escalate', () => {
    const masters: UserInfo = { name: 'root', groups: ['system:masters'] };
    expect(checkRoleEscalation({ ...world().context, user: masters }, newRole(tooMuch))).toBeUndefined();
    const { context } = world([{ verbs: ['escalate'], apiGroups: [rbacGroup], resources: ['roles'] }]);
    expect(checkRoleEscalation(context, newRole(tooMuch))).toBeUndefined();
  });

  it('is allowed by `escalate` on a name for updates only', () => {
    const { context } = world([
      { verbs: ['escalate'], apiGroups: [rbacGroup], resources: ['roles'], resourceNames: ['x'] },
    ]);
    expect(checkRoleEscalation(context, newRole(tooMuch), newRole([]))).toBeUndefined();
    expect(checkRoleEscalation(context, newRole(tooMuch))?.code).toBe(403);
  });

  it('is refused for aggregation rules unless the user holds every right', () => {
    const aggregated = { ...newRole([]), aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } };
    const message =
      'clusterroles.rbac.authorization.k8s.io "x" is forbidden: must have cluster-admin privileges to use the aggregationRule';
    const context = { ...world().context, resource: 'clusterroles' as const, namespace: '' };
    expect(checkRoleEscalation(context, aggregated)?.message).toBe(message);
    expect(checkRoleEscalation(context, newRole([]), aggregated)?.message).toBe(message);
    expect(checkRoleEscalation(context, newRole([]))).toBeUndefined();
  });
});

describe('writing RBAC bindings', () => {
  const bindings = (extra: PolicyRule[] = []) => ({ ...world(extra).context, resource: 'rolebindings' as const });

  it('is refused when the role grants more than the user holds', () => {
    // Observed on kube-apiserver 1.34.4; system:authenticated already holds /healthz, /livez and /readyz.
    expect(checkBindingEscalation(bindings(), newBinding('ClusterRole', 'system:monitoring'))?.message).toBe(
      'rolebindings.rbac.authorization.k8s.io "x" is forbidden: user "zoe" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
        '{APIGroups:[""], Resources:["nodes/metrics"], Verbs:["get"]}\n' +
        '{NonResourceURLs:["/healthz/*"], Verbs:["get"]}\n' +
        '{NonResourceURLs:["/livez/*"], Verbs:["get"]}\n' +
        '{NonResourceURLs:["/metrics"], Verbs:["get"]}\n' +
        '{NonResourceURLs:["/metrics/slis"], Verbs:["get"]}\n' +
        '{NonResourceURLs:["/readyz/*"], Verbs:["get"]}',
    );
  });

  it('is allowed for roles that the user holds or may bind', () => {
    expect(checkBindingEscalation(bindings(), newBinding('Role', 'r'))).toBeUndefined();
    const may = bindings([
      { verbs: ['bind'], apiGroups: [rbacGroup], resources: ['clusterroles'], resourceNames: ['edit'] },
    ]);
    expect(checkBindingEscalation(may, newBinding('ClusterRole', 'edit'))).toBeUndefined();
    expect(checkBindingEscalation(may, newBinding('ClusterRole', 'admin'))?.code).toBe(403);
  });

  it('is answered 404 for a role that does not exist', () => {
    expect(checkBindingEscalation(bindings(), newBinding('ClusterRole', 'gone'))?.status).toMatchObject({
      code: 404,
      message: 'rolebindings.rbac.authorization.k8s.io "gone" not found',
    });
  });
});
