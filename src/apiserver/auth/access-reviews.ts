import {
  aggregateText,
  type FieldError,
  type FieldRequirement,
  fieldError,
  type KubeObject,
  type LabelRequirement,
  type LabelSelectorExpression,
  labelSelectorFromObject,
  must,
  parseFieldSelector,
  parseLabelSelector,
  statusError,
  validateLabelSelector,
} from '../../machinery/index.ts';
import type { AuthorizationAttributes, Authorizer, RulesReview } from './attributes.ts';
import type { UserInfo } from './user.ts';

interface SelectorAttributes {
  rawSelector?: string;
  requirements?: LabelSelectorExpression[] | null;
}

export interface ResourceAttributes {
  namespace?: string;
  verb?: string;
  group?: string;
  version?: string;
  resource?: string;
  subresource?: string;
  name?: string;
  fieldSelector?: SelectorAttributes | null;
  labelSelector?: SelectorAttributes | null;
}

export interface AccessReviewSpec {
  resourceAttributes?: ResourceAttributes | null;
  nonResourceAttributes?: { path?: string; verb?: string } | null;
  user?: string;
  groups?: string[] | null;
  uid?: string;
  extra?: Record<string, string[]> | null;
}

export interface AccessReviewStatus {
  allowed: boolean;
  denied?: boolean;
  reason?: string;
  evaluationError?: string;
}

/** SubjectAccessReview, LocalSubjectAccessReview or SelfSubjectAccessReview. */
export interface AccessReview extends KubeObject {
  spec?: AccessReviewSpec;
  status?: AccessReviewStatus;
}

export interface SelfSubjectRulesReview extends KubeObject {
  spec?: { namespace?: string };
  status?: RulesReview;
}

const group = 'authorization.k8s.io';

function validateSelector(
  selector: SelectorAttributes | null | undefined,
  path: string,
  validate: (expression: LabelSelectorExpression, at: string) => FieldError[],
): FieldError[] {
  if (selector === null || selector === undefined) return [];
  const raw = selector.rawSelector ?? '';
  const requirements = selector.requirements ?? [];
  const errors: FieldError[] = [];
  if (raw !== '' && requirements.length > 0) {
    errors.push(fieldError.invalid(`${path}.rawSelector`, raw, 'may not specified at the same time as requirements'));
  }
  if (raw === '' && requirements.length === 0) {
    errors.push(
      fieldError.required(`${path}.requirements`, `when ${path} is specified, requirements or rawSelector is required`),
    );
  }
  requirements.forEach((expression, index) => {
    errors.push(...validate(expression, `${path}.requirements[${index}]`));
  });
  return errors;
}

function validateFieldExpression({ key, operator, values }: LabelSelectorExpression, at: string): FieldError[] {
  const errors: FieldError[] = [];
  const count = values?.length ?? 0;
  if (key === undefined || key === '') errors.push(fieldError.required(`${at}.key`, 'must be specified'));
  if ((operator === 'In' || operator === 'NotIn') && count === 0) {
    errors.push(fieldError.required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if ((operator === 'Exists' || operator === 'DoesNotExist') && count > 0) {
    errors.push(
      fieldError.forbidden(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
    );
  }
  return errors;
}

function validateLabelExpression(expression: LabelSelectorExpression, at: string): FieldError[] {
  return validateLabelSelector({ matchExpressions: [expression] }, '', { allowUnknownOperators: true }).map(
    (error) => ({ ...error, field: error.field.replace('.matchExpressions[0]', at) }),
  );
}

/** Metadata must be empty, because reviews are not stored. */
function validateMetadata(review: AccessReview, allowNamespace: boolean): FieldError[] {
  const { managedFields: _, creationTimestamp: __, namespace, ...rest } = review.metadata ?? {};
  if (Object.keys(rest).length === 0 && (allowNamespace || !namespace)) return [];
  return [
    fieldError.invalid(
      'metadata',
      review.metadata,
      allowNamespace ? 'must be empty except for namespace' : 'must be empty',
    ),
  ];
}

type ReviewKind = 'SubjectAccessReview' | 'LocalSubjectAccessReview' | 'SelfSubjectAccessReview';

function validateAccessReview(kind: ReviewKind, review: AccessReview): FieldError[] {
  const errors: FieldError[] = [];
  const spec = review.spec ?? {};
  const resource = spec.resourceAttributes ?? undefined;
  const nonResource = spec.nonResourceAttributes ?? undefined;
  if (resource !== undefined && nonResource !== undefined) {
    errors.push(
      fieldError.invalid(
        'spec.nonResourceAttributes',
        nonResource,
        'cannot be specified in combination with resourceAttributes',
      ),
    );
  }
  if (resource === undefined && nonResource === undefined) {
    errors.push(
      fieldError.invalid(
        'spec.resourceAttributes',
        undefined,
        'exactly one of nonResourceAttributes or resourceAttributes must be specified',
      ),
    );
  }
  if (kind !== 'SelfSubjectAccessReview' && !spec.user && (spec.groups ?? []).length === 0) {
    errors.push(fieldError.invalid('spec.user', '', 'at least one of user or group must be specified'));
  }
  const path = 'spec.resourceAttributes';
  errors.push(...validateSelector(resource?.fieldSelector, `${path}.fieldSelector`, validateFieldExpression));
  errors.push(...validateSelector(resource?.labelSelector, `${path}.labelSelector`, validateLabelExpression));
  errors.push(...validateMetadata(review, kind === 'LocalSubjectAccessReview'));
  if (kind === 'LocalSubjectAccessReview') {
    const namespace = review.metadata?.namespace ?? '';
    if (resource !== undefined && (resource.namespace ?? '') !== namespace) {
      errors.push(fieldError.invalid(`${path}.namespace`, resource.namespace ?? '', 'must match metadata.namespace'));
    }
    if (nonResource !== undefined) {
      errors.push(fieldError.invalid('spec.nonResourceAttributes', nonResource, 'disallowed on this kind of request'));
    }
  }
  return errors;
}

/** Selectors only narrow a request, so invalid ones are dropped with a message. */
function readSelectors(resource: ResourceAttributes): {
  selectors: Pick<AuthorizationAttributes, 'fieldSelector' | 'labelSelector'>;
  errors: string[];
} {
  const errors: string[] = [];
  const attempt = <T>(name: string, read: () => T): T | undefined => {
    try {
      return read();
    } catch {
      errors.push(`spec.resourceAttributes.${name} ignored due to parse error`);
      return undefined;
    }
  };
  const { fieldSelector, labelSelector } = resource;
  const fields = fieldSelector == null ? undefined : attempt('fieldSelector', () => fieldRequirements(fieldSelector));
  const labels = labelSelector == null ? undefined : attempt('labelSelector', () => labelRequirements(labelSelector));
  return {
    selectors: { ...(fields && { fieldSelector: fields }), ...(labels && { labelSelector: labels }) },
    errors,
  };
}

function fieldRequirements({ rawSelector, requirements }: SelectorAttributes): FieldRequirement[] {
  if (rawSelector) return parseFieldSelector(rawSelector);
  return (requirements ?? []).map(({ key, operator, values }) => {
    const [value, ...more] = values ?? [];
    if ((operator !== 'In' && operator !== 'NotIn') || value === undefined || more.length > 0) {
      throw new Error('field selectors know only one value, equal or not');
    }
    return { field: key, operator: operator === 'In' ? '=' : '!=', value };
  });
}

function labelRequirements({ rawSelector, requirements }: SelectorAttributes): readonly LabelRequirement[] {
  return rawSelector
    ? parseLabelSelector(rawSelector).requirements
    : labelSelectorFromObject({ matchExpressions: requirements ?? [] }).requirements;
}

function decide(spec: AccessReviewSpec, user: UserInfo, authorizer: Authorizer): AccessReviewStatus {
  const resource = spec.resourceAttributes ?? undefined;
  const { selectors, errors } = resource === undefined ? { selectors: {}, errors: [] } : readSelectors(resource);
  const { decision, reason } = authorizer.authorize({
    user,
    verb: (resource ?? spec.nonResourceAttributes)?.verb ?? '',
    group: resource?.group ?? '',
    version: resource?.version || '*',
    resource: resource?.resource ?? '',
    subresource: resource?.subresource ?? '',
    name: resource?.name ?? '',
    namespace: resource?.namespace ?? '',
    path: spec.nonResourceAttributes?.path ?? '',
    resourceRequest: resource !== undefined,
    ...selectors,
  });
  return {
    allowed: decision === 'allow',
    ...(decision === 'deny' && { denied: true }),
    ...(reason !== '' && { reason }),
    ...(errors.length > 0 && { evaluationError: aggregateText(errors) }),
  };
}

function answer(
  kind: ReviewKind,
  review: AccessReview,
  user: UserInfo | undefined,
  authorizer: Authorizer,
): AccessReview {
  const errors = validateAccessReview(kind, review);
  if (errors.length > 0) throw statusError.invalid(group, kind, '', errors);
  const spec = must(review.spec, 'review.spec');
  const subject = user ?? {
    name: spec.user ?? '',
    groups: spec.groups ?? [],
    ...(spec.uid && { uid: spec.uid }),
    ...(spec.extra && { extra: spec.extra }),
  };
  return { ...review, status: decide(spec, subject, authorizer) };
}

/** Answers whether a user may perform a request. Throws ApiStatusError 422 for an invalid review. */
export function answerSubjectAccessReview(review: AccessReview, authorizer: Authorizer): AccessReview {
  return answer('SubjectAccessReview', review, undefined, authorizer);
}

/** Like answerSubjectAccessReview, limited to the namespace `metadata.namespace`. */
export function answerLocalSubjectAccessReview(review: AccessReview, authorizer: Authorizer): AccessReview {
  return answer('LocalSubjectAccessReview', review, undefined, authorizer);
}

/** Answers whether the requesting user may perform a request: `kubectl auth can-i`. */
export function answerSelfSubjectAccessReview(
  review: AccessReview,
  user: UserInfo,
  authorizer: Authorizer,
): AccessReview {
  return answer('SelfSubjectAccessReview', review, user, authorizer);
}

/** Lists the permissions of the requesting user in a namespace: `kubectl auth can-i --list`. */
export function answerSelfSubjectRulesReview(
  review: SelfSubjectRulesReview,
  user: UserInfo,
  authorizer: Authorizer,
): SelfSubjectRulesReview {
  const namespace = review.spec?.namespace ?? '';
  if (namespace === '') throw statusError.badRequest('no namespace on request');
  return {
    apiVersion: review.apiVersion,
    kind: review.kind,
    metadata: {},
    // Upstream returns a new object with an empty spec.
    spec: {},
    status: authorizer.rulesFor(user, namespace),
  };
}
