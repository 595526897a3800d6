import type { TypeTable } from '../schema/type-table.ts';

export const networkingTypes: TypeTable = {
  alias: 'networking',
  group: 'networking.k8s.io',
  version: 'v1',
  componentPrefix: 'io.k8s.api.networking.v1',
  text: `
Ingress kind # HTTP routes from outside to services.
  spec    2  IngressSpec    # What is wanted.
  status  3  IngressStatus  # What was observed; written by the system.

IngressSpec
  ingressClassName  4  *string                  # Who serves it.
  defaultBackend    1  *IngressBackend          # Where requests go that match no rule.
  tls               2  []IngressTLS     atomic  # Certificates by host.
  rules             3  []IngressRule    atomic  # Hosts and paths, and where they lead.

IngressBackend
  service   4  *IngressServiceBackend
  resource  3  *core.TypedLocalObjectReference

IngressServiceBackend
  name  1  string              required
  port  2  ServiceBackendPort

ServiceBackendPort atomic
  name    1  string
  number  2  int32

IngressTLS
  hosts       1  []string  atomic
  secretName  2  string

IngressRule
  host  1  string
  ...   2  IngressRuleValue

IngressRuleValue inline
  http  1  *HTTPIngressRuleValue

HTTPIngressRuleValue
  paths  1  []HTTPIngressPath  required atomic

HTTPIngressPath
  path      1  string
  pathType  3  *string         required enum(Exact|ImplementationSpecific|Prefix)
  backend   2  IngressBackend  required

IngressStatus
  loadBalancer  1  IngressLoadBalancerStatus

IngressLoadBalancerStatus
  ingress  1  []IngressLoadBalancerIngress  atomic

IngressLoadBalancerIngress
  ip        1  string
  hostname  2  string
  ports     4  []IngressPortStatus  atomic

IngressPortStatus
  port      1  int32    required
  protocol  2  string   required enum(SCTP|TCP|UDP)
  error     3  *string

IngressClass kind # A kind of ingress, and who serves it.
  spec  2  IngressClassSpec  # What is wanted.

IngressClassSpec
  controller  1  string                            # The controller that serves this class.
  parameters  2  *IngressClassParametersReference  # An object with further settings.

IngressClassParametersReference
  apiGroup   1  *string
  kind       2  string   required
  name       3  string   required
  scope      4  *string  always
  namespace  5  *string

NetworkPolicy kind # Who may talk to a set of pods, and to whom they may talk.
  spec  2  NetworkPolicySpec  # What is wanted.

NetworkPolicySpec
  podSelector  1  meta.LabelSelector          always                       # The pods this is about; empty means all of the namespace.
  ingress      2  []NetworkPolicyIngressRule  atomic                       # Traffic that may come in.
  egress       3  []NetworkPolicyEgressRule   atomic                       # Traffic that may go out.
  policyTypes  4  []string                    enum(Egress|Ingress) atomic  # Which directions are ruled: Ingress, Egress.

NetworkPolicyIngressRule
  ports  1  []NetworkPolicyPort  atomic
  from   2  []NetworkPolicyPeer  atomic

NetworkPolicyPort
  protocol  1  *string       enum(SCTP|TCP|UDP)
  port      2  *IntOrString
  endPort   3  *int32

NetworkPolicyPeer
  podSelector        1  *meta.LabelSelector
  namespaceSelector  2  *meta.LabelSelector
  ipBlock            3  *IPBlock

IPBlock
  cidr    1  string    required
  except  2  []string  atomic

NetworkPolicyEgressRule
  ports  1  []NetworkPolicyPort  atomic
  to     2  []NetworkPolicyPeer  atomic

IPAddress kind # An address in use by some object.
  spec  2  IPAddressSpec  # What is wanted.

IPAddressSpec
  parentRef  1  *ParentReference  required omitempty

ParentReference
  group      1  string
  resource   2  string  required omitempty
  namespace  3  string
  name       4  string  required omitempty

ServiceCIDR kind # Addresses from which services get theirs.
  spec    2  ServiceCIDRSpec    # What is wanted.
  status  3  ServiceCIDRStatus  # What was observed; written by the system.

ServiceCIDRSpec
  cidrs  1  []string  atomic

ServiceCIDRStatus
  conditions  1  []meta.Condition  listmap(type) merge(type)  # How far things are.
`,
};
