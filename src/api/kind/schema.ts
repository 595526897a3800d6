import type { JsonObject, JsonValue, Schema, ValidationRule } from '../../machinery/index.ts';

/** Constraints of a field besides its type, named as in the published schema. */
export type Constraints = Omit<
  Schema,
  'type' | 'properties' | 'required' | 'items' | 'additionalProperties' | 'description' | 'default'
>;

/**
 * One field of a kind: its published schema and, for the compiler only, its TypeScript type. Both type parameters are
 * invariant, so assigning a field to an annotated constant proves that schema and interface agree; see `Field`.
 */
export class SchemaField<T, Names, Required extends boolean> {
  /** never set at run time */
  declare readonly __type?: (value: T) => T;
  /** never set at run time */
  declare readonly __names?: (value: Names) => Names;
  readonly schema: Schema;
  readonly isRequired: Required;

  constructor(schema: Schema, isRequired: Required) {
    this.schema = schema;
    this.isRequired = isRequired;
  }

  required(): SchemaField<T, Names, true> {
    return new SchemaField(this.schema, true);
  }

  /** Returns the same schema with another description for `kubectl explain`. */
  describe(description: string): SchemaField<T, Names, Required> {
    return this.with({ description });
  }

  default(value: JsonValue): SchemaField<T, Names, Required> {
    return this.with({ default: value });
  }

  rule(rule: string, message: string): SchemaField<T, Names, Required> {
    const added: ValidationRule = { rule, message };
    return this.with({ 'x-kubernetes-validations': [...(this.schema['x-kubernetes-validations'] ?? []), added] });
  }

  with(more: Schema): SchemaField<T, Names, Required> {
    return new SchemaField({ ...this.schema, ...more }, this.isRequired);
  }
}

/**
 * A field of type `T`. Types that differ only in an optional field are assignable to each other, but their names are
 * not, so the names are a type parameter, too.
 */
export type Field<T, Required extends boolean = false> = SchemaField<T, AllNames<T>, Required>;

/** Creates an optional field from a schema. */
export function fieldOf<T>(schema: Schema): Field<T> {
  return new SchemaField<T, AllNames<T>, false>(schema, false);
}

/** All fields of a type at every depth, none of them optional. Free-form JSON stays unchanged. */
export type AllNames<T> = [JsonValue] extends [T] ? T : { [K in keyof T]-?: AllNames<Exclude<T[K], undefined>> };

/** A field of an old version, which has no TypeScript type. */
export interface UntypedField {
  readonly schema: Schema;
  readonly isRequired: false;
}

/** Fields of an object. `Field<unknown>` would be too narrow because of its variance. */
export type Fields = Record<string, { readonly schema: Schema; readonly isRequired: boolean }>;

type TypeOf<F> = F extends SchemaField<infer T, infer _, boolean> ? T : never;
type RequiredKeys<P> = { [K in keyof P]: P[K] extends { isRequired: true } ? K : never }[keyof P];

/** The TypeScript type of an object schema. */
export type ObjectOf<P> = Flatten<
  { [K in RequiredKeys<P>]: TypeOf<P[K]> } & { [K in Exclude<keyof P, RequiredKeys<P>>]?: TypeOf<P[K]> }
>;
type Flatten<T> = { [K in keyof T]: T[K] };

export function string(description = '', constraints: Constraints = {}): Field<string> {
  return make<string>('string', description, constraints);
}

export function boolean(description = ''): Field<boolean> {
  return make<boolean>('boolean', description, {});
}

export function integer(description = '', constraints: Constraints = {}): Field<number> {
  return make<number>('integer', description, constraints);
}

export function int32(description = '', constraints: Constraints = {}): Field<number> {
  return make<number>('integer', description, { format: 'int32', ...constraints });
}

export function int64(description = '', constraints: Constraints = {}): Field<number> {
  return make<number>('integer', description, { format: 'int64', ...constraints });
}

export function time(description = ''): Field<string> {
  return make<string>('string', description, { format: 'date-time' });
}

export function oneOf<const V extends string>(values: readonly V[], description = ''): Field<V> {
  return make<V>('string', description, { enum: [...values] });
}

export function intOrString(description = '', constraints: Constraints = {}): Field<number | string> {
  return fieldOf<number | string>(
    withDescription(description, {
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      'x-kubernetes-int-or-string': true,
      ...constraints,
    }),
  );
}

export const quantityPattern: string =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';

/** an amount such as `500m` or `1Gi` */
export function quantity(description = ''): Field<number | string> {
  return intOrString(description, { pattern: quantityPattern });
}

/** any JSON, stored unchanged */
export function anyValue(description = ''): Field<JsonValue> {
  return fieldOf<JsonValue>(withDescription(description, { 'x-kubernetes-preserve-unknown-fields': true }));
}

/** an object with fields defined elsewhere, stored unchanged */
export function anyObject(description = ''): Field<JsonObject> {
  return fieldOf<JsonObject>(
    withDescription(description, { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
  );
}

export function stringMap(description = ''): Field<Record<string, string>> {
  return mapOf(string(), description);
}

export function mapOf<T>(value: Field<T, boolean>, description = ''): Field<Record<string, T>> {
  return fieldOf<Record<string, T>>(
    withDescription(description, { type: 'object', additionalProperties: value.schema }),
  );
}

export function list<T>(item: Field<T, boolean>, description = '', constraints: Constraints = {}): Field<T[]> {
  return fieldOf<T[]>(withDescription(description, { type: 'array', items: item.schema, ...constraints }));
}

export function atomicList<T>(item: Field<T, boolean>, description = '', constraints: Constraints = {}): Field<T[]> {
  return list(item, description, { 'x-kubernetes-list-type': 'atomic', ...constraints });
}

export function setOf<T>(item: Field<T, boolean>, description = '', constraints: Constraints = {}): Field<T[]> {
  return list(item, description, { 'x-kubernetes-list-type': 'set', ...constraints });
}

/** a list whose items are identified by some of their fields */
export function listKeyedBy<T>(
  keys: readonly string[],
  item: Field<T, boolean>,
  description = '',
  constraints: Constraints = {},
): Field<T[]> {
  return list(item, description, {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': [...keys],
    ...constraints,
  });
}

export function object<P extends Fields>(
  fields: P,
  description = '',
  constraints: Constraints = {},
): Field<ObjectOf<P>> {
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  for (const [name, field] of Object.entries(fields)) {
    properties[name] = field.schema;
    if (field.isRequired) required.push(name);
  }
  const schema: Schema = { type: 'object', properties, ...constraints };
  if (required.length > 0) schema.required = required;
  return fieldOf<ObjectOf<P>>(withDescription(description, schema));
}

/** Builds a value once, on first use, so that unused definitions cost nothing. */
export function once<T>(build: () => T): () => T {
  let built: { value: T } | undefined;
  return () => {
    built ??= { value: build() };
    return built.value;
  };
}

function make<T>(type: NonNullable<Schema['type']>, description: string, constraints: Constraints): Field<T> {
  return fieldOf<T>(withDescription(description, { type, ...constraints }));
}

function withDescription(description: string, schema: Schema): Schema {
  return description === '' ? schema : { description, ...schema };
}
