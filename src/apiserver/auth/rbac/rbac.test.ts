import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AuthorizationAttributes } from '../attributes.ts';
import type { UserInfo } from '../user.ts';
import { aggregate } from './aggregation.ts';
import { rbacAuthorizer } from './authorizer.ts';
import { RbacIndex } from './rbac-index.ts';
import { compileRule, ruleAllows, ruleQuery } from './rules.ts';
import {
  type ClusterRole,
  type PolicyRule,
  type RbacSubject,
  type Role,
  type RoleBinding,
  rbacApiVersion,
} from './types.ts';

const zoe: UserInfo = { name: 'zoe', groups: ['devs', 'system:authenticated'] };

function ask(changes: Partial<AuthorizationAttributes>): AuthorizationAttributes {
  return {
    user: zoe,
    verb: 'get',
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource: '',
    name: '',
    namespace: '',
    path: '',
    resourceRequest: true,
    ...changes,
  };
}

function role(kind: 'Role' | 'ClusterRole', name: string, rules: PolicyRule[], namespace?: string): Role {
  return { apiVersion: rbacApiVersion, kind, metadata: { name, ...(namespace && { namespace }) }, rules };
}

function binding(
  kind: 'RoleBinding' | 'ClusterRoleBinding',
  name: string,
  roleKind: string,
  roleName: string,
  subjects: RbacSubject[],
  namespace?: string,
): RoleBinding {
  return {
    apiVersion: rbacApiVersion,
    kind,
    metadata: { name, ...(namespace && { namespace }) },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: roleKind, name: roleName },
    subjects,
  };
}

describe('ruleAllows', () => {
  it.each<[string, PolicyRule, Partial<AuthorizationAttributes>, boolean]>([
    ['its resource', { verbs: ['get'], apiGroups: [''], resources: ['pods'] }, {}, true],
    ['no other verb', { verbs: ['list'], apiGroups: [''], resources: ['pods'] }, {}, false],
    ['no other group', { verbs: ['get'], apiGroups: ['apps'], resources: ['pods'] }, {}, false],
    ['no subresource', { verbs: ['get'], apiGroups: [''], resources: ['pods'] }, { subresource: 'log' }, false],
    ['a named subresource', { verbs: ['get'], apiGroups: [''], resources: ['pods/log'] }, { subresource: 'log' }, true],
    [
      'a subresource of all',
      { verbs: ['get'], apiGroups: ['*'], resources: ['*/scale'] },
      { subresource: 'scale' },
      true,
    ],
    ['not the resource itself for */scale', { verbs: ['get'], apiGroups: ['*'], resources: ['*/scale'] }, {}, false],
    ['subresources under *', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, { subresource: 'x' }, true],
    [
      'no path under *',
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { resourceRequest: false, path: '/x' },
      false,
    ],
    ['its names', { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }, { name: 'a' }, true],
    [
      'no other name',
      { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
      { name: 'b' },
      false,
    ],
    [
      'no list when names are given',
      { verbs: ['list'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
      { verb: 'list' },
      false,
    ],
    ['its path', { verbs: ['get'], nonResourceURLs: ['/healthz'] }, { resourceRequest: false, path: '/healthz' }, true],
    [
      'no path below',
      { verbs: ['get'], nonResourceURLs: ['/healthz'] },
      { resourceRequest: false, path: '/healthz/x' },
      false,
    ],
    [
      'paths by prefix',
      { verbs: ['get'], nonResourceURLs: ['/healthz/*'] },
      { resourceRequest: false, path: '/healthz/x' },
      true,
    ],
    ['all paths', { verbs: ['*'], nonResourceURLs: ['*'] }, { resourceRequest: false, path: '/x' }, true],
  ])('grants %s', (_, rule, changes, expected) => {
    expect(ruleAllows(compileRule(rule), ruleQuery(ask(changes)))).toBe(expected);
  });
});

describe('rbacAuthorizer', () => {
  const pods: PolicyRule[] = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }];

  it('follows bindings that are added and removed', () => {
    const index = new RbacIndex();
    const authorizer = rbacAuthorizer(index);
    const decision = (changes: Partial<AuthorizationAttributes>) => authorizer.authorize(ask(changes)).decision;
    index.set('ClusterRole', role('ClusterRole', 'reader', pods));
    expect(decision({ namespace: 'a' })).toBe('noOpinion');

    index.set(
      'RoleBinding',
      binding('RoleBinding', 'b', 'ClusterRole', 'reader', [{ kind: 'User', name: 'zoe' }], 'a'),
    );
    expect(decision({ namespace: 'a' })).toBe('allow');
    expect(decision({ namespace: 'b' })).toBe('noOpinion');
    expect(decision({ namespace: '' })).toBe('noOpinion');

    index.set(
      'RoleBinding',
      binding('RoleBinding', 'b', 'ClusterRole', 'reader', [{ kind: 'User', name: 'yan' }], 'a'),
    );
    expect(decision({ namespace: 'a' })).toBe('noOpinion');

    index.set(
      'ClusterRoleBinding',
      binding('ClusterRoleBinding', 'b', 'ClusterRole', 'reader', [{ kind: 'Group', name: 'devs' }]),
    );
    expect(decision({ namespace: 'b' })).toBe('allow');
    expect(decision({})).toBe('allow');

    index.set('ClusterRole', role('ClusterRole', 'reader', []));
    expect(decision({})).toBe('noOpinion');
    index.set('ClusterRole', role('ClusterRole', 'reader', pods));
    index.delete('ClusterRoleBinding', '', 'b');
    expect(decision({})).toBe('noOpinion');
  });

  it('distinguishes requests whose parts contain spaces', () => {
    const index = new RbacIndex();
    const authorizer = rbacAuthorizer(index);
    index.set('Role', role('Role', 'r', pods, 'a'));
    index.set('RoleBinding', binding('RoleBinding', 'rb', 'Role', 'r', [{ kind: 'User', name: 'zoe' }], 'a'));
    expect(authorizer.authorize(ask({ namespace: 'a', name: 'b c' })).decision).toBe('allow');
    expect(authorizer.authorize(ask({ namespace: 'a b', name: 'c' })).decision).toBe('noOpinion');
  });

  it('names the binding that allows a request', () => {
    const index = new RbacIndex();
    const authorizer = rbacAuthorizer(index);
    index.set('Role', role('Role', 'r', pods, 'a'));
    index.set('RoleBinding', binding('RoleBinding', 'rb', 'Role', 'r', [{ kind: 'ServiceAccount', name: 'sa' }], 'a'));
    const account: UserInfo = { name: 'system:serviceaccount:a:sa', groups: [] };
    expect(authorizer.authorize(ask({ user: account, namespace: 'a' }))).toEqual({
      decision: 'allow',
      reason: 'RBAC: allowed by RoleBinding "rb/a" of Role "r" to ServiceAccount "sa/a"',
    });
  });

  it('names the missing role of a binding', () => {
    const index = new RbacIndex();
    index.set('RoleBinding', binding('RoleBinding', 'x', 'Role', 'gone', [{ kind: 'User', name: 'zoe' }], 'a'));
    expect(rbacAuthorizer(index).authorize(ask({ namespace: 'a' }))).toEqual({
      decision: 'noOpinion',
      reason: 'RBAC: role.rbac.authorization.k8s.io "gone" not found',
    });
    expect(rbacAuthorizer(index).rulesFor(zoe, 'a')).toEqual({
      resourceRules: [],
      nonResourceRules: [],
      incomplete: false,
      evaluationError: 'role.rbac.authorization.k8s.io "gone" not found',
    });
  });

  it('lists the rules of a binding once, even when several subjects match the user', () => {
    const index = new RbacIndex();
    index.set('ClusterRole', role('ClusterRole', 'r', [...pods, { verbs: ['get'], nonResourceURLs: ['/x'] }]));
    index.set(
      'ClusterRoleBinding',
      binding('ClusterRoleBinding', 'x', 'ClusterRole', 'r', [
        { kind: 'User', name: 'zoe' },
        { kind: 'Group', name: 'devs' },
      ]),
    );
    expect(rbacAuthorizer(index).rulesFor(zoe, 'a')).toEqual({
      resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
      incomplete: false,
    });
  });
});

describe('the RBAC index', () => {
  const name = fc.constantFrom('a', 'b');
  const namespace = fc.constantFrom('n1', 'n2');
  const rule: fc.Arbitrary<PolicyRule> = fc.record({
    verbs: fc.subarray(['get', 'list', '*'], { minLength: 1, maxLength: 1 }),
    apiGroups: fc.subarray(['', 'apps', '*'], { minLength: 1, maxLength: 2 }),
    resources: fc.subarray(['pods', 'pods/log', '*/log', '*'], { minLength: 1, maxLength: 1 }),
    resourceNames: fc.subarray(['x'], { maxLength: 1 }),
  });
  const subject: fc.Arbitrary<RbacSubject> = fc.oneof(
    fc.record({ kind: fc.constant('User'), name: fc.constantFrom('zoe', 'system:serviceaccount:n1:sa') }),
    fc.record({ kind: fc.constant('Group'), name: fc.constantFrom('devs', 'ops') }),
    fc.record({ kind: fc.constant('ServiceAccount'), name: fc.constant('sa'), namespace: fc.constantFrom('', 'n1') }),
  );
  const roleKind = fc.constantFrom('Role', 'ClusterRole');
  const operation = fc.oneof(
    fc.record({
      op: fc.constant('set' as const),
      kind: fc.constantFrom('Role' as const, 'ClusterRole' as const),
      name,
      namespace,
      rules: fc.array(rule, { maxLength: 2 }),
    }),
    fc.record({
      op: fc.constant('bind' as const),
      kind: fc.constantFrom('RoleBinding' as const, 'ClusterRoleBinding' as const),
      name,
      namespace,
      roleKind,
      roleName: name,
      subjects: fc.array(subject, { maxLength: 2 }),
    }),
    fc.record({
      op: fc.constant('delete' as const),
      kind: fc.constantFrom(
        'Role' as const,
        'ClusterRole' as const,
        'RoleBinding' as const,
        'ClusterRoleBinding' as const,
      ),
      name,
      namespace,
    }),
  );
  const users: UserInfo[] = [zoe, { name: 'system:serviceaccount:n1:sa', groups: ['ops'] }, { name: 'x', groups: [] }];

  it('decides the same as a search through all objects', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 14 }), (operations) => {
        const index = new RbacIndex();
        const authorizer = rbacAuthorizer(index);
        const objects = new Map<string, Role | RoleBinding>();
        for (const step of operations) {
          const scope = step.kind.startsWith('Cluster') ? undefined : step.namespace;
          const key = `${step.kind}/${scope ?? ''}/${step.name}`;
          if (step.op === 'delete') {
            objects.delete(key);
            index.delete(step.kind, scope ?? '', step.name);
            continue;
          }
          const object =
            step.op === 'set'
              ? role(step.kind, step.name, step.rules, scope)
              : binding(step.kind, step.name, step.roleKind, step.roleName, step.subjects, scope);
          objects.set(key, object);
          index.set(step.kind, object);
        }
        for (const user of users) {
          for (const where of ['', 'n1', 'n2']) {
            for (const target of [{ name: 'x' }, { verb: 'list' }, { subresource: 'log', group: 'apps' }]) {
              const attributes = ask({ user, namespace: where, ...target });
              expect(authorizer.authorize(attributes).decision).toBe(
                naive(objects, attributes) ? 'allow' : 'noOpinion',
              );
            }
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  function naive(objects: Map<string, Role | RoleBinding>, attributes: AuthorizationAttributes): boolean {
    return [...objects.values()].some((object) => {
      if (!object.kind.endsWith('Binding')) return false;
      const bound = object as RoleBinding;
      const scope = bound.metadata.namespace ?? '';
      if (bound.kind === 'RoleBinding' && scope !== attributes.namespace) return false;
      const applies = bound.subjects?.some((one) => {
        if (one.kind === 'User') return one.name === attributes.user.name;
        if (one.kind === 'Group') return attributes.user.groups.includes(one.name);
        const home = one.namespace || scope;
        return home !== '' && attributes.user.name === `system:serviceaccount:${home}:${one.name}`;
      });
      if (applies !== true) return false;
      const { kind, name: roleName } = bound.roleRef;
      const found = objects.get(kind === 'Role' ? `Role/${scope}/${roleName}` : `ClusterRole//${roleName}`) as
        | Role
        | undefined;
      return (found?.rules ?? []).some((one) => ruleAllows(compileRule(one), ruleQuery(attributes)));
    });
  }
});

describe('aggregate', () => {
  const labelled = (name: string, label: string, verb: string): ClusterRole => ({
    ...role('ClusterRole', name, [{ verbs: [verb], apiGroups: [''], resources: ['pods'] }]),
    metadata: { name, labels: { [label]: 'true' } },
  });

  it('collects rules of selected roles without duplicates and without its own rules', () => {
    const target: ClusterRole = {
      ...labelled('target', 'to-x', 'own'),
      aggregationRule: {
        clusterRoleSelectors: [{ matchLabels: { 'to-x': 'true' } }, { matchLabels: { 'to-y': 'true' } }],
      },
    };
    const all = [
      labelled('z', 'to-x', 'get'),
      labelled('c', 'to-y', 'list'),
      labelled('b', 'to-x', 'watch'),
      labelled('a', 'to-y', 'get'),
      target,
    ];
    expect(aggregate(target, all).flatMap(({ verbs }) => verbs)).toEqual(['watch', 'get', 'list']);
  });

  it('leaves a role without an aggregation rule unchanged', () => {
    const plain = labelled('p', 'to-x', 'get');
    expect(aggregate(plain, [labelled('q', 'to-x', 'list')])).toEqual(plain.rules);
  });
});
