import {
  checkDns1035Label,
  checkDns1123Label,
  checkPort,
  type FieldError,
  fieldError,
  type ResourceStrategy,
  validateLabelSelector,
} from '../../machinery/index.ts';
import { validateChangedSpec } from '../kind/strategy.ts';
import type { ExtensionClientConfig, ExtensionConfig, ExtensionService } from './types.ts';

/** `<namespace>/<name>` of the Secret whose `ca.crt` is copied to spec.clientConfig.caBundle */
export const injectCaAnnotation = 'runtime.cluster.x-k8s.io/inject-ca-from-secret';

export const extensionConfigStrategy: ResourceStrategy<ExtensionConfig> = {
  ...validateChangedSpec<ExtensionConfig>(({ spec, metadata }, old) => [
    ...(spec?.clientConfig ? validateClient(spec.clientConfig) : []),
    ...(spec?.namespaceSelector ? validateLabelSelector(spec.namespaceSelector, 'spec.namespaceSelector') : []),
    ...(old ? [] : validateSecretName(metadata.annotations)),
  ]),
  applyDefaults({ spec }) {
    if (spec === undefined) return;
    spec.namespaceSelector ??= {};
    if (spec.clientConfig?.service) spec.clientConfig.service.port ??= 443;
  },
  validateName: (name) =>
    checkDns1123Label(name).map((problem) => `ExtensionConfig name should be a valid DNS1123 label name: ${problem}`),
};

function validateClient({ url, service }: ExtensionClientConfig): FieldError[] {
  const path = 'spec.clientConfig';
  if (url !== undefined && service !== undefined) {
    return [fieldError.forbidden(path, 'only one of url or service can be defined')];
  }
  if (url !== undefined) return validateUrl(url, `${path}.url`);
  if (service !== undefined) return validateService(service, `${path}.service`);
  return [fieldError.required(path, 'either url or service must be defined')];
}

function validateUrl(text: string, path: string): FieldError[] {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) return [fieldError.invalid(path, text, 'must be a valid URL, e.g. https://example.com')];
  const errors: FieldError[] = [];
  if (url.protocol !== 'https:') {
    errors.push(fieldError.invalid(path, text, "'https' is the only allowed URL scheme, e.g. https://example.com"));
  }
  // Credentials would be visible to everybody who can read the object.
  if (url.username !== '' || url.password !== '') {
    errors.push(fieldError.forbidden(path, 'user information is not permitted in the URL'));
  }
  if (url.search !== '') errors.push(fieldError.invalid(path, text, 'query parameters are not permitted in the URL'));
  if (url.hash !== '') errors.push(fieldError.invalid(path, text, 'fragments are not permitted in the URL'));
  return errors;
}

function validateService({ name, namespace, path: hookPath, port }: ExtensionService, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const problem of checkDns1035Label(name)) errors.push(fieldError.invalid(`${path}.name`, name, problem));
  for (const problem of checkDns1123Label(namespace)) {
    errors.push(fieldError.invalid(`${path}.namespace`, namespace, problem));
  }
  if (hookPath !== undefined && !hookPath.startsWith('/')) {
    errors.push(fieldError.invalid(`${path}.path`, hookPath, 'must start with "/" to be a valid URL path'));
  } else if (hookPath !== undefined && /[\s?#]/.test(hookPath)) {
    errors.push(fieldError.invalid(`${path}.path`, hookPath, 'must be a valid URL path e.g. /path/to/hook'));
  }
  if (port !== undefined) {
    for (const problem of checkPort(port)) errors.push(fieldError.invalid(`${path}.port`, port, problem));
  }
  return errors;
}

function validateSecretName(annotations: Record<string, string> | undefined): FieldError[] {
  const value = annotations?.[injectCaAnnotation];
  if (value === undefined || /^[^/]+\/[^/]+$/.test(value)) return [];
  const path = `metadata.annotations[${injectCaAnnotation}]`;
  return [fieldError.invalid(path, value, 'must be in the form <namespace>/<name>')];
}
