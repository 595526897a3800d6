import { type FieldError, fieldError, formatFieldError } from '../errors/index.ts';
import { deepEqual } from '../json/index.ts';
import { own, type Schema, validatePattern } from '../schema/index.ts';

type Level = 'root' | 'item' | 'field';

/**
 * Checks that a schema is structural: every field outside of logical junctors has a type, junctors only restrict
 * values, and metadata is left to the server.
 */
export function validateStructural(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  validateInvariants(schema, 'root', path, errors);
  validateCompleteness(schema, schema, { structurePath: path, valuesPath: path }, errors);
  return errors.sort((a, b) => (formatFieldError(a) < formatFieldError(b) ? -1 : 1));
}

const missingType: Record<Level, string> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function validateInvariants(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  const at = (name: string): string => `${path}.${name}`;
  if (schema.type === 'array' && !schema.items) errors.push(fieldError.required(at('items'), 'must be specified'));
  if (schema.items) validateInvariants(schema.items, 'item', at('items'), errors);
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    validateInvariants(property, 'field', `${at('properties')}[${key}]`, errors);
  }
  const { additionalProperties } = schema;
  if (additionalProperties !== undefined) {
    if (level === 'root') errors.push(fieldError.forbidden(at('additionalProperties'), 'must not be used at the root'));
    if (typeof additionalProperties === 'object') {
      validateInvariants(additionalProperties, 'field', at('additionalProperties'), errors);
    }
  }
  validateExtensions(schema, path, errors);
  validateValues(
    schema,
    { skipAnyOf: isIntOrString(schema.anyOf), skipFirstAllOfAnyOf: isIntOrString(schema.allOf?.[0]?.anyOf) },
    path,
    errors,
  );
  validateNodeType(schema, level, path, errors);
  validateMetaTypes(schema, level, path, errors);
}

function validateExtensions(schema: Schema, path: string, errors: FieldError[]): void {
  if (!schema['x-kubernetes-int-or-string']) return;
  for (const name of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const) {
    if (schema[name]) {
      errors.push(fieldError.invalid(`${path}.${name}`, true, 'must be false if x-kubernetes-int-or-string is true'));
    }
  }
}

function validateNodeType(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  const at = (name: string): string => `${path}.${name}`;
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (embedded && schema.type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(
      schema.type ? fieldError.invalid(at('type'), schema.type, detail) : fieldError.required(at('type'), detail),
    );
  } else if (!schema.type && !schema['x-kubernetes-int-or-string'] && !preserves) {
    errors.push(fieldError.required(at('type'), missingType[level]));
  }
  if (embedded && schema.additionalProperties !== undefined) {
    errors.push(
      fieldError.forbidden(at('additionalProperties'), 'must not be used if x-kubernetes-embedded-resource is set'),
    );
  }
  if (level === 'root' && schema.type && schema.type !== 'object') {
    errors.push(fieldError.invalid(at('type'), schema.type, 'must be object at the root'));
  }
  if (embedded && !preserves && Object.keys(schema.properties ?? {}).length === 0) {
    errors.push(
      fieldError.required(
        at('properties'),
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    );
  }
}

function validateMetaTypes(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  const isResource = level === 'root' || schema['x-kubernetes-embedded-resource'] === true;
  if (isResource) {
    for (const name of ['kind', 'apiVersion']) {
      const type = schema.properties?.[name]?.type;
      if (schema.properties?.[name] && type !== 'string') {
        errors.push(fieldError.invalid(`${path}.properties[${name}].type`, type ?? '', 'must be string'));
      }
    }
  }
  const metadata = schema.properties?.['metadata'];
  if (!metadata) return;
  const field = `${path}.properties[metadata]`;
  if (isResource && metadata.type !== 'object') {
    errors.push(fieldError.invalid(`${field}.type`, metadata.type ?? '', 'must be object'));
  }
  if (level !== 'root') return;
  const { type: _type, default: _default, description: _description, properties, ...rest } = metadata;
  const named = Object.keys(properties ?? {});
  if (Object.keys(rest).length > 0 || named.some((name) => name !== 'name' && name !== 'generateName')) {
    errors.push(
      fieldError.forbidden(
        field,
        'must not specify anything other than name and generateName, but metadata is implicitly specified',
      ),
    );
  }
}

function isIntOrString(anyOf: readonly Schema[] | undefined): boolean {
  return deepEqual(anyOf, [{ type: 'integer' }, { type: 'string' }]);
}

function validateValues(
  schema: Schema,
  { skipAnyOf, skipFirstAllOfAnyOf }: { skipAnyOf: boolean; skipFirstAllOfAnyOf: boolean },
  path: string,
  errors: FieldError[],
): void {
  for (const name of ['anyOf', 'allOf', 'oneOf'] as const) {
    if (name === 'anyOf' && skipAnyOf) continue;
    for (const [i, branch] of (schema[name] ?? []).entries()) {
      validateNested(
        branch,
        { skipAnyOf: name === 'allOf' && skipFirstAllOfAnyOf && i === 0 },
        `${path}.${name}[${i}]`,
        errors,
      );
    }
  }
  if (schema.not) validateNested(schema.not, { skipAnyOf: false }, `${path}.not`, errors);
  if (schema.pattern) {
    const problem = validatePattern(schema.pattern);
    if (problem !== undefined) {
      const detail = `must be a valid regular expression, but isn't: ${problem}`;
      errors.push(fieldError.invalid(`${path}.pattern`, schema.pattern, detail));
    }
  }
}

/** Members forbidden below allOf, anyOf, oneOf and not, with the error text. */
const forbiddenInJunctors: readonly [keyof Schema, string][] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

function validateNested(
  schema: Schema,
  { skipAnyOf }: { skipAnyOf: boolean },
  path: string,
  errors: FieldError[],
): void {
  validateValues(schema, { skipAnyOf, skipFirstAllOfAnyOf: false }, path, errors);
  if (schema.items) validateNested(schema.items, { skipAnyOf: false }, `${path}.items`, errors);
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    validateNested(property, { skipAnyOf: false }, `${path}.properties[${key}]`, errors);
  }
  for (const [key, demand] of forbiddenInJunctors) {
    const value = schema[key];
    const unset =
      value === undefined || value === false || value === '' || (Array.isArray(value) && value.length === 0);
    if (!unset || (key === 'default' && value !== undefined)) {
      errors.push(fieldError.forbidden(`${path}.${key}`, demand));
    }
  }
  if (schema.properties && Object.hasOwn(schema.properties, 'metadata')) {
    errors.push(fieldError.forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'));
  }
}

/** Every field that a junctor at the root restricts must be declared. Upstream does not check deeper either. */
function validateCompleteness(
  values: Schema,
  structure: Schema | undefined,
  { structurePath, valuesPath }: { structurePath: string; valuesPath: string },
  errors: FieldError[],
): void {
  const nested = (branch: Schema, path: string): void =>
    validateNestedCompleteness(branch, structure, { structurePath, valuesPath: path }, errors);
  if (values.not) nested(values.not, `${valuesPath}.not`);
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const [i, branch] of (values[name] ?? []).entries()) nested(branch, `${valuesPath}.${name}[${i}]`);
  }
}

function validateNestedCompleteness(
  values: Schema,
  structure: Schema | undefined,
  { structurePath, valuesPath }: { structurePath: string; valuesPath: string },
  errors: FieldError[],
): void {
  if (!structure) {
    errors.push(fieldError.required(structurePath, `because it is defined in ${valuesPath}`));
    return;
  }
  validateCompleteness(values, structure, { structurePath, valuesPath }, errors);
  if (values.items) {
    validateNestedCompleteness(
      values.items,
      structure.items,
      { structurePath: `${structurePath}.items`, valuesPath: `${valuesPath}.items` },
      errors,
    );
  }
  for (const [key, property] of Object.entries(values.properties ?? {})) {
    const declared = own(structure.properties, key);
    validateNestedCompleteness(
      property,
      declared,
      { structurePath: `${structurePath}.properties[${key}]`, valuesPath: `${valuesPath}.properties[${key}]` },
      errors,
    );
  }
}
