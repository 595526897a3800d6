import {
  checkConfigMapKey,
  deepEqual,
  type FieldError,
  fieldError,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
} from '../../machinery/index.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { invalid } from '../common/validation.ts';

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
  /** base64 */
  binaryData?: Record<string, string>;
  immutable?: boolean;
}

/** Maximum size of all data of one object. */
export const maxDataBytes: number = 1024 * 1024;

/** Returns the decoded size of a base64 text. */
export function base64Bytes(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return Math.floor((text.length * 3) / 4) - padding;
}

function validate(object: ConfigMap): FieldError[] {
  const errors: FieldError[] = [];
  const { data = {}, binaryData = {} } = object;
  let bytes = 0;
  for (const key in data) {
    errors.push(...invalid(`data[${key}]`, key, checkConfigMapKey(key)));
    if (Object.hasOwn(binaryData, key)) {
      errors.push(fieldError.invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    }
    bytes += Buffer.byteLength(data[key] ?? '');
  }
  for (const key in binaryData) {
    errors.push(...invalid(`binaryData[${key}]`, key, checkConfigMapKey(key)));
    bytes += base64Bytes(binaryData[key] ?? '');
  }
  if (bytes > maxDataBytes) errors.push(fieldError.tooLong('[]', '', maxDataBytes));
  return errors;
}

function validateUnchanged(object: ConfigMap, old: ConfigMap): FieldError[] {
  if (old.immutable !== true) return [];
  const text = 'field is immutable when `immutable` is set';
  const errors: FieldError[] = [];
  if (object.immutable !== true) errors.push(fieldError.forbidden('immutable', text));
  if (!deepEqual(object.data ?? {}, old.data ?? {})) errors.push(fieldError.forbidden('data', text));
  if (!deepEqual(object.binaryData ?? {}, old.binaryData ?? {})) errors.push(fieldError.forbidden('binaryData', text));
  return errors;
}

export const configMapDefinition: ResourceDefinition = defineBuiltin<ConfigMap>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  shortNames: ['cm'],
  namespaced: true,
  component: 'io.k8s.api.core.v1.ConfigMap',
  noGeneration: true,
  columns: [nameColumn, column('Data'), ageColumn],
  row: (object, nowMs) => [
    object.metadata.name ?? '',
    Object.keys(object.data ?? {}).length + Object.keys(object.binaryData ?? {}).length,
    age(object, nowMs),
  ],
  validateCreate: validate,
  validateUpdate: (object, old) => [...validateUnchanged(object, old), ...validate(object)],
});

export const ConfigMaps: Resource<ConfigMap> = resourceOf<ConfigMap>(configMapDefinition);
