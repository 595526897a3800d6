import {
  checkCidr,
  checkPort,
  checkPortName,
  cidrStrictlyContains,
  type FieldError,
  fieldError,
  formatLabelSelectorObject,
  type IntOrString,
  type KubeObject,
  type LabelSelectorObject,
  type Resource,
  type ResourceDefinition,
  validateLabelSelector,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { invalid, notSupported } from '../common/validation.ts';

export interface NetworkPolicyPort {
  protocol?: string;
  port?: IntOrString;
  endPort?: number;
}

export interface NetworkPolicyPeer {
  podSelector?: LabelSelectorObject;
  namespaceSelector?: LabelSelectorObject;
  ipBlock?: { cidr: string; except?: string[] };
}

export interface NetworkPolicy extends KubeObject {
  spec?: {
    podSelector?: LabelSelectorObject;
    ingress?: { ports?: NetworkPolicyPort[]; from?: NetworkPolicyPeer[] }[];
    egress?: { ports?: NetworkPolicyPort[]; to?: NetworkPolicyPeer[] }[];
    policyTypes?: string[];
  };
}

function validatePort(port: NetworkPolicyPort, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const protocols = ['TCP', 'UDP', 'SCTP'];
  if (port.protocol !== undefined && !protocols.includes(port.protocol)) {
    errors.push(notSupported(`${path}.protocol`, port.protocol, protocols));
  }
  const { port: target, endPort } = port;
  if (typeof target === 'number') {
    errors.push(...invalid(`${path}.port`, target, checkPort(target)));
    if (endPort !== undefined) {
      if (endPort < target) {
        errors.push(fieldError.invalid(`${path}.endPort`, target, 'must be greater than or equal to `port`'));
      }
      errors.push(...invalid(`${path}.endPort`, endPort, checkPort(endPort)));
    }
  } else if (typeof target === 'string') {
    if (endPort !== undefined) {
      errors.push(fieldError.invalid(`${path}.endPort`, endPort, 'may not be specified when `port` is non-numeric'));
    }
    errors.push(...invalid(`${path}.port`, target, checkPortName(target)));
  } else if (endPort !== undefined) {
    errors.push(fieldError.invalid(`${path}.endPort`, endPort, 'may not be specified when `port` is not specified'));
  }
  return errors;
}

function validatePeer(peer: NetworkPolicyPeer, path: string): FieldError[] {
  const errors = [
    ...validateLabelSelector(peer.podSelector, `${path}.podSelector`),
    ...validateLabelSelector(peer.namespaceSelector, `${path}.namespaceSelector`),
  ];
  const selectors = peer.podSelector !== undefined || peer.namespaceSelector !== undefined;
  if (!peer.ipBlock) {
    if (!selectors) errors.push(fieldError.required(path, 'must specify a peer'));
    return errors;
  }
  const { cidr, except = [] } = peer.ipBlock;
  const at = `${path}.ipBlock`;
  if (!cidr) errors.push(fieldError.required(`${at}.cidr`));
  else errors.push(...invalid(`${at}.cidr`, cidr, checkCidr(cidr)));
  for (const [index, exception] of except.entries()) {
    const problems = checkCidr(exception);
    if (problems.length === 0 && !cidrStrictlyContains(cidr, exception)) {
      problems.push('must be a strict subset of `cidr`');
    }
    errors.push(...invalid(`${at}.except[${index}]`, exception, problems));
  }
  if (selectors) errors.push(fieldError.forbidden(path, 'may not specify both ipBlock and another peer'));
  return errors;
}

function validate(policy: NetworkPolicy): FieldError[] {
  const { podSelector, ingress = [], egress = [], policyTypes = [] } = policy.spec ?? {};
  const errors = validateLabelSelector(podSelector, 'spec.podSelector');
  const rules = [
    ...ingress.map(({ ports, from }, index) => ({
      ports,
      peers: from,
      path: `spec.ingress[${index}]`,
      peerField: 'from',
    })),
    ...egress.map(({ ports, to }, index) => ({ ports, peers: to, path: `spec.egress[${index}]`, peerField: 'to' })),
  ];
  for (const { ports = [], peers = [], path, peerField } of rules) {
    for (const [index, port] of ports.entries()) errors.push(...validatePort(port, `${path}.ports[${index}]`));
    for (const [index, peer] of peers.entries()) errors.push(...validatePeer(peer, `${path}.${peerField}[${index}]`));
  }
  if (policyTypes.length > 2) {
    errors.push(fieldError.invalid('spec.policyTypes', policyTypes, 'may not specify more than two policyTypes'));
    return errors;
  }
  for (const [index, type] of policyTypes.entries()) {
    if (type !== 'Ingress' && type !== 'Egress') {
      errors.push(notSupported(`spec.policyTypes[${index}]`, type, ['Ingress', 'Egress']));
    }
  }
  return errors;
}

export const networkPolicyDefinition: ResourceDefinition = defineBuiltin<NetworkPolicy>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  shortNames: ['netpol'],
  namespaced: true,
  component: 'io.k8s.api.networking.v1.NetworkPolicy',
  columns: [nameColumn, column('Pod-Selector'), ageColumn],
  row: (policy, nowMs) => [
    policy.metadata.name ?? '',
    formatLabelSelectorObject(policy.spec?.podSelector ?? {}),
    age(policy, nowMs),
  ],
  applyDefaults(policy) {
    const spec = setDefault(policy, 'spec', {});
    setDefault(spec, 'podSelector', {});
    if ((spec.policyTypes ?? []).length === 0) {
      // Every policy isolates ingress. It isolates egress only if it has egress rules.
      spec.policyTypes = (spec.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
    }
    for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
      for (const port of rule.ports ?? []) setDefault(port, 'protocol', 'TCP');
    }
  },
  validateCreate: validate,
  validateUpdate: validate,
});

export const NetworkPolicies: Resource<NetworkPolicy> = resourceOf<NetworkPolicy>(networkPolicyDefinition);
