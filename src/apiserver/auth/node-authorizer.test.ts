import { describe, expect, it } from 'vitest';
import type { AuthorizationAttributes } from './attributes.ts';
import { nodeAuthorizer } from './node-authorizer.ts';
import type { UserInfo } from './user.ts';

const kubelet: UserInfo = { name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] };
const authorizer = nodeAuthorizer({
  related: (node, kind, namespace, name) => node === 'n1' && `${kind}/${namespace}/${name}` !== `${kind}/a/foreign`,
});

function ask(changes: Partial<AuthorizationAttributes>): string {
  const { decision, reason } = authorizer.authorize({
    user: kubelet,
    verb: 'get',
    group: '',
    version: 'v1',
    resource: '',
    subresource: '',
    name: '',
    namespace: '',
    path: '',
    resourceRequest: true,
    ...changes,
  });
  return reason === '' ? decision : reason;
}

const lease = { group: 'coordination.k8s.io', resource: 'leases', namespace: 'kube-node-lease' };
const scoped = [{ field: 'spec.nodeName', operator: '=' as const, value: 'n1' }];

describe('nodeAuthorizer', () => {
  it.each<[Partial<AuthorizationAttributes>, string]>([
    [{ resource: 'nodes', name: 'n1' }, 'allow'],
    [{ resource: 'nodes', name: 'n2' }, "node 'n1' cannot read 'n2', only its own Node object"],
    [{ resource: 'nodes', verb: 'list' }, "node 'n1' cannot read all nodes, only its own Node object"],
    [{ resource: 'nodes', verb: 'create' }, 'allow'],
    [{ resource: 'nodes', verb: 'delete', name: 'n1' }, 'noOpinion'],
    [{ resource: 'nodes', verb: 'patch', subresource: 'status', name: 'n1' }, 'allow'],
    [{ ...lease, name: 'n1', verb: 'update' }, 'allow'],
    [{ ...lease, verb: 'create' }, 'allow'],
    [{ ...lease, name: 'n2' }, 'can only access node lease with the same name as the requesting node'],
    [{ ...lease, verb: 'list' }, 'can only get, create, update, patch, or delete a node lease'],
    [{ ...lease, namespace: 'a', name: 'n1' }, 'can only access leases in the "kube-node-lease" system namespace'],
    [{ resource: 'secrets', namespace: 'a', name: 'mine' }, 'allow'],
    [
      { resource: 'secrets', namespace: 'a', name: 'foreign' },
      "no relationship found between node 'n1' and this object",
    ],
    [{ resource: 'secrets', namespace: 'a', verb: 'list' }, 'No Object name found'],
    [{ resource: 'secrets', verb: 'list' }, 'can only read namespaced object of this type'],
    [{ resource: 'secrets', namespace: 'a', name: 'mine', verb: 'update' }, 'can only read resources of this type'],
    [{ resource: 'configmaps', namespace: 'a', name: 'mine', verb: 'watch' }, 'allow'],
    [{ resource: 'persistentvolumeclaims', namespace: 'a', name: 'mine' }, 'allow'],
    [
      { resource: 'persistentvolumeclaims', namespace: 'a', name: 'mine', subresource: 'status', verb: 'patch' },
      'allow',
    ],
    [{ resource: 'persistentvolumes', verb: 'list' }, 'can only get individual resources of this type'],
    [{ resource: 'serviceaccounts', namespace: 'a', name: 'sa', subresource: 'token', verb: 'create' }, 'allow'],
    [
      { resource: 'serviceaccounts', namespace: 'a', name: 'foreign', subresource: 'token', verb: 'create' },
      "no relationship found between node 'n1' and this object",
    ],
    [
      { resource: 'serviceaccounts', namespace: 'a', verb: 'delete', name: 'sa' },
      'can only create tokens for individual service accounts',
    ],
    [{ resource: 'pods', verb: 'list', fieldSelector: scoped }, 'allow'],
    [{ resource: 'pods', verb: 'watch' }, 'can only list/watch pods with spec.nodeName field selector'],
    [
      { resource: 'pods', verb: 'list', fieldSelector: [{ ...scoped[0]!, value: 'n2' }] },
      'can only list/watch pods with spec.nodeName field selector',
    ],
    [{ resource: 'pods', namespace: 'a', name: 'foreign' }, "no relationship found between node 'n1' and this object"],
    [{ resource: 'pods', namespace: 'a', name: 'p', subresource: 'status', verb: 'patch' }, 'allow'],
    [{ resource: 'pods', namespace: 'a', name: 'p', subresource: 'exec', verb: 'create' }, 'noOpinion'],
    [{ resource: 'services', verb: 'list' }, 'allow'],
    [{ resource: 'events', verb: 'create', namespace: 'a' }, 'allow'],
    [{ group: 'certificates.k8s.io', resource: 'certificatesigningrequests', verb: 'create' }, 'allow'],
    [{ resource: 'namespaces', verb: 'list' }, 'noOpinion'],
    [{ resourceRequest: false, path: '/metrics' }, 'noOpinion'],
  ])('answers a request with %j: %s', (changes, expected) => {
    expect(ask(changes)).toBe(expected);
  });

  it('has no opinion on users that are not nodes, whatever their names', () => {
    expect(ask({ user: { name: 'system:node:n1', groups: [] }, resource: 'nodes', name: 'n1' })).toBe('noOpinion');
    expect(ask({ user: { name: 'zoe', groups: ['system:nodes'] }, resource: 'nodes', name: 'n1' })).toBe('noOpinion');
    expect(ask({ user: { name: 'system:node:', groups: ['system:nodes'] }, resource: 'services' })).toBe(
      'unknown node for user "system:node:"',
    );
  });
});
