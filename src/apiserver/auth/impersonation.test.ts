import { describe, expect, it } from 'vitest';
import { type AuthorizationAttributes, type Authorizer, allowed, noOpinion } from './attributes.ts';
import { alwaysAllowAuthorizer } from './authorizers.ts';
import { impersonatedUser } from './impersonation.ts';
import type { UserInfo } from './user.ts';

const admin: UserInfo = { name: 'admin', groups: ['system:masters'] };
const as = (...headers: string[]) => impersonatedUser(headers, admin, alwaysAllowAuthorizer);

describe('impersonatedUser', () => {
  it('returns no other user for requests without impersonation headers', () => {
    expect(as('Accept', '*/*', 'If-None-Match', '"impersonate-user"')).toBe(admin);
    expect(as()).toBe(admin);
  });

  // Observed on kube-apiserver 1.34.4.
  it.each<[string[], UserInfo]>([
    [['Impersonate-User', 'zoe'], { name: 'zoe', groups: ['system:authenticated'] }],
    [
      ['Impersonate-User', 'zoe', 'Impersonate-Group', 'system:authenticated', 'impersonate-group', 'x'],
      { name: 'zoe', groups: ['system:authenticated', 'x'] },
    ],
    [
      ['impersonate-user', 'zoe', 'Impersonate-Group', 'a, b', 'Impersonate-Uid', '12'],
      { name: 'zoe', uid: '12', groups: ['a, b', 'system:authenticated'] },
    ],
    [
      ['Impersonate-User', 'zoe', 'Impersonate-Extra-Scopes%2FX', 'a', 'Impersonate-Extra-scopes%2fx', 'b'],
      { name: 'zoe', groups: ['system:authenticated'], extra: { 'scopes/x': ['a', 'b'] } },
    ],
    [
      ['Impersonate-User', 'system:serviceaccount:default:foo'],
      {
        name: 'system:serviceaccount:default:foo',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      },
    ],
    [
      ['Impersonate-User', 'system:serviceaccount:bad'],
      { name: 'system:serviceaccount:bad', groups: ['system:authenticated'] },
    ],
    [['Impersonate-User', 'system:anonymous'], { name: 'system:anonymous', groups: ['system:unauthenticated'] }],
    [['Impersonate-User', Buffer.from('zoë').toString('latin1')], { name: 'zoë', groups: ['system:authenticated'] }],
  ])('%j impersonates the user %j', (headers, expected) => {
    expect(as(...headers)).toEqual(expected);
  });

  it.each(['Impersonate-Group', 'Impersonate-Uid', 'Impersonate-Extra-a'])(
    'refuses %s without Impersonate-User',
    (header) => {
      expect(() => as(header, 'x')).toThrow(expect.objectContaining({ code: 500 }));
    },
  );

  it('checks permission for every part and stops at the first that is not allowed', () => {
    const asked: Partial<AuthorizationAttributes>[] = [];
    const authorizer: Authorizer = {
      authorize: (attributes) => {
        const { resource, name, namespace, group, subresource, verb } = attributes;
        asked.push({ verb, group, resource, subresource, namespace, name });
        return resource === 'uids' ? noOpinion : allowed;
      },
      rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
    };
    const headers = [
      'Impersonate-User',
      'system:serviceaccount:a:b',
      'Impersonate-Group',
      'g',
      'Impersonate-Extra-k',
      'v',
      'Impersonate-Uid',
      'u',
    ];
    expect(() => impersonatedUser(headers, { name: 'zoe', groups: [] }, authorizer)).toThrow(
      'uids.authentication.k8s.io "u" is forbidden: User "zoe" cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope',
    );
    const part = { verb: 'impersonate', group: '', subresource: '', namespace: '' };
    expect(asked).toEqual([
      { ...part, resource: 'serviceaccounts', namespace: 'a', name: 'b' },
      { ...part, resource: 'groups', name: 'g' },
      { ...part, group: 'authentication.k8s.io', resource: 'userextras', subresource: 'k', name: 'v' },
      { ...part, group: 'authentication.k8s.io', resource: 'uids', name: 'u' },
    ]);
  });
});
