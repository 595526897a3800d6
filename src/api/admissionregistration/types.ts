import type { TypeTable } from '../schema/type-table.ts';

export const admissionregistrationTypes: TypeTable = {
  alias: 'admissionregistration',
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  componentPrefix: 'io.k8s.api.admissionregistration.v1',
  text: `
ValidatingWebhookConfiguration kind # Webhooks that may refuse requests.
  webhooks  2  []ValidatingWebhook  listmap(name) merge(name)  # The webhooks and the requests they see.

ValidatingWebhook
  name                      1  string                required
  clientConfig              2  WebhookClientConfig   required
  rules                     3  []RuleWithOperations  atomic
  failurePolicy             4  *string               enum(Fail|Ignore)
  matchPolicy               9  *string               enum(Equivalent|Exact)
  namespaceSelector         5  *meta.LabelSelector
  objectSelector           10  *meta.LabelSelector
  sideEffects               6  *string               required enum(None|NoneOnDryRun|Some|Unknown)
  timeoutSeconds            7  *int32
  admissionReviewVersions   8  []string              required atomic
  matchConditions          11  []MatchCondition      listmap(name) merge(name)

WebhookClientConfig
  url       3  *string
  service   1  *ServiceReference
  caBundle  2  bytes

ServiceReference
  namespace  1  string   required
  name       2  string   required
  path       3  *string
  port       4  *int32

RuleWithOperations
  operations  1  []string  enum(*|CONNECT|CREATE|DELETE|UPDATE) atomic
  ...         2  Rule

Rule inline
  apiGroups    1  []string  atomic
  apiVersions  2  []string  atomic
  resources    3  []string  atomic
  scope        4  *string

MatchCondition
  name        1  string  required
  expression  2  string  required

MutatingWebhookConfiguration kind # Webhooks that may change or refuse requests.
  webhooks  2  []MutatingWebhook  listmap(name) merge(name)  # The webhooks and the requests they see.

MutatingWebhook
  name                      1  string                required
  clientConfig              2  WebhookClientConfig   required
  rules                     3  []RuleWithOperations  atomic
  failurePolicy             4  *string               enum(Fail|Ignore)
  matchPolicy               9  *string               enum(Equivalent|Exact)
  namespaceSelector         5  *meta.LabelSelector
  objectSelector           11  *meta.LabelSelector
  sideEffects               6  *string               required enum(None|NoneOnDryRun|Some|Unknown)
  timeoutSeconds            7  *int32
  admissionReviewVersions   8  []string              required atomic
  reinvocationPolicy       10  *string
  matchConditions          12  []MatchCondition      listmap(name) merge(name)

ValidatingAdmissionPolicy kind # Expressions that may refuse requests.
  spec    2  ValidatingAdmissionPolicySpec    # What is wanted.
  status  3  ValidatingAdmissionPolicyStatus  # What was observed; written by the system.

ValidatingAdmissionPolicySpec
  paramKind         1  *ParamKind
  matchConstraints  2  *MatchResources
  validations       3  []Validation       atomic
  failurePolicy     4  *string            enum(Fail|Ignore)
  auditAnnotations  5  []AuditAnnotation  atomic
  matchConditions   6  []MatchCondition   listmap(name) merge(name)
  variables         7  []Variable         listmap(name) merge(name)

ParamKind atomic
  apiVersion  1  string
  kind        2  string

MatchResources atomic
  namespaceSelector     1  *meta.LabelSelector
  objectSelector        2  *meta.LabelSelector
  resourceRules         3  []NamedRuleWithOperations  atomic
  excludeResourceRules  4  []NamedRuleWithOperations  atomic
  matchPolicy           7  *string                    enum(Equivalent|Exact)

NamedRuleWithOperations atomic
  resourceNames  1  []string            atomic
  ...            2  RuleWithOperations

Validation
  expression         1  string   required
  message            2  string
  reason             3  *string
  messageExpression  4  string

AuditAnnotation
  key              1  string  required
  valueExpression  2  string  required

Variable atomic
  name        1  string  required
  expression  2  string  required

ValidatingAdmissionPolicyStatus
  observedGeneration  1  int64
  typeChecking        2  *TypeChecking
  conditions          3  []meta.Condition  listmap(type)  # How far things are.

TypeChecking
  expressionWarnings  1  []ExpressionWarning  atomic

ExpressionWarning
  fieldRef  2  string  required
  warning   3  string  required

ValidatingAdmissionPolicyBinding kind # Where a ValidatingAdmissionPolicy applies, and with which parameters.
  spec  2  ValidatingAdmissionPolicyBindingSpec  # What is wanted.

ValidatingAdmissionPolicyBindingSpec
  policyName         1  string
  paramRef           2  *ParamRef
  matchResources     3  *MatchResources
  validationActions  4  []string         enum(Audit|Deny|Warn) set

ParamRef atomic
  name                     1  string
  namespace                2  string
  selector                 3  *meta.LabelSelector
  parameterNotFoundAction  4  *string
`,
};
