import { describe, expect, it } from 'vitest';
import { bootstrapPolicy, parseRule } from './bootstrap-policy.ts';
import type { ClusterRole, RoleBinding } from './types.ts';

const policy = bootstrapPolicy();
const find = <T>(kind: string, name: string): T =>
  policy.find((object) => object.kind === kind && object.metadata.name === name) as T;

describe('bootstrapPolicy', () => {
  it('labels every object as a bootstrapping default with automatic update', () => {
    for (const { metadata } of policy) {
      expect(metadata.labels?.['kubernetes.io/bootstrapping']).toBe('rbac-defaults');
      expect(metadata.annotations).toEqual({ 'rbac.authorization.kubernetes.io/autoupdate': 'true' });
    }
  });

  it('names every object only once and binds only roles that it contains', () => {
    const keys = policy.map(({ kind, metadata }) => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`);
    expect(new Set(keys).size).toBe(keys.length);
    for (const object of policy) {
      if (!object.kind.endsWith('Binding')) continue;
      const { roleRef, metadata } = object as RoleBinding;
      const namespace = roleRef.kind === 'Role' ? metadata.namespace : undefined;
      expect(keys).toContain(`${roleRef.kind}/${namespace ?? ''}/${roleRef.name}`);
    }
  });

  it('gives cluster-admin everything and binds it to system:masters', () => {
    expect(find<ClusterRole>('ClusterRole', 'cluster-admin').rules).toEqual([
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      { nonResourceURLs: ['*'], verbs: ['*'] },
    ]);
    expect(find<RoleBinding>('ClusterRoleBinding', 'cluster-admin').subjects).toEqual([
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:masters' },
    ]);
  });

  it('fills view, edit and admin so that each contains the one before', () => {
    const [view, edit, admin] = ['view', 'edit', 'admin'].map((name) => find<ClusterRole>('ClusterRole', name));
    const grants = (role: ClusterRole | undefined, resource: string) =>
      role?.rules?.some(({ resources }) => resources?.includes(resource)) ?? false;
    expect(grants(view, 'pods')).toBe(true);
    expect(grants(view, 'secrets')).toBe(false);
    expect(grants(edit, 'secrets')).toBe(true);
    expect(grants(edit, 'rolebindings')).toBe(false);
    expect(grants(admin, 'rolebindings')).toBe(true);
    expect(admin?.rules).toEqual(expect.arrayContaining([...(edit?.rules ?? []), ...(view?.rules ?? [])]));
  });

  it('returns new objects on every call', () => {
    expect(bootstrapPolicy()[0]).not.toBe(policy[0]);
  });
});

describe('parseRule', () => {
  it.each([
    ['read core: pods pods/log', { apiGroups: [''], resources: ['pods', 'pods/log'], verbs: ['get', 'list', 'watch'] }],
    ['read,create a,core: x', { apiGroups: ['a', ''], resources: ['x'], verbs: ['create', 'get', 'list', 'watch'] }],
    [
      'sign g: signers [a/b c]',
      { apiGroups: ['g'], resources: ['signers'], resourceNames: ['a/b', 'c'], verbs: ['sign'] },
    ],
    ['get path: /a /b/*', { nonResourceURLs: ['/a', '/b/*'], verbs: ['get'] }],
  ])('parses %j', (line, expected) => {
    expect(parseRule(line)).toEqual(expected);
  });

  it('refuses text that is not a rule', () => {
    expect(() => parseRule('get pods')).toThrow(SyntaxError);
  });
});
