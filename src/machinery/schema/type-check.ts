import { isDateTime } from './formats.ts';
import { own } from './own.ts';
import { joinPath } from './path.ts';
import type { Schema } from './types.ts';

/** The first value whose JSON type does not match the schema. */
export interface TypeMismatch {
  /** e.g. `spec.ports[0].port` */
  path: string;
  /** expected JSON type, or a format such as `int32` or `date-time` */
  expected: string;
  /** JSON type of the value */
  found: JsonTypeName;
  value: unknown;
  /** the field as Go's decoder names it: struct, then names without indexes and map keys; empty for the root */
  goField: string;
  /** expected Go type */
  goType: string;
}

export type JsonTypeName = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'null';

export function jsonTypeOf(value: unknown): JsonTypeName {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return Number.isInteger(value) ? 'integer' : 'number';
    case 'bigint':
      return 'integer';
    case 'boolean':
      return 'boolean';
    default:
      return value === null || value === undefined ? 'null' : Array.isArray(value) ? 'array' : 'object';
  }
}

const integerLimits: Record<string, readonly [number, number]> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2 ** 63), 2 ** 63],
};

/**
 * Finds the first value that cannot be decoded into a typed object, for which kube-apiserver answers 400 for built-in
 * kinds. Null is accepted everywhere, because decoding null leaves a field unset. Unknown fields are ignored.
 */
export function checkTypes(value: unknown, schema: Schema, path = ''): TypeMismatch | undefined {
  // The path is built while returning from a mismatch, so that the usual case builds none.
  const mismatch = findMismatch(value, schema);
  if (mismatch) mismatch.path = joinPath(path, mismatch.path);
  return mismatch;
}

/**
 * Returns kube-apiserver's text for a mismatch, which follows `<Kind> in version "<v>" cannot be handled as a <Kind>:
 * `. Structs have their Go names if the schema names its components.
 */
export function decodeErrorText(mismatch: TypeMismatch): string {
  const { value } = mismatch;
  if (mismatch.expected === 'date-time' && typeof value === 'string') {
    return `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(value)} as "2006"`;
  }
  if (mismatch.expected === 'byte' && typeof value === 'string') {
    return `illegal base64 data at input byte ${Math.max(0, value.search(/[^A-Za-z0-9+/\r\n]/))}`;
  }
  const isNumber = typeof value === 'number';
  const found = isNumber ? (/^u?int/.test(mismatch.goType) ? `number ${value}` : 'number') : mismatch.found;
  const target = mismatch.goField === '' ? 'Go value' : `Go struct field ${mismatch.goField}`;
  return `json: cannot unmarshal ${found === 'boolean' ? 'bool' : found} into ${target} of type ${mismatch.goType}`;
}

function findMismatch(value: unknown, schema: Schema): TypeMismatch | undefined {
  if (value === null || value === undefined) return undefined;
  if (schema['x-kubernetes-int-or-string'] === true) {
    return typeof value === 'string' || Number.isInteger(value)
      ? undefined
      : mismatchOf(value, 'integer or string', schema);
  }
  switch (schema.type) {
    case 'object':
      if (typeof value !== 'object' || Array.isArray(value)) return mismatchOf(value, 'object', schema);
      return findInObject(value as Record<string, unknown>, schema);
    case 'array':
      return Array.isArray(value) ? findInArray(value, schema.items) : mismatchOf(value, 'array', schema);
    case 'string':
      if (typeof value !== 'string') return mismatchOf(value, 'string', schema);
      if (schema.format === 'date-time' && value !== '' && !isDateTime(value))
        return mismatchOf(value, 'date-time', schema);
      if (schema.format === 'byte' && !isBase64(value)) return mismatchOf(value, 'byte', schema);
      return undefined;
    case 'integer': {
      if (!Number.isInteger(value)) return mismatchOf(value, 'integer', schema);
      const { format = '' } = schema;
      const limits = own(integerLimits, format);
      if (limits && ((value as number) < limits[0] || (value as number) > limits[1])) {
        return mismatchOf(value, format, schema);
      }
      return undefined;
    }
    case 'number':
      return typeof value === 'number' ? undefined : mismatchOf(value, 'number', schema);
    case 'boolean':
      return typeof value === 'boolean' ? undefined : mismatchOf(value, 'boolean', schema);
    default:
      return typeof value === 'object' && !Array.isArray(value)
        ? findInObject(value as Record<string, unknown>, schema)
        : undefined;
  }
}

function findInObject(value: Record<string, unknown>, schema: Schema): TypeMismatch | undefined {
  const { properties, additionalProperties } = schema;
  const rest = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  const isTextMap = !properties && rest?.type === 'string' && rest.format === undefined;
  for (const key in value) {
    if (isTextMap && typeof value[key] === 'string') continue;
    const property = own(properties, key);
    const member = property ?? rest;
    const mismatch = member && findMismatch(value[key], member);
    if (mismatch) {
      mismatch.path = joinPath(key, mismatch.path);
      if (property) mismatch.goField = outerGoField(schema, key, mismatch.goField);
      return mismatch;
    }
  }
  return undefined;
}

function findInArray(value: readonly unknown[], items: Schema | undefined): TypeMismatch | undefined {
  if (!items) return undefined;
  for (let i = 0; i < value.length; i++) {
    const mismatch = findMismatch(value[i], items);
    if (mismatch) {
      mismatch.path = joinPath(`[${i}]`, mismatch.path);
      return mismatch;
    }
  }
  return undefined;
}

function mismatchOf(value: unknown, expected: string, schema: Schema): TypeMismatch {
  return { path: '', expected, found: jsonTypeOf(value), value, goField: '', goType: goTypeOf(schema) };
}

/**
 * Go names the innermost struct, followed by all fields from the outermost: `OwnerReference.metadata.ownerReferences`.
 */
function outerGoField(schema: Schema, key: string, inner: string): string {
  if (inner === '') return `${schema.component?.split('.').at(-1) ?? ''}.${key}`;
  const dot = inner.indexOf('.');
  return `${inner.slice(0, dot)}.${key}${inner.slice(dot)}`;
}

function goTypeOf(schema: Schema): string {
  const { component } = schema;
  if (component !== undefined) return component.split('.').slice(-2).join('.');
  switch (schema.type) {
    case 'integer':
      return schema.format ?? 'int64';
    case 'number':
      return 'float64';
    case 'boolean':
      return 'bool';
    case 'array':
      return `[]${schema.items ? goTypeOf(schema.items) : 'interface {}'}`;
    case 'object':
      return typeof schema.additionalProperties === 'object'
        ? `map[string]${goTypeOf(schema.additionalProperties)}`
        : 'map[string]interface {}';
    default:
      return schema.type === 'string' && schema.format === 'byte' ? '[]uint8' : (schema.type ?? 'interface {}');
  }
}

// The empty string decodes to no bytes. Go's decoder ignores line breaks.
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function isBase64(text: string): boolean {
  return base64.test(text) || (/[\r\n]/.test(text) && base64.test(text.replace(/[\r\n]/g, '')));
}
