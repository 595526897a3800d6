import { describe, expect, it } from 'vitest';
import { type AuthorizationAttributes, forbiddenError } from './attributes.ts';

const base: AuthorizationAttributes = {
  user: { name: 'zoe', groups: [] },
  verb: 'get',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  name: '',
  namespace: '',
  path: '',
  resourceRequest: true,
};

describe('forbiddenError', () => {
  // Observed on kube-apiserver 1.34.4.
  it.each([
    [
      { verb: 'list', namespace: 'default' },
      'pods is forbidden: User "zoe" cannot list resource "pods" in API group "" in the namespace "default"',
      { kind: 'pods' },
    ],
    [
      { verb: 'list' },
      'pods is forbidden: User "zoe" cannot list resource "pods" in API group "" at the cluster scope',
      { kind: 'pods' },
    ],
    [
      { namespace: 'default', name: 'x', subresource: 'log' },
      'pods "x" is forbidden: User "zoe" cannot get resource "pods/log" in API group "" in the namespace "default"',
      { name: 'x', kind: 'pods' },
    ],
    [
      { group: 'apps', resource: 'deployments', name: 'x', subresource: 'scale', namespace: 'default' },
      'deployments.apps "x" is forbidden: User "zoe" cannot get resource "deployments/scale" in API group "apps" in the namespace "default"',
      { name: 'x', group: 'apps', kind: 'deployments' },
    ],
    [
      { resourceRequest: false, path: '/metrics', resource: '' },
      'forbidden: User "zoe" cannot get path "/metrics"',
      {},
    ],
    [
      { user: { name: '<b>&"é', groups: [] }, verb: 'list', namespace: 'default' },
      'pods is forbidden: User "&lt;b&gt;&amp;\\"é" cannot list resource "pods" in API group "" in the namespace "default"',
      { kind: 'pods' },
    ],
  ])('phrases %j as kube-apiserver does', (changes, message, details) => {
    expect(forbiddenError({ ...base, ...changes }).status).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason: 'Forbidden',
      details,
      code: 403,
    });
  });

  it('adds the reason of the authorizer', () => {
    const error = forbiddenError({ ...base, verb: 'list' }, 'RBAC: role.rbac.authorization.k8s.io "gone" not found');
    expect(error.message).toMatch(/at the cluster scope: RBAC: role\.rbac\.authorization\.k8s\.io "gone" not found$/);
  });
});
