import {
  checkDns1035Label,
  checkDns1123Subdomain,
  checkPort,
  checkPortName,
  checkWildcardDns1123Subdomain,
  type FieldError,
  fieldError,
  ipFamily,
  type JsonObject,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { invalid, notSupported } from '../common/validation.ts';

export interface IngressBackend {
  service?: { name: string; port?: { number?: number; name?: string } };
  resource?: JsonObject;
}

export interface IngressRule {
  host?: string;
  http?: { paths?: { path?: string; pathType?: string; backend?: IngressBackend }[] };
}

export interface Ingress extends KubeObject {
  spec?: {
    ingressClassName?: string;
    defaultBackend?: IngressBackend;
    tls?: { hosts?: string[]; secretName?: string }[];
    rules?: IngressRule[];
  };
  status?: { loadBalancer?: { ingress?: { ip?: string; hostname?: string }[] } };
}

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];
const forbiddenInPaths = ['//', '/./', '/../', '%2f', '%2F'];
const forbiddenAtEnd = ['/..', '/.'];

function validateBackend(backend: IngressBackend | undefined, path: string): FieldError[] {
  const { service, resource } = backend ?? {};
  if (service && resource) return [fieldError.invalid(path, '', 'cannot set both resource and service backends')];
  if (resource) return [];
  if (!service) return [fieldError.invalid(path, '', 'resource or service backend is required')];
  const errors: FieldError[] = [];
  if (!service.name) errors.push(fieldError.required(`${path}.service.name`));
  else errors.push(...invalid(`${path}.service.name`, service.name, checkDns1035Label(service.name)));
  const { name = '', number = 0 } = service.port ?? {};
  if (name !== '' && number !== 0) {
    errors.push(fieldError.invalid(path, '', 'cannot set both port name & port number'));
  } else if (name !== '') errors.push(...invalid(`${path}.service.port.name`, name, checkPortName(name)));
  else if (number !== 0) errors.push(...invalid(`${path}.service.port.number`, number, checkPort(number)));
  else errors.push(fieldError.required(path, 'port name or number is required'));
  return errors;
}

function validatePaths(rule: IngressRule, path: string): FieldError[] {
  const paths = rule.http?.paths ?? [];
  if (paths.length === 0) return [fieldError.required(`${path}.paths`)];
  const errors: FieldError[] = [];
  for (const [index, { path: url = '', pathType, backend }] of paths.entries()) {
    const at = `${path}.paths[${index}]`;
    if (pathType === undefined) {
      errors.push(fieldError.required(`${at}.pathType`, 'pathType must be specified'));
      continue;
    }
    if (!pathTypes.includes(pathType)) errors.push(notSupported(`${at}.pathType`, pathType, pathTypes));
    else if (!url.startsWith('/') && (pathType !== 'ImplementationSpecific' || url !== '')) {
      errors.push(fieldError.invalid(`${at}.path`, url, 'must be an absolute path'));
    }
    if (pathType === 'Exact' || pathType === 'Prefix') {
      for (const sequence of forbiddenInPaths) {
        if (url.includes(sequence))
          errors.push(fieldError.invalid(`${at}.path`, url, `must not contain '${sequence}'`));
      }
      for (const suffix of forbiddenAtEnd) {
        if (url.endsWith(suffix)) errors.push(fieldError.invalid(`${at}.path`, url, `cannot end with '${suffix}'`));
      }
    }
    errors.push(...validateBackend(backend, `${at}.backend`));
  }
  return errors;
}

function checkHost(host: string): string[] {
  return host.includes('*') ? checkWildcardDns1123Subdomain(host) : checkDns1123Subdomain(host);
}

function validate(ingress: Ingress): FieldError[] {
  const { defaultBackend, tls = [], rules = [], ingressClassName } = ingress.spec ?? {};
  const errors: FieldError[] = [];
  if (rules.length === 0 && !defaultBackend) {
    errors.push(
      fieldError.invalid('spec', ingress.spec?.rules ?? null, 'either `defaultBackend` or `rules` must be specified'),
    );
  }
  if (defaultBackend) errors.push(...validateBackend(defaultBackend, 'spec.defaultBackend'));
  for (const [index, rule] of rules.entries()) {
    const path = `spec.rules[${index}]`;
    if (rule.host) {
      if (ipFamily(rule.host) !== undefined) {
        errors.push(fieldError.invalid(`${path}.host`, rule.host, 'must be a DNS name, not an IP address'));
      }
      errors.push(...invalid(`${path}.host`, rule.host, checkHost(rule.host)));
    }
    if (rule.http) errors.push(...validatePaths(rule, `${path}.http`));
  }
  for (const [index, entry] of tls.entries()) {
    const path = `spec.tls[${index}]`;
    for (const [at, host] of (entry.hosts ?? []).entries()) {
      errors.push(...invalid(`${path}.hosts[${at}]`, host, checkHost(host)));
    }
    if (entry.secretName) {
      errors.push(...invalid(`${path}.secretName`, entry.secretName, checkDns1123Subdomain(entry.secretName)));
    }
  }
  if (ingressClassName !== undefined) {
    errors.push(...invalid('spec.ingressClassName', ingressClassName, checkDns1123Subdomain(ingressClassName)));
  }
  return errors;
}

function hosts(rules: readonly IngressRule[]): string {
  const list: string[] = [];
  let more = false;
  for (const rule of rules) {
    if (list.length === 3) more = true;
    if (!more && rule.host) list.push(rule.host);
  }
  if (list.length === 0) return '*';
  return more ? `${list.join(',')} + ${rules.length - 3} more...` : list.join(',');
}

function addresses(ingress: Ingress): string {
  const found = new Set<string>();
  for (const { ip, hostname } of ingress.status?.loadBalancer?.ingress ?? []) {
    const address = ip || hostname;
    if (address) found.add(address);
  }
  return [...found].sort().join(',');
}

export const ingressDefinition: ResourceDefinition = defineBuiltin<Ingress>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'Ingress',
  plural: 'ingresses',
  shortNames: ['ing'],
  namespaced: true,
  component: 'io.k8s.api.networking.v1.Ingress',
  hasStatus: true,
  columns: [nameColumn, column('Class'), column('Hosts'), column('Address'), column('Ports'), ageColumn],
  row: (ingress, nowMs) => [
    ingress.metadata.name ?? '',
    ingress.spec?.ingressClassName ?? '<none>',
    hosts(ingress.spec?.rules ?? []),
    addresses(ingress),
    (ingress.spec?.tls ?? []).length > 0 ? '80, 443' : '80',
    age(ingress, nowMs),
  ],
  applyDefaults(ingress) {
    setDefault(ingress, 'spec', {});
    setDefault(setDefault(ingress, 'status', {}), 'loadBalancer', {});
  },
  prepareForCreate(ingress) {
    ingress.status = { loadBalancer: {} };
  },
  validateCreate(ingress) {
    const errors = validate(ingress);
    const annotation = ingress.metadata.annotations?.['kubernetes.io/ingress.class'];
    const className = ingress.spec?.ingressClassName;
    if (annotation !== undefined && className !== undefined && annotation !== className) {
      const text = 'must match `ingressClassName` when both are specified';
      errors.push(fieldError.invalid('annotations.kubernetes.io/ingress.class', annotation, text));
    }
    return errors;
  },
  validateUpdate: validate,
});

export const Ingresses: Resource<Ingress> = resourceOf<Ingress>(ingressDefinition);
