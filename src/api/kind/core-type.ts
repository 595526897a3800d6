import type { JsonValue, Schema } from '../../machinery/index.ts';
import type { FieldDeclaration } from '../schema/notation.ts';
import { type IndexedType, indexedTypes, resolveTypeName } from '../schema/type-index.ts';
import { type Field, fieldOf, quantityPattern } from './schema.ts';

const core = 'io.k8s.api.core.v1';
const structural = new Map<string, Schema>();
/** Keyed by the properties object, which stays the same when a description or constraint is added. */
const namesOfTypes = new WeakMap<object, string>();

/**
 * Returns the structural schema of a type of Kubernetes, such as Volume, for use in our kinds. References are expanded
 * and extensions of built-in kinds are removed. The type parameter lists only the fields that the program uses; the
 * schema has all fields of upstream.
 */
export function coreType<T>(name: string, description = '', without: readonly string[] = []): Field<T> {
  const schema = withoutFields(schemaOf(typeNamed(`${core}.${name}`)), without);
  if (schema.properties !== undefined) namesOfTypes.set(schema.properties, name);
  return fieldOf<T>({ ...schema, ...(description === '' ? {} : { description }) });
}

/** Returns the fields of such a type, to embed them among others. */
export function coreFields(name: string): Readonly<Record<string, { schema: Schema; isRequired: false }>> {
  const { properties = {} } = schemaOf(typeNamed(`${core}.${name}`));
  return Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, { schema, isRequired: false }]));
}

/** Returns the name of the Kubernetes type that a schema contains unchanged. */
export function coreTypeNameOf({ properties }: Schema): string | undefined {
  return properties === undefined ? undefined : namesOfTypes.get(properties);
}

function typeNamed(component: string): IndexedType {
  const type = indexedTypes().get(component);
  if (type === undefined) throw new Error(`there is no type named ${component}`);
  return type;
}

function withoutFields(schema: Schema, names: readonly string[]): Schema {
  if (names.length === 0) return schema;
  const properties = { ...schema.properties };
  for (const name of names) delete properties[name];
  const required = (schema.required ?? []).filter((name) => !names.includes(name));
  const { required: _, ...rest } = schema;
  return { ...rest, properties, ...(required.length === 0 ? {} : { required }) };
}

function schemaOf(type: IndexedType): Schema {
  const known = structural.get(type.component);
  if (known !== undefined) return known;
  const schema = type.name === 'ObjectMeta' ? embeddedMetadata : expanded(type);
  if (schema.properties !== undefined) namesOfTypes.set(schema.properties, type.name);
  structural.set(type.component, schema);
  return schema;
}

function expanded(type: IndexedType): Schema {
  const fields = fieldsOf(type);
  const properties: Record<string, Schema> = {};
  for (const field of fields) properties[field.name] = fieldSchema(type, field);
  const required = fields.filter((field) => field.flags.has('required')).map((field) => field.name);
  return {
    type: 'object',
    ...(type.description === '' ? {} : { description: type.description }),
    properties,
    ...(required.length === 0 ? {} : { required }),
    ...(isAtomic(type) ? { 'x-kubernetes-map-type': 'atomic' as const } : {}),
  };
}

/** A type that inlines an atomic type is published as atomic, too. */
function isAtomic(type: IndexedType): boolean {
  const inlined = type.fields.filter(({ shape }) => shape === 'inline');
  return type.flags.has('atomic') || inlined.some(({ typeName }) => isAtomic(resolveTypeName(type.table, typeName)));
}

function fieldsOf(type: IndexedType): FieldDeclaration[] {
  return type.fields.flatMap((field) =>
    field.shape === 'inline' ? fieldsOf(resolveTypeName(type.table, field.typeName)) : [field],
  );
}

function fieldSchema(owner: IndexedType, field: FieldDeclaration): Schema {
  const value = valueSchema(owner, field.typeName);
  const said: Schema = field.description === '' ? {} : { description: field.description };
  const { flags } = field;
  if (field.shape === 'map') {
    const mapType = flags.has('atomic') ? 'atomic' : flags.has('granular') ? 'granular' : undefined;
    return {
      type: 'object',
      additionalProperties: value,
      ...said,
      ...(mapType === undefined ? {} : { 'x-kubernetes-map-type': mapType }),
    };
  }
  if (field.shape === 'list') return { type: 'array', items: value, ...said, ...listKind(flags) };
  const explicit = flags.get('default');
  // The default of a pointer to an enum is set by code, not by the schema.
  const isFromCode = field.pointer && flags.has('enum');
  const fallback = explicit === undefined || isFromCode ? {} : { default: parseDefault(value, explicit) };
  return { ...value, ...said, ...fallback };
}

function listKind(flags: ReadonlyMap<string, string>): Schema {
  const keys = flags.get('listmap');
  if (keys !== undefined) return { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys.split(',') };
  if (flags.has('set')) return { 'x-kubernetes-list-type': 'set' };
  return flags.has('atomic') ? { 'x-kubernetes-list-type': 'atomic' } : {};
}

function parseDefault(schema: Schema, text: string): JsonValue {
  return schema.type === 'string' ? text : (JSON.parse(text) as JsonValue);
}

const scalars: Readonly<Record<string, Schema>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number' },
  bytes: { type: 'string', format: 'byte' },
  Time: { type: 'string', format: 'date-time' },
  Quantity: {
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    pattern: quantityPattern,
    'x-kubernetes-int-or-string': true,
  },
  IntOrString: { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true },
};

/** Metadata fields that are kept in an embedded object. */
const embeddedMetadata: Schema = {
  type: 'object',
  properties: {
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
    finalizers: { type: 'array', items: { type: 'string' } },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    name: { type: 'string' },
    namespace: { type: 'string' },
  },
};

function valueSchema(owner: IndexedType, typeName: string): Schema {
  return scalars[typeName] ?? schemaOf(resolveTypeName(owner.table, typeName));
}
