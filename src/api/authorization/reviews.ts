import {
  type FieldError,
  fieldError,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
} from '../../machinery/index.ts';
import { resourceOf } from '../common/define.ts';
import { defineReview } from '../common/review.ts';

export interface ResourceAttributes {
  namespace?: string;
  verb?: string;
  group?: string;
  version?: string;
  resource?: string;
  subresource?: string;
  name?: string;
}

export interface AccessReviewSpec {
  resourceAttributes?: ResourceAttributes;
  nonResourceAttributes?: { path?: string; verb?: string };
  user?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
  uid?: string;
}

export interface SubjectAccessReview extends KubeObject {
  spec: AccessReviewSpec;
  status?: { allowed: boolean; denied?: boolean; reason?: string; evaluationError?: string };
}

export interface SelfSubjectRulesReview extends KubeObject {
  spec: { namespace?: string };
  status?: {
    resourceRules: { verbs: string[]; apiGroups?: string[]; resources?: string[]; resourceNames?: string[] }[];
    nonResourceRules: { verbs: string[]; nonResourceURLs?: string[] }[];
    incomplete: boolean;
    evaluationError?: string;
  };
}

function validateAttributes(spec: AccessReviewSpec | undefined): FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = spec ?? {};
  const path = 'spec.resourceAttributes';
  if (resourceAttributes && nonResourceAttributes) {
    const text = 'cannot be specified in combination with resourceAttributes';
    return [fieldError.invalid('spec.nonResourceAttributes', nonResourceAttributes, text)];
  }
  if (!resourceAttributes && !nonResourceAttributes) {
    const text = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    return [fieldError.invalid(path, null, text)];
  }
  return [];
}

function validateSelf(review: SubjectAccessReview): FieldError[] {
  return validateAttributes(review.spec);
}

function validateSubject(review: SubjectAccessReview): FieldError[] {
  const errors = validateAttributes(review.spec);
  if (!review.spec?.user && (review.spec?.groups ?? []).length === 0) {
    errors.push(
      fieldError.invalid('spec.user', review.spec?.user ?? '', 'at least one of user or group must be specified'),
    );
  }
  return errors;
}

function validateLocal(review: SubjectAccessReview): FieldError[] {
  const errors = validateSubject(review);
  const inner = review.spec?.resourceAttributes?.namespace ?? '';
  const outer = review.metadata?.namespace ?? '';
  if (review.spec?.resourceAttributes && inner !== outer) {
    errors.push(fieldError.invalid('spec.resourceAttributes.namespace', inner, 'must match metadata.namespace'));
  }
  if (review.spec?.nonResourceAttributes) {
    const text = 'disallowed on this kind of request';
    errors.push(fieldError.invalid('spec.nonResourceAttributes', review.spec.nonResourceAttributes, text));
  }
  return errors;
}

const group = 'authorization.k8s.io';

export const subjectAccessReviewDefinition: ResourceDefinition = defineReview<SubjectAccessReview>({
  group,
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  namespaced: false,
  component: 'io.k8s.api.authorization.v1.SubjectAccessReview',
  validateCreate: validateSubject,
});

export const SubjectAccessReviews: Resource<SubjectAccessReview> =
  resourceOf<SubjectAccessReview>(subjectAccessReviewDefinition);

export const localSubjectAccessReviewDefinition: ResourceDefinition = defineReview<SubjectAccessReview>({
  group,
  kind: 'LocalSubjectAccessReview',
  plural: 'localsubjectaccessreviews',
  namespaced: true,
  component: 'io.k8s.api.authorization.v1.LocalSubjectAccessReview',
  validateCreate: validateLocal,
});

export const selfSubjectAccessReviewDefinition: ResourceDefinition = defineReview<SubjectAccessReview>({
  group,
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  namespaced: false,
  component: 'io.k8s.api.authorization.v1.SelfSubjectAccessReview',
  validateCreate: validateSelf,
});

export const selfSubjectRulesReviewDefinition: ResourceDefinition = defineReview<SelfSubjectRulesReview>({
  group,
  kind: 'SelfSubjectRulesReview',
  plural: 'selfsubjectrulesreviews',
  namespaced: false,
  component: 'io.k8s.api.authorization.v1.SelfSubjectRulesReview',
  validateCreate: (review) =>
    review.spec?.namespace ? [] : [fieldError.required('spec.namespace', 'no namespace on request')],
});
