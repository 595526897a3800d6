import type { TypeTable } from '../schema/type-table.ts';

export const apiregistrationTypes: TypeTable = {
  alias: 'apiregistration',
  group: 'apiregistration.k8s.io',
  version: 'v1',
  componentPrefix: 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1',
  text: `
APIService kind # A group version served by another server.
  spec    2  APIServiceSpec    # What is wanted.
  status  3  APIServiceStatus  # What was observed; written by the system.

APIServiceSpec
  service                1  *ServiceReference            # The service that serves it; unset when served here.
  group                  2  string                       # The group.
  version                3  string                       # The version.
  insecureSkipTLSVerify  4  bool                         # Do not check the certificate of the server.
  caBundle               5  bytes              atomic    # Authorities to check it with, in PEM, base64 encoded.
  groupPriorityMinimum   7  int32              required  # Order among groups; higher goes first.
  versionPriority        8  int32              required  # Order among versions of the group; higher goes first.

ServiceReference
  namespace  1  string
  name       2  string
  port       3  *int32

APIServiceStatus
  conditions  1  []APIServiceCondition  listmap(type) merge(type)  # How far things are.

APIServiceCondition # One aspect of the state of an APIService.
  type                1  string  required  # Which aspect.
  status              2  string  required  # True, False or Unknown.
  lastTransitionTime  3  Time              # When the status last changed.
  reason              4  string            # Why it last changed, as one CamelCase word.
  message             5  string            # Why it last changed, for people.
`,
};
