import {
  checkCidr,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkIp,
  checkPort,
  checkQualifiedName,
  type FieldError,
  fieldError,
  ipFamily,
  nonSpecialIpProblems,
  validateLabels,
  validatePortNumberOrName,
} from '../../machinery/index.ts';
import { invalid, validateEnum, validateRequiredEnum } from '../common/validation.ts';
import {
  isExternallyAccessible,
  needsHealthCheckPort,
  type Service,
  type ServicePort,
  type ServiceSpec,
} from './service-types.ts';

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const protocols = ['SCTP', 'TCP', 'UDP'];
const policies = ['Cluster', 'Local'];
const loadBalancerOnly = "may only be used when `type` is 'LoadBalancer'";

function isHeadless(spec: ServiceSpec): boolean {
  return spec.clusterIPs?.length === 1 && spec.clusterIPs[0] === 'None';
}

/** Validates a new or changed Service. Allocated addresses and ports may still be missing. */
export function validateService(service: Service): FieldError[] {
  const spec = service.spec;
  const errors: FieldError[] = [];
  const ports = spec.ports ?? [];
  if (ports.length === 0 && !isHeadless(spec) && spec.type !== 'ExternalName') {
    errors.push(fieldError.required('spec.ports'));
  }
  if (isHeadless(spec) && (spec.type === 'LoadBalancer' || spec.type === 'NodePort')) {
    errors.push(fieldError.invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${spec.type} services`));
  }
  if (spec.type === 'ExternalName') errors.push(...validateExternalName(spec));
  errors.push(...validatePorts(spec, ports));
  if (spec.selector) errors.push(...validateLabels(spec.selector, 'spec.selector'));
  errors.push(...validateAffinity(spec));
  errors.push(...validateAddresses(spec));
  errors.push(...validateRequiredEnum(spec.type, types, 'spec.type'));
  errors.push(...validateLoadBalancerFields(spec));
  errors.push(...validateTrafficPolicies(spec));
  return errors;
}

function validateExternalName(spec: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const text = 'may not be set for ExternalName services';
  if ((spec.clusterIPs ?? []).length > 0) errors.push(fieldError.forbidden('spec.clusterIPs', text));
  if ((spec.ipFamilies ?? []).length > 0) errors.push(fieldError.forbidden('spec.ipFamilies', text));
  if (spec.ipFamilyPolicy !== undefined) errors.push(fieldError.forbidden('spec.ipFamilyPolicy', text));
  const name = (spec.externalName ?? '').replace(/\.$/, '');
  if (name === '') errors.push(fieldError.required('spec.externalName'));
  else errors.push(...invalid('spec.externalName', name, checkDns1123Subdomain(name)));
  return errors;
}

function validatePorts(spec: ServiceSpec, ports: readonly ServicePort[]): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const at = `spec.ports[${index}]`;
    if (port.name) {
      errors.push(...invalid(`${at}.name`, port.name, checkDns1123Label(port.name)));
      if (names.has(port.name)) errors.push(fieldError.duplicate(`${at}.name`, port.name));
      names.add(port.name);
    } else if (ports.length > 1) errors.push(fieldError.required(`${at}.name`));
    errors.push(...invalid(`${at}.port`, port.port ?? 0, checkPort(port.port)));
    errors.push(...validateRequiredEnum(port.protocol, protocols, `${at}.protocol`));
    errors.push(...validatePortNumberOrName(port.targetPort, `${at}.targetPort`));
    if (port.appProtocol !== undefined) {
      errors.push(...invalid(`${at}.appProtocol`, port.appProtocol, checkQualifiedName(port.appProtocol)));
    }
  }
  if (spec.type === 'ClusterIP') {
    for (const [index, port] of ports.entries()) {
      if (port.nodePort) {
        const text = "may not be used when `type` is 'ClusterIP'";
        errors.push(fieldError.forbidden(`spec.ports[${index}].nodePort`, text));
      }
    }
  }
  const taken = new Set<string>();
  for (const [index, { protocol, port, nodePort }] of ports.entries()) {
    if (nodePort) {
      const key = `node ${protocol} ${nodePort}`;
      if (taken.has(key)) errors.push(fieldError.duplicate(`spec.ports[${index}].nodePort`, nodePort));
      taken.add(key);
    }
    const key = `${protocol} ${port}`;
    if (taken.has(key)) errors.push(fieldError.duplicate(`spec.ports[${index}]`, { protocol, port }));
    taken.add(key);
  }
  return errors;
}

function validateAffinity(spec: ServiceSpec): FieldError[] {
  const errors = validateRequiredEnum(spec.sessionAffinity, ['ClientIP', 'None'], 'spec.sessionAffinity');
  const path = 'spec.sessionAffinityConfig';
  if (spec.sessionAffinity === 'None' && spec.sessionAffinityConfig) {
    errors.push(fieldError.forbidden(path, 'must not be set when session affinity is None'));
  }
  const timeout = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if (spec.sessionAffinity === 'ClientIP' && timeout !== undefined && (timeout <= 0 || timeout > 86400)) {
    const text = 'must be greater than 0 and less than 86400';
    errors.push(fieldError.invalid(`${path}.clientIP.timeoutSeconds`, timeout, text));
  }
  return errors;
}

function validateAddresses(spec: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const ips = spec.clusterIPs ?? [];
  if (spec.type !== 'ExternalName') {
    if (spec.clusterIP) {
      if (ips.length === 0) errors.push(fieldError.required('spec.clusterIPs'));
      else if (ips[0] !== spec.clusterIP) {
        errors.push(fieldError.invalid('spec.clusterIPs', ips, 'first value must match `clusterIP`'));
      }
    } else if (ips.length > 0) {
      errors.push(fieldError.invalid('spec.clusterIPs', ips, 'must be empty when `clusterIP` is not specified'));
    }
    const seen = new Set<string>();
    for (const [index, family] of (spec.ipFamilies ?? []).entries()) {
      errors.push(...validateEnum(family, ['IPv4', 'IPv6'], `spec.ipFamilies[${index}]`));
      if (seen.has(family)) errors.push(fieldError.duplicate(`spec.ipFamilies[${index}]`, family));
      seen.add(family);
    }
    const familyPolicies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
    errors.push(...validateEnum(spec.ipFamilyPolicy, familyPolicies, 'spec.ipFamilyPolicy'));
    errors.push(...validateClusterIps(spec, ips));
  }
  for (const [index, ip] of (spec.externalIPs ?? []).entries()) {
    const path = `spec.externalIPs[${index}]`;
    const problems = checkIp(ip);
    errors.push(...invalid(path, ip, problems.length > 0 ? problems : nonSpecialIpProblems(ip)));
  }
  return errors;
}

function validateClusterIps(spec: ServiceSpec, ips: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, ip] of ips.entries()) {
    if (index === 0 && ip === 'None') {
      if (ips.length > 1) {
        errors.push(fieldError.invalid('spec.clusterIPs', ips, "'None' must be the first and only value"));
      }
      continue;
    }
    errors.push(...invalid(`spec.clusterIPs[${index}]`, ip, checkIp(ip)));
  }
  if (ips.length > 2) errors.push(fieldError.invalid('spec.clusterIPs', ips, 'may only hold up to 2 values'));
  if (errors.length > 0 || isHeadless(spec)) return errors;
  const [first, second] = ips;
  if (first !== undefined && second !== undefined && ipFamily(first) === ipFamily(second)) {
    errors.push(fieldError.invalid('spec.clusterIPs', ips, 'may specify no more than one IP for each IP family'));
  }
  for (const [index, ip] of ips.entries()) {
    const family = spec.ipFamilies?.[index];
    if (family !== undefined && ipFamily(ip) !== family) {
      const text = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
      errors.push(fieldError.invalid(`spec.clusterIPs[${index}]`, ip, text));
    }
  }
  return errors;
}

function validateLoadBalancerFields(spec: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const isLoadBalancer = spec.type === 'LoadBalancer';
  const ranges = spec.loadBalancerSourceRanges ?? [];
  if (ranges.length > 0 && !isLoadBalancer) {
    errors.push(fieldError.forbidden('spec.LoadBalancerSourceRanges', loadBalancerOnly));
  }
  for (const [index, range] of ranges.entries()) {
    errors.push(...invalid(`spec.LoadBalancerSourceRanges[${index}]`, range.trim(), checkCidr(range.trim())));
  }
  if (spec.allocateLoadBalancerNodePorts !== undefined && !isLoadBalancer) {
    errors.push(fieldError.forbidden('spec.allocateLoadBalancerNodePorts', loadBalancerOnly));
  }
  if (spec.loadBalancerClass !== undefined) {
    if (isLoadBalancer) {
      errors.push(
        ...invalid('spec.loadBalancerClass', spec.loadBalancerClass, checkQualifiedName(spec.loadBalancerClass)),
      );
    } else errors.push(fieldError.forbidden('spec.loadBalancerClass', loadBalancerOnly));
  }
  return errors;
}

function validateTrafficPolicies(spec: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const external = spec.externalTrafficPolicy;
  if (isExternallyAccessible(spec)) {
    errors.push(...validateRequiredEnum(external, policies, 'spec.externalTrafficPolicy'));
  } else if (external) {
    const text = 'may only be set for externally-accessible services';
    errors.push(fieldError.invalid('spec.externalTrafficPolicy', external, text));
  }
  if (!needsHealthCheckPort(spec) && spec.healthCheckNodePort) {
    const text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.push(fieldError.invalid('spec.healthCheckNodePort', spec.healthCheckNodePort, text));
  }
  errors.push(...validateEnum(spec.internalTrafficPolicy, policies, 'spec.internalTrafficPolicy'));
  return errors;
}

/** Validates an update. Allocated addresses are immutable. */
export function validateServiceUpdate(service: Service, old: Service): FieldError[] {
  const errors: FieldError[] = [];
  const path = 'spec.clusterIPs[0]';
  if (service.spec.type !== 'ExternalName' && old.spec.type !== 'ExternalName') {
    const ips = service.spec.clusterIPs ?? [];
    const oldIps = old.spec.clusterIPs ?? [];
    if (oldIps.length > 0 && ips.length === 0) {
      errors.push(fieldError.invalid(path, ips, 'primary clusterIP can not be unset'));
    } else {
      for (const [index, ip] of oldIps.entries()) {
        if (ips[index] !== undefined && ips[index] !== ip) {
          errors.push(fieldError.invalid(`spec.clusterIPs[${index}]`, ips, 'may not change once set'));
        }
      }
    }
  }
  const bothBalance = service.spec.type === 'LoadBalancer' && old.spec.type === 'LoadBalancer';
  if (bothBalance && service.spec.loadBalancerClass !== old.spec.loadBalancerClass) {
    errors.push(
      fieldError.invalid('spec.loadBalancerClass', service.spec.loadBalancerClass ?? null, 'may not change once set'),
    );
  }
  errors.push(...validateService(service));
  return errors;
}
