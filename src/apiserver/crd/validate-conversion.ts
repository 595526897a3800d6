import {
  checkDns1035Label,
  checkDns1123Subdomain,
  checkPort,
  type FieldError,
  fieldError,
} from '../../machinery/index.ts';
import type { CrdConversion } from './types.ts';

const reviewVersions = ['v1', 'v1beta1'];

/** Validates spec.conversion. Errors use the field names of the internal API, as upstream does. */
export function validateConversion(conversion: CrdConversion | undefined, path: string): FieldError[] {
  if (!conversion) return [];
  const { strategy, webhook } = conversion;
  if (!strategy) return [fieldError.required(`${path}.strategy`)];
  if (strategy !== 'None' && strategy !== 'Webhook') {
    return [fieldError.notSupported(`${path}.strategy`, strategy, ['None', 'Webhook'])];
  }
  if (strategy === 'None') {
    const errors: FieldError[] = [];
    const detail = 'should not be set when strategy is not set to Webhook';
    if (webhook?.clientConfig) errors.push(fieldError.forbidden(`${path}.webhookClientConfig`, detail));
    if (webhook?.conversionReviewVersions?.length) {
      errors.push(fieldError.forbidden(`${path}.conversionReviewVersions`, detail));
    }
    return errors;
  }
  return [
    ...validateClientConfig(webhook?.clientConfig, `${path}.webhookClientConfig`),
    ...validateReviewVersions(webhook?.conversionReviewVersions, `${path}.conversionReviewVersions`),
  ];
}

type ClientConfig = NonNullable<NonNullable<CrdConversion['webhook']>['clientConfig']>;

function validateClientConfig(config: ClientConfig | undefined, path: string): FieldError[] {
  if (!config) return [fieldError.required(path, 'required when strategy is set to Webhook')];
  const { url, service } = config;
  const hasUrl = url !== undefined && url !== null;
  if (hasUrl && !service) return validateUrl(url, `${path}.url`);
  if (service && !hasUrl) return validateService(service, `${path}.service`);
  return [fieldError.required(path, 'exactly one of url or service is required')];
}

function validateUrl(text: string, field: string): FieldError[] {
  const form = 'desired format: https://host[/path]';
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return [fieldError.required(field, `url must be a valid URL: ${text}; ${form}`)];
  }
  const errors: FieldError[] = [];
  if (url.protocol !== 'https:') {
    const scheme = url.protocol.slice(0, -1);
    errors.push(fieldError.invalid(field, scheme, `'https' is the only allowed URL scheme; ${form}`));
  }
  if (url.host === '') errors.push(fieldError.invalid(field, url.host, `host must be specified; ${form}`));
  if (url.username !== '' || url.password !== '') {
    const user = url.password === '' ? url.username : `${url.username}:${url.password}`;
    errors.push(fieldError.invalid(field, user, 'user information is not permitted in the URL'));
  }
  if (url.hash !== '')
    errors.push(fieldError.invalid(field, url.hash.slice(1), 'fragments are not permitted in the URL'));
  if (url.search !== '') {
    errors.push(fieldError.invalid(field, url.search.slice(1), 'query parameters are not permitted in the URL'));
  }
  return errors;
}

function validateService(service: NonNullable<ClientConfig['service']>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!service.name) errors.push(fieldError.required(`${path}.name`));
  if (!service.namespace) errors.push(fieldError.required(`${path}.namespace`));
  const port = service.port ?? 443;
  const problems = checkPort(port);
  if (problems.length > 0) {
    errors.push(fieldError.invalid(`${path}.port`, port, `port is not valid: ${problems.join(', ')}`));
  }
  const urlPath = service.path ?? '';
  if (urlPath === '' || urlPath === '/') return errors;
  const field = `${path}.path`;
  if (urlPath === '//') {
    errors.push(fieldError.invalid(field, urlPath, 'segment[0] may not be empty'));
    return errors;
  }
  if (!urlPath.startsWith('/')) errors.push(fieldError.invalid(field, urlPath, "must start with a '/'"));
  const segments = urlPath.slice(1).replace(/\/$/, '').split('/');
  segments.forEach((segment, i) => {
    if (segment === '') errors.push(fieldError.invalid(field, urlPath, `segment[${i}] may not be empty`));
    else {
      for (const problem of checkDns1123Subdomain(segment)) {
        errors.push(fieldError.invalid(field, urlPath, `segment[${i}]: ${problem}`));
      }
    }
  });
  return errors;
}

function validateReviewVersions(versions: readonly string[] | undefined, path: string): FieldError[] {
  if (!versions || versions.length === 0) return [fieldError.required(path)];
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  versions.forEach((version, i) => {
    if (seen.has(version)) {
      errors.push(fieldError.invalid(`${path}[${i}]`, version, 'duplicate version'));
      return;
    }
    seen.add(version);
    for (const problem of checkDns1035Label(version)) {
      errors.push(fieldError.invalid(`${path}[${i}]`, version, problem));
    }
  });
  if (!versions.some((version) => reviewVersions.includes(version))) {
    errors.push(fieldError.invalid(path, versions, `must include at least one of ${reviewVersions.join(', ')}`));
  }
  return errors;
}
