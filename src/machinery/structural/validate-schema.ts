import { compileRules } from '../cel/index.ts';
import { type FieldError, fieldError } from '../errors/index.ts';
import { must } from '../errors/must.ts';
import type { JsonValue } from '../json/index.ts';
import { own, resolveFieldPath, type Schema, type ValidationRule } from '../schema/index.ts';
import { validateSchemaDefaults } from './schema-defaults.ts';
import { validateStructural } from './structural.ts';

/** Validates the schema of one version. `path` is that of `openAPIV3Schema`. */
export function validateVersionSchema(schema: Schema, hasStatus: boolean, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (hasStatus) validateRootWithStatus(schema, path, errors);
  if (schema.nullable) errors.push(fieldError.forbidden(`${path}.nullable`, 'nullable cannot be true at the root'));
  const structural = validateStructural(schema, path);
  if (structural.length === 0) structural.push(...validateSchemaDefaults(schema, path));
  errors.push(...structural);
  const openApi: FieldError[] = [];
  validateOpenApi(schema, path, { isRoot: true, defaultsForbidden: undefined, insideMeta: false }, openApi);
  errors.push(...openApi);
  // Rules are compiled only if the schema itself is valid.
  if (errors.length === 0) errors.push(...compileRules(schema).compileErrors(path));
  return errors;
}

const allowedAtRoot = new Map<string, string>([
  ['description', 'Description'],
  ['type', 'Type'],
  ['format', 'Format'],
  ['title', 'Title'],
  ['maximum', 'Maximum'],
  ['exclusiveMaximum', 'ExclusiveMaximum'],
  ['minimum', 'Minimum'],
  ['exclusiveMinimum', 'ExclusiveMinimum'],
  ['maxLength', 'MaxLength'],
  ['minLength', 'MinLength'],
  ['pattern', 'Pattern'],
  ['maxItems', 'MaxItems'],
  ['minItems', 'MinItems'],
  ['uniqueItems', 'UniqueItems'],
  ['multipleOf', 'MultipleOf'],
  ['required', 'Required'],
  ['items', 'Items'],
  ['properties', 'Properties'],
  ['externalDocs', 'ExternalDocs'],
  ['example', 'Example'],
  ['x-kubernetes-preserve-unknown-fields', 'XPreserveUnknownFields'],
  ['x-kubernetes-validations', 'XValidations'],
]);

/**
 * With a status subresource, status is validated separately. The root may not contain constraints that would be lost.
 */
function validateRootWithStatus(schema: Schema, path: string, errors: FieldError[]): void {
  if (schema.type && schema.type !== 'object') {
    const detail =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    errors.push(fieldError.invalid(`${path}.type`, schema.type, detail));
    return;
  }
  for (const key in schema) {
    const value = schema[key as keyof Schema];
    if (allowedAtRoot.has(key) || value === undefined || value === false) continue;
    const names = [...allowedAtRoot.values()].join(' ');
    const detail = `only [${names}] fields are allowed at the root of the schema if the status subresource is enabled`;
    errors.push(fieldError.invalid(path, schema, detail));
    return;
  }
}

interface Place {
  isRoot: boolean;
  /** reason why defaults are forbidden here; undefined where they are allowed */
  defaultsForbidden: string | undefined;
  insideMeta: boolean;
}

const metaFields = new Set(['metadata', 'kind', 'apiVersion']);
const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

/** Fields of JSON Schema that apiextensions v1 knows but does not support. */
const unsupported = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];

function validateOpenApi(schema: Schema, path: string, place: Place, errors: FieldError[]): void {
  const at = (name: string): string => `${path}.${name}`;
  const inside: Place = { ...place, isRoot: false };
  validateKeywords(schema, path, place, errors);
  const { additionalProperties, properties } = schema;
  if (additionalProperties !== undefined) {
    if (properties && Object.keys(properties).length > 0 && additionalProperties !== true) {
      errors.push(
        fieldError.forbidden(at('additionalProperties'), 'additionalProperties and properties are mutual exclusive'),
      );
    }
    if (typeof additionalProperties === 'object') {
      const reason = 'inside additionalProperties applying to object metadata';
      const below = place.insideMeta ? { ...inside, defaultsForbidden: reason } : inside;
      validateOpenApi(additionalProperties, at('additionalProperties'), below, errors);
    }
  }
  for (const key in properties) {
    const isMeta = (place.isRoot || schema['x-kubernetes-embedded-resource'] === true) && metaFields.has(key);
    const below: Place = {
      isRoot: false,
      insideMeta: place.insideMeta || isMeta,
      defaultsForbidden: isMeta && place.isRoot ? `in top-level ${key}` : place.defaultsForbidden,
    };
    validateOpenApi(must(properties[key], 'properties[key]'), `${at('properties')}[${key}]`, below, errors);
  }
  if (schema.not) validateOpenApi(schema.not, at('not'), inside, errors);
  for (const name of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [i, branch] of (schema[name] ?? []).entries())
      validateOpenApi(branch, `${at(name)}[${i}]`, inside, errors);
  }
  if (schema.items && !Array.isArray(schema.items)) validateOpenApi(schema.items, at('items'), inside, errors);
  validateMapType(schema, path, errors);
  validateListType(schema, path, errors);
  for (const [i, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    validateRuleTexts(rule, schema, `${at('x-kubernetes-validations')}[${i}]`, errors);
  }
}

function validateKeywords(schema: Schema, path: string, place: Place, errors: FieldError[]): void {
  const at = (name: string): string => `${path}.${name}`;
  const type = schema.type as string | undefined;
  if (type && !types.includes(type)) errors.push(fieldError.notSupported(at('type'), type, types));
  if (schema.default !== undefined && schema.default !== null && place.defaultsForbidden !== undefined) {
    errors.push(fieldError.forbidden(at('default'), `must not be set ${place.defaultsForbidden}`));
  }
  for (const name of unsupported) {
    const value = (schema as Record<string, unknown>)[name];
    if (value !== undefined && value !== '') errors.push(fieldError.forbidden(at(name), `${name} is not supported`));
  }
  if (type === 'null') {
    errors.push(fieldError.forbidden(at('type'), 'type cannot be set to null, use nullable as an alternative'));
  }
  if (Array.isArray(schema.items)) {
    errors.push(fieldError.forbidden(at('items'), 'items must be a schema object and not an array'));
  }
  if (place.insideMeta && schema['x-kubernetes-embedded-resource']) {
    errors.push(fieldError.forbidden(at('x-kubernetes-embedded-resource'), 'must not be used inside of resource meta'));
  }
  if (schema.uniqueItems) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.push(fieldError.forbidden(at('uniqueItems'), detail));
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(fieldError.invalid(at('x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'));
  }
}

function validateMapType(schema: Schema, path: string, errors: FieldError[]): void {
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType === undefined) return;
  const detail = 'must be object if x-kubernetes-map-type is specified';
  if (!schema.type) errors.push(fieldError.required(`${path}.type`, detail));
  else if (schema.type !== 'object') errors.push(fieldError.invalid(`${path}.type`, schema.type, detail));
  if (mapType !== 'atomic' && mapType !== 'granular') {
    errors.push(fieldError.notSupported(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular']));
  }
}

function validateListType(schema: Schema, path: string, errors: FieldError[]): void {
  const at = (name: string): string => `${path}.${name}`;
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    const field = at('x-kubernetes-list-type');
    errors.push(
      listType === undefined ? fieldError.required(field, detail) : fieldError.invalid(field, listType, detail),
    );
  }
  if (listType === undefined) return;
  const detail = 'must be array if x-kubernetes-list-type is specified';
  if (!schema.type) errors.push(fieldError.required(at('type'), detail));
  else if (schema.type !== 'array') errors.push(fieldError.invalid(at('type'), schema.type, detail));
  else if (listType === 'set' && schema.items) validateSetItems(schema.items, at('items'), errors);
  if (!['atomic', 'set', 'map'].includes(listType)) {
    const supported = ['atomic', 'set', 'map'];
    errors.push({
      type: 'NotSupported',
      field: at('x-kubernetes-list-type'),
      value: listType,
      detail: `supported values: ${supported.map((value) => JSON.stringify(value)).join(', ')}`,
    });
  }
  if (listType === 'map') validateMapItems(schema, keys, path, errors);
  if ((listType === 'map' || listType === 'set') && schema.items?.nullable) {
    errors.push(
      fieldError.forbidden(`${at('items')}.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`),
    );
  }
}

function validateSetItems(items: Schema, path: string, errors: FieldError[]): void {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const listType = items['x-kubernetes-list-type'];
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic') {
    errors.push(fieldError.invalid(`${path}.x-kubernetes-list-type`, listType, detail));
  }
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    errors.push(fieldError.invalid(`${path}.x-kubernetes-map-type`, listType ?? null, detail));
  }
}

function validateMapItems(schema: Schema, keys: readonly string[], path: string, errors: FieldError[]): void {
  const at = (name: string): string => `${path}.${name}`;
  const keysField = at('x-kubernetes-list-map-keys');
  if (keys.length === 0) {
    errors.push(fieldError.required(keysField, 'must not be empty if x-kubernetes-list-type is map'));
  }
  const { items } = schema;
  if (!items) {
    errors.push(fieldError.required(at('items'), 'must have a schema if x-kubernetes-list-type is map'));
    return;
  }
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(fieldError.invalid(`${at('items')}.type`, items.type ?? '', detail));
    return;
  }
  const seen = new Set<string>();
  for (const key of keys) {
    const property = own(items.properties, key);
    const field = `${at('items')}.properties[${key}]`;
    if (!property) errors.push(fieldError.invalid(keysField, keys, 'entries must all be names of item properties'));
    else {
      if (property.type === 'array' || property.type === 'object') {
        const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
        errors.push(fieldError.invalid(`${field}.type`, items.type, detail));
      }
      if (!items.required?.includes(key) && (property.default ?? undefined) === undefined) {
        const detail =
          'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
        errors.push(fieldError.required(`${field}.default`, detail));
      }
      if (property.nullable) {
        const detail = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable';
        errors.push(fieldError.forbidden(`${field}.nullable`, detail));
      }
    }
    if (seen.has(key)) errors.push(fieldError.invalid(keysField, keys, 'must not contain duplicate entries'));
    seen.add(key);
  }
}

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

/** Validates the texts of a rule. Compilation happens later. */
function validateRuleTexts(rule: ValidationRule, schema: Schema, path: string, errors: FieldError[]): void {
  const at = (name: string): string => `${path}.${name}`;
  const text = (rule.rule ?? '').trim();
  const message = (rule.message ?? '').trim();
  if (text === '') errors.push(fieldError.required(at('rule'), 'rule is not specified'));
  else if (rule.message && message === '') {
    errors.push(fieldError.invalid(at('message'), rule.message, 'must be non-empty if specified'));
  } else if (/[\n\r]/.test(message)) {
    errors.push(fieldError.invalid(at('message'), rule.message, 'must not contain line breaks'));
  } else if (/[\n\r]/.test(text) && message === '') {
    errors.push(fieldError.required(at('message'), 'message must be specified if rule contains line breaks'));
  }
  if (rule.messageExpression && rule.messageExpression.trim() === '') {
    errors.push(fieldError.required(at('messageExpression'), 'messageExpression must be non-empty if specified'));
  }
  if (rule.reason !== undefined && !reasons.includes(rule.reason)) {
    errors.push(fieldError.notSupported(at('reason'), rule.reason as JsonValue, reasons));
  }
  if (!rule.fieldPath) return;
  if (rule.fieldPath.trim() === '') {
    errors.push(fieldError.invalid(at('fieldPath'), rule.fieldPath, 'must be non-empty if specified'));
  }
  if (/[\n\r]/.test(rule.fieldPath)) {
    errors.push(fieldError.invalid(at('fieldPath'), rule.fieldPath, 'must not contain line breaks'));
  }
  if (typeof resolveFieldPath(rule.fieldPath, schema, { allowBrackets: true }) === 'string') {
    errors.push(fieldError.invalid(at('fieldPath'), rule.fieldPath, 'must be a valid path'));
  }
}
