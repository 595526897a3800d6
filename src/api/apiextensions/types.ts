import type { TypeTable } from '../schema/type-table.ts';

export const apiextensionsTypes: TypeTable = {
  alias: 'apiextensions',
  group: 'apiextensions.k8s.io',
  version: 'v1',
  componentPrefix: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1',
  text: `
CustomResourceDefinition kind # Adds a kind to the API.
  spec    2  CustomResourceDefinitionSpec    required  # What is wanted.
  status  3  CustomResourceDefinitionStatus            # What was observed; written by the system.

CustomResourceDefinitionSpec
  group                   1  string                             required         # The API group of the kind.
  names                   3  CustomResourceDefinitionNames      required         # How the kind is called.
  scope                   4  string                             required         # Cluster or Namespaced.
  versions                7  []CustomResourceDefinitionVersion  required atomic  # The versions of the kind, with their schemas.
  conversion              9  *CustomResourceConversion                           # How objects are converted between versions.
  preserveUnknownFields  10  bool                                                # Must be false in this version.

CustomResourceDefinitionNames
  plural      1  string    required  # Name in URLs.
  singular    2  string              # Name of one of them; the kind in lower case by default.
  shortNames  3  []string  atomic    # Short names for the command line.
  kind        4  string    required  # The kind, in CamelCase.
  listKind    5  string              # The kind of lists; the kind with List by default.
  categories  6  []string  atomic    # Groups such as all to list it with.

CustomResourceDefinitionVersion
  name                      1  string                            required  # Name of the version, such as v1beta1.
  served                    2  bool                              required  # Whether it can be used.
  storage                   3  bool                              required  # Whether objects are stored in it; exactly one is.
  deprecated                7  bool                                        # Clients are warned.
  deprecationWarning        8  *string                                     # The words of that warning.
  schema                    4  *CustomResourceValidation                   # What objects look like.
  subresources              5  *CustomResourceSubresources                 # Whether there are status and scale.
  additionalPrinterColumns  6  []CustomResourceColumnDefinition  atomic    # Columns for the command line.
  selectableFields          9  []SelectableField                 atomic    # Fields that field selectors may use.

CustomResourceValidation
  openAPIV3Schema  1  *JSONSchemaProps

JSONSchemaProps # A JSON schema, as far as it is supported.
  id                                     1  string
  $schema                                2  string
  $ref                                   3  *string
  description                            4  string
  type                                   5  string
  format                                 6  string
  title                                  7  string
  default                                8  *JSON
  maximum                                9  *double
  exclusiveMaximum                      10  bool
  minimum                               11  *double
  exclusiveMinimum                      12  bool
  maxLength                             13  *int64
  minLength                             14  *int64
  pattern                               15  string
  maxItems                              16  *int64
  minItems                              17  *int64
  uniqueItems                           18  bool
  multipleOf                            19  *double
  enum                                  20  []JSON                                   atomic
  maxProperties                         21  *int64
  minProperties                         22  *int64
  required                              23  []string                                 atomic
  items                                 24  *JSONSchemaPropsOrArray
  allOf                                 25  []JSONSchemaProps                        atomic
  oneOf                                 26  []JSONSchemaProps                        atomic
  anyOf                                 27  []JSONSchemaProps                        atomic
  not                                   28  *JSONSchemaProps
  properties                            29  map[string]JSONSchemaProps
  additionalProperties                  30  *JSONSchemaPropsOrBool
  patternProperties                     31  map[string]JSONSchemaProps
  dependencies                          32  map[string]JSONSchemaPropsOrStringArray
  additionalItems                       33  *JSONSchemaPropsOrBool
  definitions                           34  map[string]JSONSchemaProps
  externalDocs                          35  *ExternalDocumentation
  example                               36  *JSON
  nullable                              37  bool
  x-kubernetes-preserve-unknown-fields  38  *bool
  x-kubernetes-embedded-resource        39  bool
  x-kubernetes-int-or-string            40  bool
  x-kubernetes-list-map-keys            41  []string                                 atomic
  x-kubernetes-list-type                42  *string
  x-kubernetes-map-type                 43  *string
  x-kubernetes-validations              44  []ValidationRule                         listmap(rule) merge(rule)

ExternalDocumentation
  description  1  string
  url          2  string

ValidationRule
  rule               1  string   required
  message            2  string
  messageExpression  3  string
  reason             4  *string  enum(FieldValueDuplicate|FieldValueForbidden|FieldValueInvalid|FieldValueRequired)
  fieldPath          5  string
  optionalOldSelf    6  *bool

CustomResourceSubresources
  status  1  *CustomResourceSubresourceStatus
  scale   2  *CustomResourceSubresourceScale

CustomResourceSubresourceStatus

CustomResourceSubresourceScale
  specReplicasPath    1  string   required
  statusReplicasPath  2  string   required
  labelSelectorPath   3  *string

CustomResourceColumnDefinition
  name         1  string  required
  type         2  string  required
  format       3  string
  description  4  string
  priority     5  int32
  jsonPath     6  string  required

SelectableField
  jsonPath  1  string  required

CustomResourceConversion
  strategy  1  string              required
  webhook   2  *WebhookConversion

WebhookConversion
  clientConfig              2  *WebhookClientConfig
  conversionReviewVersions  3  []string              required atomic

WebhookClientConfig
  url       3  *string
  service   1  *ServiceReference
  caBundle  2  bytes

ServiceReference
  namespace  1  string   required
  name       2  string   required
  path       3  *string
  port       4  *int32

CustomResourceDefinitionStatus
  conditions      1  []CustomResourceDefinitionCondition  always listmap(type)  # Established, NamesAccepted and others.
  acceptedNames   2  CustomResourceDefinitionNames        always                # The names in use.
  storedVersions  3  []string                             always atomic         # Versions in which objects may be stored.

CustomResourceDefinitionCondition # One aspect of the state of a CustomResourceDefinition.
  type                1  string  required  # Which aspect.
  status              2  string  required  # True, False or Unknown.
  lastTransitionTime  3  Time              # When the status last changed.
  reason              4  string            # Why it last changed, as one CamelCase word.
  message             5  string            # Why it last changed, for people.
`,
};
