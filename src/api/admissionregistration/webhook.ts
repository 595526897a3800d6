import {
  checkDns1035Label,
  checkDns1123Subdomain,
  checkPort,
  type FieldError,
  fieldError,
  type KubeObject,
  type LabelSelectorObject,
  validateLabelSelector,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { notSupported, validateEnum } from '../common/validation.ts';
import { type MatchCondition, validateMatchConditions } from './match-condition.ts';

export interface WebhookClientConfig {
  url?: string;
  service?: { namespace?: string; name?: string; path?: string; port?: number };
  caBundle?: string;
}

export interface AdmissionRule {
  operations?: string[];
  apiGroups?: string[];
  apiVersions?: string[];
  resources?: string[];
  scope?: string;
  resourceNames?: string[];
}

export interface Webhook {
  name: string;
  clientConfig?: WebhookClientConfig;
  rules?: AdmissionRule[];
  failurePolicy?: string;
  matchPolicy?: string;
  namespaceSelector?: LabelSelectorObject;
  objectSelector?: LabelSelectorObject;
  sideEffects?: string;
  timeoutSeconds?: number;
  admissionReviewVersions?: string[];
  matchConditions?: MatchCondition[];
  /** only in mutating webhooks */
  reinvocationPolicy?: string;
}

export interface WebhookConfiguration extends KubeObject {
  webhooks?: Webhook[];
}

export function defaultRule(rule: AdmissionRule): void {
  setDefault(rule, 'scope', '*');
}

export function defaultWebhooks(configuration: WebhookConfiguration, { mutating }: { mutating: boolean }): void {
  for (const webhook of configuration.webhooks ?? []) {
    setDefault(webhook, 'failurePolicy', 'Fail');
    setDefault(webhook, 'matchPolicy', 'Equivalent');
    setDefault(webhook, 'namespaceSelector', {});
    setDefault(webhook, 'objectSelector', {});
    setDefault(webhook, 'timeoutSeconds', 10);
    if (mutating) setDefault(webhook, 'reinvocationPolicy', 'Never');
    for (const rule of webhook.rules ?? []) defaultRule(rule);
    if (webhook.clientConfig?.service) setDefault(webhook.clientConfig.service, 'port', 443);
  }
}

function validateStar(values: readonly string[], path: string, what: string): FieldError[] {
  if (values.length === 0) return [fieldError.required(path)];
  return values.length > 1 && values.includes('*')
    ? [fieldError.invalid(path, values, `if '*' is present, must not specify other ${what}`)]
    : [];
}

/** Validates a rule that selects the requests a webhook or policy handles. */
export function validateRule(rule: AdmissionRule, path: string): FieldError[] {
  const errors = validateStar(rule.operations ?? [], `${path}.operations`, 'operations');
  for (const [index, operation] of (rule.operations ?? []).entries()) {
    const known = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
    errors.push(...validateEnum(operation, known, `${path}.operations[${index}]`));
  }
  errors.push(...validateStar(rule.apiGroups ?? [], `${path}.apiGroups`, 'API groups'));
  errors.push(...validateStar(rule.apiVersions ?? [], `${path}.apiVersions`, 'API versions'));
  for (const [index, version] of (rule.apiVersions ?? []).entries()) {
    if (version === '') errors.push(fieldError.required(`${path}.apiVersions[${index}]`));
  }
  errors.push(...validateResources(rule.resources ?? [], `${path}.resources`));
  errors.push(...validateEnum(rule.scope, ['*', 'Cluster', 'Namespaced'], `${path}.scope`));
  return errors;
}

function validateResources(resources: readonly string[], path: string): FieldError[] {
  if (resources.length === 0) return [fieldError.required(path)];
  const errors: FieldError[] = [];
  for (const [index, resource] of resources.entries()) {
    if (resource === '') errors.push(fieldError.required(`${path}[${index}]`));
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(fieldError.invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  const plain = resources.filter((resource) => !resource.includes('/'));
  if (plain.length > 1 && plain.includes('*')) {
    const text = "if '*' is present, must not specify other resources without subresources";
    errors.push(fieldError.invalid(path, resources, text));
  }
  return errors;
}

const urlForm = '; desired format: https://host[/path]';

function validateUrl(text: string, path: string): FieldError[] {
  const match = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/.exec(text);
  const [, scheme = '', authority = '', query = '', fragment = ''] = match ?? [];
  const errors: FieldError[] = [];
  if (scheme !== 'https') {
    errors.push(fieldError.invalid(path, scheme, `'https' is the only allowed URL scheme${urlForm}`));
  }
  const at = authority.lastIndexOf('@');
  if (authority.slice(at + 1) === '') errors.push(fieldError.invalid(path, '', `host must be specified${urlForm}`));
  if (at >= 0) {
    errors.push(fieldError.invalid(path, authority.slice(0, at), 'user information is not permitted in the URL'));
  }
  if (fragment !== '') errors.push(fieldError.invalid(path, fragment, 'fragments are not permitted in the URL'));
  if (query !== '') errors.push(fieldError.invalid(path, query, 'query parameters are not permitted in the URL'));
  return errors;
}

function validateClient(config: WebhookClientConfig, path: string): FieldError[] {
  const { url, service } = config;
  if ((url === undefined) === (service === undefined)) {
    return [fieldError.required(path, 'exactly one of url or service is required')];
  }
  if (url !== undefined) return validateUrl(url, `${path}.url`);
  const errors: FieldError[] = [];
  const at = `${path}.service`;
  if (!service?.name) errors.push(fieldError.required(`${at}.name`));
  if (!service?.namespace) errors.push(fieldError.required(`${at}.namespace`));
  const port = service?.port ?? 443;
  const problems = checkPort(port);
  if (problems.length > 0) {
    errors.push(fieldError.invalid(`${at}.port`, port, `port is not valid: ${problems.join(', ')}`));
  }
  errors.push(...validateServicePath(service?.path, `${at}.path`));
  return errors;
}

function validateServicePath(path: string | undefined, field: string): FieldError[] {
  if (path === undefined || path === '' || path === '/') return [];
  if (path === '//') return [fieldError.invalid(field, path, 'segment[0] may not be empty')];
  const errors: FieldError[] = [];
  if (!path.startsWith('/')) errors.push(fieldError.invalid(field, path, "must start with a '/'"));
  const rest = path.slice(1);
  const steps = (rest.endsWith('/') ? rest.slice(0, -1) : rest).split('/');
  for (const [index, step] of steps.entries()) {
    if (step === '') {
      errors.push(fieldError.invalid(field, path, `segment[${index}] may not be empty`));
      continue;
    }
    for (const text of checkDns1123Subdomain(step)) {
      errors.push(fieldError.invalid(field, path, `segment[${index}]: ${text}`));
    }
  }
  return errors;
}

function validateVersions(versions: readonly string[], path: string): FieldError[] {
  if (versions.length === 0) return [fieldError.required(path, 'must specify one of v1, v1beta1')];
  const errors: FieldError[] = [];
  for (const [index, version] of versions.entries()) {
    if (versions.indexOf(version) < index) {
      errors.push(fieldError.invalid(`${path}[${index}]`, version, 'duplicate version'));
    }
    for (const text of checkDns1035Label(version)) {
      errors.push(fieldError.invalid(`${path}[${index}]`, version, text));
    }
  }
  if (!versions.some((version) => version === 'v1' || version === 'v1beta1')) {
    errors.push(fieldError.invalid(path, versions, 'must include at least one of v1, v1beta1'));
  }
  return errors;
}

function validateWebhookName(name: string, path: string): FieldError[] {
  if (!name) return [fieldError.required(path)];
  const problems = checkDns1123Subdomain(name);
  if (problems.length > 0) return [fieldError.invalid(path, name, problems.join(','))];
  return name.split('.').length < 3
    ? [fieldError.invalid(path, name, 'should be a domain with at least three segments separated by dots')]
    : [];
}

export function validateWebhooks(configuration: WebhookConfiguration): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [index, webhook] of (configuration.webhooks ?? []).entries()) {
    const path = `webhooks[${index}]`;
    errors.push(...validateWebhook(webhook, path));
    errors.push(...validateVersions(webhook.admissionReviewVersions ?? [], `${path}.admissionReviewVersions`));
    if (names.has(webhook.name)) errors.push(fieldError.duplicate(`${path}.name`, webhook.name));
    names.add(webhook.name);
  }
  return errors;
}

function validateWebhook(webhook: Webhook, path: string): FieldError[] {
  const errors = validateWebhookName(webhook.name, `${path}.name`);
  for (const [index, rule] of (webhook.rules ?? []).entries()) {
    errors.push(...validateRule(rule, `${path}.rules[${index}]`));
  }
  errors.push(...validateEnum(webhook.failurePolicy, ['Fail', 'Ignore'], `${path}.failurePolicy`));
  errors.push(...validateEnum(webhook.matchPolicy, ['Equivalent', 'Exact'], `${path}.matchPolicy`));
  const harmless = ['None', 'NoneOnDryRun'];
  if (webhook.sideEffects === undefined) {
    errors.push(fieldError.required(`${path}.sideEffects`, `must specify one of ${harmless.join(', ')}`));
  } else if (!harmless.includes(webhook.sideEffects)) {
    errors.push(notSupported(`${path}.sideEffects`, webhook.sideEffects, harmless));
  }
  const timeout = webhook.timeoutSeconds;
  if (timeout !== undefined && (timeout < 1 || timeout > 30)) {
    const text = 'the timeout value must be between 1 and 30 seconds';
    errors.push(fieldError.invalid(`${path}.timeoutSeconds`, timeout, text));
  }
  errors.push(...validateLabelSelector(webhook.namespaceSelector, `${path}.namespaceSelector`));
  errors.push(...validateLabelSelector(webhook.objectSelector, `${path}.objectSelector`));
  const reinvocation = ['IfNeeded', 'Never'];
  errors.push(...validateEnum(webhook.reinvocationPolicy, reinvocation, `${path}.reinvocationPolicy`));
  errors.push(...validateClient(webhook.clientConfig ?? {}, `${path}.clientConfig`));
  errors.push(...validateMatchConditions(webhook.matchConditions, `${path}.matchConditions`, { hasParams: false }));
  return errors;
}
