import {
  checkConfigMapKey,
  deepEqual,
  type FieldError,
  fieldError,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
  validateImmutable,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { invalid } from '../common/validation.ts';
import { base64Bytes, maxDataBytes } from './config-map.ts';

export interface Secret extends KubeObject {
  type?: string;
  /** base64 */
  data?: Record<string, string>;
  /** write only: merged into data */
  stringData?: Record<string, string>;
  immutable?: boolean;
}

function validateJsonKey(object: Secret, key: string): FieldError[] {
  const text = object.data?.[key];
  if (text === undefined) return [fieldError.required(`data[${key}]`)];
  try {
    JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
    return [];
  } catch (error) {
    // The value itself must not appear in the message.
    const detail = `invalid character: ${error instanceof Error ? error.name : 'error'}`;
    return [fieldError.invalid(`data[${key}]`, '<secret contents redacted>', detail)];
  }
}

function validateType(object: Secret): FieldError[] {
  const data = object.data ?? {};
  const require = (...keys: string[]): FieldError[] =>
    keys.filter((key) => data[key] === undefined).map((key) => fieldError.required(`data[${key}]`));
  switch (object.type) {
    case 'kubernetes.io/service-account-token':
      return object.metadata.annotations?.['kubernetes.io/service-account.name']
        ? []
        : [fieldError.required('metadata.annotations[kubernetes.io/service-account.name]')];
    case 'kubernetes.io/dockercfg':
      return validateJsonKey(object, '.dockercfg');
    case 'kubernetes.io/dockerconfigjson':
      return validateJsonKey(object, '.dockerconfigjson');
    case 'kubernetes.io/basic-auth':
      return data['username'] === undefined && data['password'] === undefined ? require('username', 'password') : [];
    case 'kubernetes.io/ssh-auth':
      return (data['ssh-privatekey'] ?? '') === '' ? [fieldError.required('data[ssh-privatekey]')] : [];
    case 'kubernetes.io/tls':
      return require('tls.crt', 'tls.key');
    default:
      return [];
  }
}

function validate(object: Secret): FieldError[] {
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const key in object.data) {
    errors.push(...invalid(`data[${key}]`, key, checkConfigMapKey(key)));
    bytes += base64Bytes(object.data[key] ?? '');
  }
  if (bytes > maxDataBytes) errors.push(fieldError.tooLong('data', '', maxDataBytes));
  errors.push(...validateType(object));
  return errors;
}

function validateUnchanged(object: Secret, old: Secret): FieldError[] {
  const errors = validateImmutable(object.type, old.type, 'type');
  if (old.immutable !== true) return errors;
  const text = 'field is immutable when `immutable` is set';
  if (object.immutable !== true) errors.push(fieldError.forbidden('immutable', text));
  if (!deepEqual(object.data ?? {}, old.data ?? {})) errors.push(fieldError.forbidden('data', text));
  return errors;
}

export const secretDefinition: ResourceDefinition = defineBuiltin<Secret>({
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
  component: 'io.k8s.api.core.v1.Secret',
  noGeneration: true,
  columns: [nameColumn, column('Type'), column('Data'), ageColumn],
  row: (object, nowMs) => [
    object.metadata.name ?? '',
    object.type ?? '',
    Object.keys(object.data ?? {}).length,
    age(object, nowMs),
  ],
  selectableFields: { type: (object) => object.type ?? '' },
  applyDefaults(object) {
    setDefault(object, 'type', 'Opaque');
    if (object.stringData === undefined) return;
    if (object.stringData) {
      object.data ??= {};
      for (const key in object.stringData) {
        object.data[key] = Buffer.from(object.stringData[key] ?? '', 'utf8').toString('base64');
      }
    }
    delete object.stringData;
  },
  prepareForUpdate(object, old) {
    // Like upstream, an update without a type keeps the type.
    if (!object.type && old.type) object.type = old.type;
  },
  validateCreate: validate,
  validateUpdate: (object, old) => [...validateUnchanged(object, old), ...validate(object)],
});

export const Secrets: Resource<Secret> = resourceOf<Secret>(secretDefinition);
