import { describe, expect, it } from 'vitest';
import {
  type AccessReview,
  type AccessReviewSpec,
  answerLocalSubjectAccessReview,
  answerSelfSubjectAccessReview,
  answerSelfSubjectRulesReview,
  answerSubjectAccessReview,
} from './access-reviews.ts';
import { type AuthorizationAttributes, type Authorizer, allowed, noOpinion } from './attributes.ts';
import { mastersAuthorizer, unionAuthorizer } from './authorizers.ts';
import { rbacAuthorizer } from './rbac/authorizer.ts';
import { bootstrapPolicy } from './rbac/bootstrap-policy.ts';
import { RbacIndex, type RbacKind } from './rbac/rbac-index.ts';
import type { ClusterRole } from './rbac/types.ts';

const index = new RbacIndex();
for (const object of bootstrapPolicy()) index.set(object.kind as RbacKind, object as ClusterRole);
const authorizer = unionAuthorizer(mastersAuthorizer, rbacAuthorizer(index));
const review = (spec: AccessReviewSpec, metadata = {}): AccessReview => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  metadata,
  spec,
});
const pods = { verb: 'get', resource: 'pods' };

describe('SubjectAccessReview', () => {
  it('answers with the decision and its reason', () => {
    const spec = { groups: ['system:authenticated'], nonResourceAttributes: { verb: 'get', path: '/healthz' } };
    expect(answerSubjectAccessReview(review(spec), authorizer)).toEqual({
      ...review(spec),
      status: {
        allowed: true,
        reason:
          'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated"',
      },
    });
    expect(answerSubjectAccessReview(review({ user: 'zoe', resourceAttributes: pods }), authorizer).status).toEqual({
      allowed: false,
    });
    const root = { user: 'bob', groups: ['system:masters'], resourceAttributes: pods };
    expect(answerSubjectAccessReview(review(root), authorizer).status).toEqual({ allowed: true });
  });

  it('distinguishes denied from not allowed', () => {
    const denying: Authorizer = { ...authorizer, authorize: () => ({ decision: 'deny', reason: 'no' }) };
    expect(answerSubjectAccessReview(review({ user: 'zoe', resourceAttributes: pods }), denying).status).toEqual({
      allowed: false,
      denied: true,
      reason: 'no',
    });
  });

  it('asks the authorizer about the attributes of the spec, selectors included', () => {
    let asked: AuthorizationAttributes | undefined;
    const recording: Authorizer = {
      ...authorizer,
      authorize: (attributes) => {
        asked = attributes;
        return allowed;
      },
    };
    const spec: AccessReviewSpec = {
      user: 'zoe',
      uid: '1',
      extra: { a: ['b'] },
      resourceAttributes: {
        ...pods,
        group: 'g',
        subresource: 'log',
        name: 'n',
        namespace: 'a',
        fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['x'] }] },
        labelSelector: { rawSelector: 'app=web' },
      },
    };
    answerSubjectAccessReview(review(spec), recording);
    expect(asked).toEqual({
      user: { name: 'zoe', uid: '1', groups: [], extra: { a: ['b'] } },
      verb: 'get',
      group: 'g',
      version: '*',
      resource: 'pods',
      subresource: 'log',
      name: 'n',
      namespace: 'a',
      path: '',
      resourceRequest: true,
      fieldSelector: [{ field: 'spec.nodeName', operator: '=', value: 'x' }],
      labelSelector: [{ key: 'app', operator: '=', values: ['web'] }],
    });
  });

  it('reports selectors that it cannot parse', () => {
    const spec = { user: 'zoe', resourceAttributes: { ...pods, fieldSelector: { rawSelector: 'x' } } };
    expect(answerSubjectAccessReview(review(spec), authorizer).status).toEqual({
      allowed: false,
      evaluationError: 'spec.resourceAttributes.fieldSelector ignored due to parse error',
    });
  });

  it.each<[AccessReviewSpec, string[]]>([
    [
      {},
      [
        'Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
        'Invalid value: "": at least one of user or group must be specified',
      ],
    ],
    [
      { user: 'zoe', nonResourceAttributes: { verb: 'get' }, resourceAttributes: pods },
      ['Invalid value: {"verb":"get"}: cannot be specified in combination with resourceAttributes'],
    ],
    [
      { user: 'zoe', resourceAttributes: { fieldSelector: {} } },
      [
        'Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required',
      ],
    ],
    [
      {
        user: 'zoe',
        resourceAttributes: { labelSelector: { rawSelector: 'a', requirements: [{ key: 'a', operator: 'In' }] } },
      },
      [
        'Invalid value: "a": may not specified at the same time as requirements',
        "Required value: must be specified when `operator` is 'In' or 'NotIn'",
      ],
    ],
  ])('refuses the spec %j', (spec, messages) => {
    expect(() => answerSubjectAccessReview(review(spec), authorizer)).toThrow(
      expect.objectContaining({
        code: 422,
        status: expect.objectContaining({
          details: expect.objectContaining({
            causes: messages.map((message) => expect.objectContaining({ message })),
          }),
        }),
      }),
    );
  });

  it('refuses a review with metadata', () => {
    expect(() =>
      answerSubjectAccessReview(review({ user: 'a', resourceAttributes: pods }, { name: 'x' }), authorizer),
    ).toThrow('metadata: Invalid value: {"name":"x"}: must be empty');
  });
});

describe('LocalSubjectAccessReview', () => {
  const local = (spec: AccessReviewSpec) =>
    answerLocalSubjectAccessReview(review(spec, { namespace: 'a' }), authorizer);

  it('answers only about its own namespace', () => {
    expect(local({ user: 'zoe', resourceAttributes: { ...pods, namespace: 'a' } }).status).toEqual({ allowed: false });
    expect(() => local({ user: 'zoe', resourceAttributes: { ...pods, namespace: 'x' } })).toThrow(
      'spec.resourceAttributes.namespace: Invalid value: "x": must match metadata.namespace',
    );
    expect(() => local({ user: 'zoe', nonResourceAttributes: { verb: 'get', path: '/' } })).toThrow(
      'disallowed on this kind of request',
    );
  });
});

describe('SelfSubjectAccessReview', () => {
  it('asks about the requesting user, whatever the spec contains', () => {
    const user = { name: 'root', groups: ['system:masters'] };
    const spec = { user: 'zoe', resourceAttributes: pods };
    expect(answerSelfSubjectAccessReview(review(spec), user, authorizer).status).toEqual({ allowed: true });
    expect(answerSelfSubjectAccessReview(review(spec), { name: 'x', groups: [] }, authorizer).status).toEqual({
      allowed: false,
    });
  });
});

describe('SelfSubjectRulesReview', () => {
  const rules = (namespace: string) =>
    answerSelfSubjectRulesReview(
      { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', metadata: {}, spec: { namespace } },
      { name: 'zoe', groups: ['system:authenticated'] },
      authorizer,
    );

  it('lists what every user may do', () => {
    const { status, spec } = rules('a');
    expect(spec).toEqual({});
    expect(status).toMatchObject({ incomplete: false });
    expect(status?.resourceRules).toContainEqual({
      verbs: ['create'],
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
    });
    expect(status?.nonResourceRules).toContainEqual({
      verbs: ['get'],
      nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'],
    });
  });

  it('answers 400 without a namespace', () => {
    expect(() => rules('')).toThrow(expect.objectContaining({ code: 400, message: 'no namespace on request' }));
  });
});

describe('unionAuthorizer', () => {
  it('joins the reasons of authorizers without opinion and stops at the first decision', () => {
    const say = (decision: 'allow' | 'deny' | 'noOpinion', reason: string): Authorizer => ({
      ...mastersAuthorizer,
      authorize: () => ({ decision, reason }),
    });
    const attributes = {} as AuthorizationAttributes;
    expect(
      unionAuthorizer(say('noOpinion', 'a'), say('noOpinion', ''), say('noOpinion', 'b')).authorize(attributes),
    ).toEqual({
      decision: 'noOpinion',
      reason: 'a\nb',
    });
    expect(unionAuthorizer(say('deny', 'a'), say('allow', 'b')).authorize(attributes).decision).toBe('deny');
    expect(unionAuthorizer().authorize(attributes)).toEqual(noOpinion);
  });
});
