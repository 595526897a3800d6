import type { JsonObject, JsonValue } from '../json/value.ts';
import type { Schema } from '../schema/types.ts';
import { escapeField, isSelectableWord } from './escape.ts';
import { dynType, intType, type StaticType, simpleType, stringType } from './static-type.ts';
import { parseGoDuration, parseTimestamp } from './time.ts';
import { CelError, CelList, type CelMap, type CelValue, type ListIdentity } from './values.ts';

/** Expressions see JSON data through the schema: its types and field names. */

interface Field {
  name: string;
  schema: Schema;
  /** second name of a field that also has an escaped name */
  isAlias: boolean;
}

const fieldTables = new WeakMap<Schema, Map<string, Field>>();
const resourceTables = new WeakMap<Schema, Map<string, Field>>();

const text: Schema = { type: 'string' };
const metadata: Schema = { type: 'object', properties: { name: text, generateName: text } };

/** Returns the fields of an object by their name in expressions. Only names of a resource's metadata are visible. */
export function fieldsOf(schema: Schema, isResource: boolean): ReadonlyMap<string, Field> {
  const tables = isResource ? resourceTables : fieldTables;
  let table = tables.get(schema);
  if (!table) {
    table = new Map();
    const properties = isResource
      ? { ...schema.properties, apiVersion: text, kind: text, metadata }
      : schema.properties;
    for (const [name, property] of Object.entries(properties ?? {})) {
      const escaped = escapeField(name);
      if (escaped !== undefined && isExposed(property)) {
        table.set(escaped, { name, schema: property, isAlias: false });
        if (isSelectableWord(name)) table.set(name, { name, schema: property, isAlias: true });
      }
    }
    tables.set(schema, table);
  }
  return table;
}

/** Reports whether data is visible to expressions. Data without a type is hidden. */
export function isExposed(schema: Schema): boolean {
  if (schema['x-kubernetes-int-or-string'] === true) return true;
  switch (schema.type) {
    case 'array':
      return schema.items !== undefined && isExposed(schema.items);
    case 'object':
      return typeof schema.additionalProperties !== 'object' || isExposed(schema.additionalProperties);
    default:
      return schema.type !== undefined;
  }
}

export function staticTypeOf(schema: Schema, isResource: boolean): StaticType {
  if (schema['x-kubernetes-int-or-string'] === true) return dynType;
  switch (schema.type) {
    case 'array':
      return { kind: 'list', element: schema.items ? typeOfMember(schema.items) : dynType };
    case 'object':
      return typeof schema.additionalProperties === 'object'
        ? { kind: 'map', key: stringType, value: typeOfMember(schema.additionalProperties) }
        : { kind: 'object', schema, isResource };
    case 'string':
      switch (schema.format) {
        case 'byte':
          return simpleType('bytes');
        case 'date':
        case 'date-time':
          return simpleType('timestamp');
        case 'duration':
          return simpleType('duration');
        default:
          return stringType;
      }
    case 'integer':
      return intType;
    case 'number':
      return simpleType('double');
    case 'boolean':
      return simpleType('bool');
    default:
      return dynType;
  }
}

function typeOfMember(schema: Schema): StaticType {
  return staticTypeOf(schema, schema['x-kubernetes-embedded-resource'] === true);
}

/** Converts JSON data to CEL values. Objects are converted lazily. */
export function toCel(value: JsonValue, schema: Schema, isResource: boolean): CelValue {
  if (value === null) return null;
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'bigint':
      return schema.type === 'number' ? Number(value) : value;
    case 'number':
      // An int-or-string has no type, and validation has rejected other numbers that are not integers.
      return schema.type === 'number' ? value : BigInt(Math.trunc(value));
    case 'string':
      return schema.type === 'string' && schema.format !== undefined ? fromFormat(value, schema.format) : value;
    default:
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!items) throw new CelError('no such overload');
    const embedded = items['x-kubernetes-embedded-resource'] === true;
    return new CelList(
      value.map((item) => toCel(item, items, embedded)),
      identityOf(schema),
    );
  }
  const { additionalProperties } = schema;
  return typeof additionalProperties === 'object'
    ? new JsonMap(value as JsonObject, additionalProperties)
    : new JsonFields(value as JsonObject, schema, isResource);
}

function identityOf(schema: Schema): ListIdentity {
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return 'set';
    case 'map':
      return { keys: (schema['x-kubernetes-list-map-keys'] ?? []).map((key) => escapeField(key) ?? key) };
    default:
      return 'atomic';
  }
}

function fromFormat(text: string, format: string): CelValue {
  switch (format) {
    case 'byte':
      return new Uint8Array(Buffer.from(text, 'base64'));
    case 'date-time':
    case 'date': {
      const time = parseTimestamp(format === 'date' ? `${text}T00:00:00Z` : text);
      if (!time) throw new CelError(`Invalid ${format} string '${text}'`);
      return time;
    }
    case 'duration': {
      const span = parseGoDuration(text);
      if (!span) throw new CelError(`Invalid duration string '${text}'`);
      return span;
    }
    default:
      return text;
  }
}

/** An object whose schema declares its fields. */
class JsonFields implements CelMap {
  readonly isMap = true;
  readonly #raw: JsonObject;
  readonly #fields: ReadonlyMap<string, Field>;

  constructor(raw: JsonObject, schema: Schema, isResource: boolean) {
    this.#raw = raw;
    this.#fields = fieldsOf(schema, isResource);
  }

  get size(): number {
    return this.keys().length;
  }

  get(key: CelValue): CelValue | undefined {
    const field = typeof key === 'string' ? this.#fields.get(key) : undefined;
    if (!field || !Object.hasOwn(this.#raw, field.name)) return undefined;
    const value = this.#raw[field.name];
    // Expressions treat a null field as absent.
    if (value === undefined || value === null) return undefined;
    return toCel(value, field.schema, field.schema['x-kubernetes-embedded-resource'] === true);
  }

  keys(): CelValue[] {
    const keys: string[] = [];
    for (const [escaped, field] of this.#fields) {
      if (!field.isAlias && Object.hasOwn(this.#raw, field.name) && (this.#raw[field.name] ?? undefined) !== undefined)
        keys.push(escaped);
    }
    return keys;
  }
}

/** A map whose values share one schema. */
class JsonMap implements CelMap {
  readonly isMap = true;
  readonly #raw: JsonObject;
  readonly #schema: Schema;

  constructor(raw: JsonObject, schema: Schema) {
    this.#raw = raw;
    this.#schema = schema;
  }

  get size(): number {
    return this.keys().length;
  }

  get(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.#raw, key)) return undefined;
    const value = this.#raw[key];
    if (value === undefined) return undefined;
    return toCel(value, this.#schema, this.#schema['x-kubernetes-embedded-resource'] === true);
  }

  keys(): CelValue[] {
    return Object.keys(this.#raw).filter((key) => this.#raw[key] !== undefined);
  }
}
