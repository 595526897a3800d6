import { parseDocument } from 'yaml';
import {
  checkCidr,
  type FieldError,
  fieldError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../machinery/index.ts';
import { validateSans } from '../common/plane-validation.ts';
import { invalid } from '../common/validation.ts';

const k0sApiVersion = 'k0s.k0sproject.io/v1beta1';

/**
 * Refuses early what k0s would refuse when its controllers start. Only known fields are checked; k0s validates the
 * others.
 */
export function validateK0sConfig(config: JsonObject | undefined, path: string): FieldError[] {
  if (config === undefined) return [];
  const errors: FieldError[] = [];
  const { apiVersion, kind, spec } = config;
  if (apiVersion !== undefined && apiVersion !== k0sApiVersion) {
    errors.push(fieldError.notSupported(`${path}.apiVersion`, apiVersion, [k0sApiVersion]));
  }
  if (kind !== undefined && kind !== 'ClusterConfig') {
    errors.push(fieldError.notSupported(`${path}.kind`, kind, ['ClusterConfig']));
  }
  if (spec === undefined || spec === null) return errors;
  if (!isJsonObject(spec)) return [...errors, mustBe('an object', `${path}.spec`, spec)];
  return [
    ...errors,
    ...validateApi(spec['api'], `${path}.spec.api`),
    ...validateNetwork(spec['network'], `${path}.spec.network`),
    ...validateHelm(spec['extensions'], `${path}.spec.extensions`),
  ];
}

function mustBe(what: string, path: string, value: JsonValue): FieldError {
  return fieldError.typeInvalid(path, value, `must be ${what}`);
}

function validateApi(api: JsonValue | undefined, path: string): FieldError[] {
  if (!isJsonObject(api)) return absentOr('an object', api, path);
  const { sans } = api;
  if (sans === undefined || sans === null) return [];
  return Array.isArray(sans)
    ? validateSans(sans as string[], `${path}.sans`)
    : [mustBe('a list', `${path}.sans`, sans)];
}

function validateNetwork(network: JsonValue | undefined, path: string): FieldError[] {
  if (!isJsonObject(network)) return absentOr('an object', network, path);
  return ['podCIDR', 'serviceCIDR'].flatMap((name) => {
    const cidr = network[name];
    if (cidr === undefined || cidr === null || cidr === '') return [];
    return invalid(`${path}.${name}`, cidr, checkCidr(String(cidr)));
  });
}

function validateHelm(extensions: JsonValue | undefined, path: string): FieldError[] {
  if (!isJsonObject(extensions)) return absentOr('an object', extensions, path);
  const { helm } = extensions;
  if (!isJsonObject(helm)) return absentOr('an object', helm, `${path}.helm`);
  return [
    ...validateItems(helm['repositories'], ['name', 'url'], `${path}.helm.repositories`),
    ...validateItems(helm['charts'], ['name', 'chartname', 'namespace'], `${path}.helm.charts`),
    ...validateValues(helm['charts'], `${path}.helm.charts`),
  ];
}

/** Validates a list of objects with required, unique names. */
function validateItems(items: JsonValue | undefined, required: readonly string[], path: string): FieldError[] {
  if (!Array.isArray(items)) return absentOr('a list', items, path);
  const seen = new Set<JsonValue>();
  return items.flatMap((item, i) => {
    if (!isJsonObject(item)) return [mustBe('an object', `${path}[${i}]`, item)];
    const errors = required
      .filter((name) => item[name] === undefined || item[name] === null || item[name] === '')
      .map((name) => fieldError.required(`${path}[${i}].${name}`));
    const { name } = item;
    if (name !== undefined && seen.has(name)) errors.push(fieldError.duplicate(`${path}[${i}].name`, name));
    if (name !== undefined) seen.add(name);
    return errors;
  });
}

/** Values are YAML inside YAML, so errors would otherwise show only when the chart is installed. */
function validateValues(charts: JsonValue | undefined, path: string): FieldError[] {
  if (!Array.isArray(charts)) return [];
  return charts.flatMap((chart, i) => {
    const values = isJsonObject(chart) ? chart['values'] : undefined;
    if (values === undefined || values === null) return [];
    const valuesPath = `${path}[${i}].values`;
    if (typeof values !== 'string') return [mustBe('a text with YAML in it', valuesPath, values)];
    const problem = yamlObjectProblem(values);
    return problem === undefined ? [] : [fieldError.invalid(valuesPath, values, problem)];
  });
}

/** Returns why a text is no YAML object, or undefined. */
export function yamlObjectProblem(text: string): string | undefined {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) return `must be YAML: ${error.message.split('\n')[0]}`;
  const value = document.toJS({ maxAliasCount: 100 }) as unknown;
  return value === null || value === undefined || isJsonObject(value as JsonValue)
    ? undefined
    : 'must be a YAML object';
}

function absentOr(what: string, value: JsonValue | undefined, path: string): FieldError[] {
  return value === undefined || value === null ? [] : [mustBe(what, path, value)];
}
