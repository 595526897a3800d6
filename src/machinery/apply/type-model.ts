import { must } from '../errors/must.ts';
import type { JsonValue } from '../json/value.ts';
import type { Schema } from '../schema/types.ts';
import { objectMetaSchema } from './object-meta-schema.ts';
import { goJson, type PathElement, valueElement } from './path-element.ts';

export type Scalar = 'numeric' | 'string' | 'boolean' | 'untyped';

/** Origin of a kind. It decides how absent fields look: built-in kinds are Go structs, whose fields always exist. */
export type KindOrigin = 'builtin' | 'custom';

/** Possible types of a value in terms of field ownership. A place without a declared type may be any of the three. */
export interface FieldType {
  readonly scalar: Scalar | undefined;
  readonly list: ListType | undefined;
  readonly map: MapType | undefined;
}

interface CompileContext {
  origin: KindOrigin;
  /** unknown fields below are preserved, so they can be owned */
  preserveUnknown: boolean;
}

/** A value without a declared type: objects are granular, lists are atomic. */
const deducedType: FieldType = {
  scalar: 'untyped',
  get list() {
    return untypedAtomicList;
  },
  get map() {
    return deducedMap;
  },
};

const untypedAtomicType: FieldType = {
  scalar: 'untyped',
  get list() {
    return untypedAtomicList;
  },
  get map() {
    return untypedAtomicMap;
  },
};

/** A list type. Items are identified not at all (atomic), by value (set) or by key fields (map). */
export class ListType {
  readonly atomic: boolean;
  /** sorted names of the key fields; undefined for sets and atomic lists */
  readonly keys: readonly string[] | undefined;
  /** key fields in schema order, as messages quote them */
  readonly declaredKeys: readonly string[];
  readonly #element: () => FieldType;
  readonly #keyPrefixes: readonly string[];
  readonly #keyDefaults: readonly (JsonValue | undefined)[];
  #resolved: FieldType | undefined;

  constructor(
    element: () => FieldType,
    { atomic = false, keys, itemSchema }: { atomic?: boolean; keys?: readonly string[]; itemSchema?: Schema } = {},
  ) {
    this.atomic = atomic;
    this.declaredKeys = keys ?? [];
    this.keys = keys && [...keys].sort();
    this.#element = element;
    this.#keyPrefixes = (this.keys ?? []).map((key) => `${goJson(key)}:`);
    this.#keyDefaults = (this.keys ?? []).map((key) => itemSchema?.properties?.[key]?.default);
  }

  get element(): FieldType {
    this.#resolved ??= this.#element();
    return this.#resolved;
  }

  /** Returns the path element of an item, or undefined when the item has no identity (see `identityProblem`). */
  elementOf(item: JsonValue | undefined): PathElement | undefined {
    const keys = this.keys;
    if (keys === undefined) {
      return item === undefined || typeof item === 'object' ? undefined : valueElement(item);
    }
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return undefined;
    let text = '';
    for (let i = 0; i < keys.length; i++) {
      const value = item[keys[i] ?? ''] ?? this.#keyDefaults[i];
      if (value === undefined) continue;
      text += `${text === '' ? 'k:{' : ','}${this.#keyPrefixes[i]}${goJson(value)}`;
    }
    return text === '' ? undefined : `${text}}`;
  }

  /** Explains why an item has no path element, in the wording of kube-apiserver. */
  identityProblem(item: JsonValue | undefined): string {
    if (this.keys === undefined) {
      if (Array.isArray(item)) return 'not supported: associative list with lists as elements';
      return item === null || item === undefined
        ? "associative list without keys has an element that's an explicit null"
        : "associative list without keys has an element that's a map type";
    }
    if (item === null || item === undefined) return 'associative list with keys may not have a null element';
    if (typeof item !== 'object' || Array.isArray(item)) {
      return 'associative list with keys may not have non-map elements';
    }
    const names = this.declaredKeys.map((key) => JSON.stringify(key)).join(' ');
    return `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`;
  }
}

/** An object type: declared fields, and the type of other members. */
export class MapType {
  readonly atomic: boolean;
  /** an object without a schema: its ownership is never rewritten when schemas change */
  readonly deduced: boolean;
  /** a Go struct upstream: null and absent are the same */
  readonly isStruct: boolean;
  readonly #fields: Readonly<Record<string, Schema>>;
  readonly #compile: (schema: Schema) => FieldType;
  readonly #compiled = new Map<string, FieldType | undefined>();
  readonly #element: (() => FieldType) | undefined;
  readonly #absent: Map<string, JsonValue> | undefined;
  #resolvedElement: FieldType | undefined;

  constructor(options: {
    atomic: boolean;
    fields: Readonly<Record<string, Schema>>;
    compile: (schema: Schema) => FieldType;
    element: (() => FieldType) | undefined;
    deduced: boolean;
    isStruct?: boolean;
    absent?: Map<string, JsonValue>;
  }) {
    this.atomic = options.atomic;
    this.deduced = options.deduced;
    this.isStruct = options.isStruct ?? false;
    this.#fields = options.fields;
    this.#compile = options.compile;
    this.#element = options.element;
    this.#absent = options.absent;
  }

  /** Returns the type of a declared field; undefined when the schema does not name it. */
  field(name: string): FieldType | undefined {
    let type = this.#compiled.get(name);
    if (type === undefined && Object.hasOwn(this.#fields, name)) {
      type = this.#compile(must(this.#fields[name], name));
      this.#compiled.set(name, type);
    }
    return type;
  }

  /** Type of members the schema does not name; undefined when there must be none. */
  get element(): FieldType | undefined {
    if (this.#resolvedElement === undefined && this.#element) this.#resolvedElement = this.#element();
    return this.#resolvedElement;
  }

  /** Returns the type of any member. Members the schema forbids are treated as free-form. */
  member(name: string): FieldType {
    return this.field(name) ?? this.element ?? deducedType;
  }

  /** Fields that exist even if nobody wrote them, with their zero value. Only for built-in kinds. */
  get absent(): ReadonlyMap<string, JsonValue> | undefined {
    return this.#absent;
  }
}

const noFields: Readonly<Record<string, Schema>> = {};
const untypedAtomicList = new ListType(() => untypedAtomicType, { atomic: true });
const untypedAtomicMap = new MapType({
  atomic: true,
  fields: noFields,
  compile: () => untypedAtomicType,
  element: () => untypedAtomicType,
  deduced: false,
});
const deducedMap = new MapType({
  atomic: false,
  fields: noFields,
  compile: () => deducedType,
  element: () => deducedType,
  deduced: true,
});

const rootTypes: Readonly<Record<KindOrigin, WeakMap<Schema, FieldType>>> = {
  builtin: new WeakMap(),
  custom: new WeakMap(),
};

/** Returns the type of a whole object. Compiled once per schema; metadata has the same type in every kind. */
export function rootTypeOf(schema: Schema, origin: KindOrigin): FieldType {
  let type = rootTypes[origin].get(schema);
  if (!type) {
    const text: Schema = { type: 'string' };
    const root: Schema = {
      ...schema,
      type: 'object',
      properties: { ...schema.properties, apiVersion: text, kind: text, metadata: objectMetaSchema },
    };
    type = compile(root, { origin, preserveUnknown: false }, { isRoot: true });
    rootTypes[origin].set(schema, type);
  }
  return type;
}

function compile(schema: Schema, context: CompileContext, { isRoot = false }: { isRoot?: boolean } = {}): FieldType {
  const component = schema.component ?? '';
  if (component.endsWith('.ObjectMeta') && !schema.properties) return compile(objectMetaSchema, context);
  if (component.endsWith('.Quantity')) return { scalar: 'untyped', list: undefined, map: undefined };
  if (component.endsWith('.RawExtension')) return untypedAtomicType;
  // Upstream allows unknown fields at every level below this extension.
  const inner: CompileContext =
    schema['x-kubernetes-preserve-unknown-fields'] === true && !context.preserveUnknown
      ? { ...context, preserveUnknown: true }
      : context;
  if (schema['x-kubernetes-int-or-string']) {
    return { scalar: 'untyped', list: compileList(schema, inner), map: compileMap(schema, inner, { isRoot: false }) };
  }
  switch (schema.type) {
    case 'object':
      return { scalar: undefined, list: undefined, map: compileMap(schema, inner, { isRoot }) };
    case 'array':
      return { scalar: undefined, list: compileList(schema, inner), map: undefined };
    case 'integer':
    case 'number':
      return { scalar: 'numeric', list: undefined, map: undefined };
    case 'boolean':
      return { scalar: 'boolean', list: undefined, map: undefined };
    case 'string': {
      const plain = schema.format === undefined || schema.format === '' || schema.format === 'byte';
      return { scalar: plain ? 'string' : 'untyped', list: undefined, map: undefined };
    }
    default:
      return { scalar: 'untyped', list: compileList(schema, inner), map: compileMap(schema, inner, { isRoot: false }) };
  }
}

function compileList(schema: Schema, context: CompileContext): ListType {
  const items = schema.items;
  const element = items ? () => compile(items, context) : () => untypedAtomicType;
  const listType = schema['x-kubernetes-list-type'];
  if (listType === 'set') return new ListType(element);
  if (listType === 'map')
    return new ListType(element, {
      keys: schema['x-kubernetes-list-map-keys'] ?? [],
      ...(items && { itemSchema: items }),
    });
  if (listType === undefined) {
    // Older built-in types express this only through their patch strategy.
    const strategy = schema['x-kubernetes-patch-strategy'];
    if (strategy === 'merge' || strategy === 'merge,retainKeys') {
      const key = schema['x-kubernetes-patch-merge-key'];
      return new ListType(element, { ...(key !== undefined && { keys: [key] }), ...(items && { itemSchema: items }) });
    }
  }
  return new ListType(element, { atomic: true });
}

function compileMap(schema: Schema, context: CompileContext, { isRoot }: { isRoot: boolean }): MapType {
  let fields = schema.properties ?? noFields;
  if (schema['x-kubernetes-embedded-resource']) {
    const text: Schema = { type: 'string' };
    fields = { ...fields, apiVersion: text, kind: text, metadata: objectMetaSchema };
  }
  const additional = schema.additionalProperties;
  const declaresNothing = Object.keys(fields).length === 0;
  let element: (() => FieldType) | undefined;
  if (typeof additional === 'object') element = () => compile(additional, context);
  else if (additional === true || (additional === undefined && (context.preserveUnknown || declaresNothing))) {
    element = () => deducedType;
  }
  const absent = context.origin === 'builtin' ? absentFields(schema, fields, isRoot) : undefined;
  return new MapType({
    atomic: schema['x-kubernetes-map-type'] === 'atomic',
    fields,
    compile: (field) => compile(field, context),
    element,
    deduced: declaresNothing && typeof additional !== 'object' && element !== undefined,
    isStruct: context.origin === 'builtin' && !declaresNothing,
    ...(absent && { absent }),
  });
}

const emptyStruct: JsonValue = Object.freeze({});

/**
 * Fields of a Go struct that exist without being written. Structs held by value (published with `default: {}`) are
 * empty objects. Fields that are always written (`required`, or published with their zero value as default) have their
 * zero value. This affects ownership of built-in kinds: creating a Deployment does not own `.spec` itself, creating a
 * custom resource does.
 */
function absentFields(
  schema: Schema,
  fields: Readonly<Record<string, Schema>>,
  isRoot: boolean,
): Map<string, JsonValue> | undefined {
  const absent = new Map<string, JsonValue>();
  for (const name of schema.required ?? []) {
    const field = fields[name];
    const zero = field && zeroValue(field);
    if (zero !== undefined) absent.set(name, zero);
  }
  for (const name in fields) {
    const field = must(fields[name], 'fields[name]');
    const value = field.default;
    if (value === '' || value === 0 || value === false) absent.set(name, value);
    else if (field.type === 'object' && isEmptyObject(value)) absent.set(name, emptyStruct);
  }
  if (isRoot) {
    absent.set('metadata', emptyStruct);
    for (const name of ['spec', 'status']) {
      if (fields[name]?.type === 'object' && fields[name].properties) absent.set(name, emptyStruct);
    }
  }
  return absent.size > 0 ? absent : undefined;
}

function isEmptyObject(value: JsonValue | undefined): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  for (const _ in value) return false;
  return true;
}

function zeroValue(schema: Schema): JsonValue | undefined {
  if (schema['x-kubernetes-int-or-string']) return undefined;
  switch (schema.type) {
    case 'object':
    case 'array':
      return null;
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'string':
      return schema.format === undefined ? '' : undefined;
    default:
      return undefined;
  }
}

/** Chooses one of the three forms for a value. Null uses the first form its type has. */
export type Form = Scalar | ListType | MapType;

export function formOf(type: FieldType, value: JsonValue): Form {
  const { list, map, scalar } = type;
  if (Array.isArray(value)) {
    if (list) return list;
  } else if (typeof value === 'object') {
    if (value !== null && map) return map;
  } else if (scalar !== undefined) return scalar;
  return map ?? scalar ?? must(list, 'a form of the type');
}
