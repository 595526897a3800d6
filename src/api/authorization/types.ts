import type { TypeTable } from '../schema/type-table.ts';

export const authorizationTypes: TypeTable = {
  alias: 'authorization',
  group: 'authorization.k8s.io',
  version: 'v1',
  componentPrefix: 'io.k8s.api.authorization.v1',
  text: `
SubjectAccessReview kind nolist # Asks whether someone may do something.
  spec    2  SubjectAccessReviewSpec    required  # What is wanted.
  status  3  SubjectAccessReviewStatus            # What was observed; written by the system.

SubjectAccessReviewSpec
  resourceAttributes     1  *ResourceAttributes
  nonResourceAttributes  2  *NonResourceAttributes
  user                   3  string
  groups                 4  []string                atomic
  extra                  5  map[string]StringList
  uid                    6  string

ResourceAttributes # An action on a resource.
  namespace      1  string
  verb           2  string
  group          3  string
  version        4  string
  resource       5  string
  subresource    6  string
  name           7  string
  fieldSelector  8  *FieldSelectorAttributes
  labelSelector  9  *LabelSelectorAttributes

FieldSelectorAttributes
  rawSelector   1  string
  requirements  2  []meta.FieldSelectorRequirement  atomic

LabelSelectorAttributes
  rawSelector   1  string
  requirements  2  []meta.LabelSelectorRequirement  atomic

NonResourceAttributes # An action on a path.
  path  1  string
  verb  2  string

SubjectAccessReviewStatus
  allowed          1  bool    required  # Whether it is allowed.
  denied           4  bool              # Whether it is forbidden outright, so that nobody else need be asked.
  reason           2  string            # Why.
  evaluationError  3  string            # What went wrong on the way, if anything.

SelfSubjectAccessReview kind nolist # Asks whether I may do something.
  spec    2  SelfSubjectAccessReviewSpec  required  # What is wanted.
  status  3  SubjectAccessReviewStatus              # What was observed; written by the system.

SelfSubjectAccessReviewSpec
  resourceAttributes     1  *ResourceAttributes
  nonResourceAttributes  2  *NonResourceAttributes

LocalSubjectAccessReview kind nolist # Asks whether someone may do something in one namespace.
  spec    2  SubjectAccessReviewSpec    required  # What is wanted.
  status  3  SubjectAccessReviewStatus            # What was observed; written by the system.

SelfSubjectRulesReview kind nolist # Asks what I may do in a namespace.
  spec    2  SelfSubjectRulesReviewSpec  required  # What is wanted.
  status  3  SubjectRulesReviewStatus              # What was observed; written by the system.

SelfSubjectRulesReviewSpec
  namespace  1  string

SubjectRulesReviewStatus
  resourceRules     1  []ResourceRule     required atomic
  nonResourceRules  2  []NonResourceRule  required atomic
  incomplete        3  bool               required
  evaluationError   4  string

ResourceRule
  verbs          1  []string  required atomic
  apiGroups      2  []string  atomic
  resources      3  []string  atomic
  resourceNames  4  []string  atomic

NonResourceRule
  verbs            1  []string  required atomic
  nonResourceURLs  2  []string  atomic
`,
};
