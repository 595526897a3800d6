import { type GroupVersionKind, type JsonValue, must, type Schema } from '../../machinery/index.ts';
import { metaTypes } from '../meta/types.ts';
import type { FieldDeclaration } from './notation.ts';
import { specialTypes } from './protobuf-messages.ts';
import { type IndexedType, indexedTypes, isKind, resolveTypeName, typeTables } from './type-index.ts';

const schemas = new Map<string, Schema>();
const emptyObject: JsonValue = {};

/**
 * Returns the schema of a published component, such as `io.k8s.api.apps.v1.Deployment`. The same name always returns
 * the same object. Nested schemas are expanded on access, so a lookup is cheap. Throws for an unknown name.
 */
export function builtinSchema(component: string): Schema {
  const known = schemas.get(component) ?? specialByComponent().get(component);
  if (known !== undefined) return known;
  const type = indexedTypes().get(component);
  if (type === undefined || type.flags.has('inline')) throw new Error(`there is no built-in schema named ${component}`);
  const schema = createSchema(type);
  schemas.set(component, schema);
  return schema;
}

export function builtinComponents(): string[] {
  const names = [...specialByComponent().keys()];
  for (const type of indexedTypes().values()) if (!type.flags.has('inline')) names.push(type.component);
  return names.sort();
}

/**
 * Returns the kinds of a component: one for a kind, none for a nested type, and one per group version for kinds that
 * exist in every group version.
 */
export function gvksOfComponent(component: string): GroupVersionKind[] {
  const type = indexedTypes().get(component);
  if (type === undefined || !isKind(type)) return [];
  const kind = type.name;
  if (type.table !== metaTypes) return [{ group: type.table.group, kind, version: type.table.version }];
  if (type.flags.has('everywhere')) {
    return typeTables
      .filter((table) => table !== metaTypes)
      .map(({ group, version }) => ({ group, kind, version }))
      .sort((a, b) => (a.group < b.group ? -1 : a.group > b.group ? 1 : a.version < b.version ? -1 : 1));
  }
  return [{ group: '', kind, version: 'v1' }];
}

let special: ReadonlyMap<string, Schema> | undefined;

function specialByComponent(): ReadonlyMap<string, Schema> {
  if (special === undefined) {
    const map = new Map<string, Schema>();
    for (const { schema } of specialTypes.values())
      if (schema.component !== undefined) map.set(schema.component, schema);
    special = map;
  }
  return special;
}

function createSchema(type: IndexedType): Schema {
  const schema: Schema = { type: 'object', component: type.component };
  if (type.description !== '') schema.description = type.description;
  if (type.flags.has('atomic')) schema['x-kubernetes-map-type'] = 'atomic';
  const union = type.flags.get('union');
  if (union !== undefined) schema['x-kubernetes-unions'] = [unionOf(union)];
  const fields = visibleFields(type);
  const required = fields.filter((field) => field.flags.has('required')).map((field) => field.name);
  if (required.length > 0) schema.required = required;
  if (fields.length > 0) {
    let properties: Record<string, Schema> | undefined;
    defineProperties(schema, () => {
      if (properties === undefined) {
        properties = {};
        for (const field of fields) properties[field.name] = createFieldSchema(type, field);
      }
      return properties;
    });
  }
  return schema;
}

/** Defines a getter, so that children are created on access. JSONSchemaProps, which contains itself, needs this. */
function defineProperties(schema: Schema, properties: () => Record<string, Schema> | undefined): void {
  Object.defineProperty(schema, 'properties', { get: properties, enumerable: true, configurable: true });
}

function visibleFields(type: IndexedType): FieldDeclaration[] {
  return type.fields.flatMap((field) =>
    field.shape === 'inline' ? visibleFields(resolveTypeName(type.table, field.typeName)) : [field],
  );
}

/** `type,localhostProfile:LocalhostProfile` */
function unionOf(text: string): JsonValue {
  const [discriminator = '', ...members] = text.split(',');
  return {
    discriminator,
    'fields-to-discriminateBy': Object.fromEntries(members.map((member) => member.split(':') as [string, string])),
  };
}

function createFieldSchema(owner: IndexedType, field: FieldDeclaration): Schema {
  const added = addedBy(field);
  if (field.shape === 'one') {
    const value = valueSchema(owner, field.typeName);
    const zero = field.pointer || !isWrittenWhenZero(field) ? undefined : zeroDefault(field.typeName);
    const explicit = field.flags.get('default');
    if (explicit !== undefined) added.default = parseDefault(value, explicit);
    else if (zero !== undefined) added.default = zero;
    else if (!field.pointer && isObjectType(value)) added.default = emptyObject;
    const allowed = enumOf(field);
    if (allowed !== undefined) added.enum = allowed;
    return refer(value, added);
  }
  const element = elementOf(owner, field);
  if (field.shape === 'list') return { type: 'array', items: element, ...added };
  return { type: 'object', additionalProperties: element, ...added };
}

function isWrittenWhenZero({ flags }: FieldDeclaration): boolean {
  return (flags.has('required') || flags.has('always')) && !flags.has('omitempty');
}

/** Elements are no pointers in Go, so the generator gives them their zero value as default. */
function elementOf(owner: IndexedType, field: FieldDeclaration): Schema {
  const value = valueSchema(owner, field.typeName);
  const added: Schema = {};
  const zero = zeroDefault(field.typeName);
  if (zero !== undefined) added.default = zero;
  else if (isObjectType(value)) added.default = emptyObject;
  const allowed = enumOf(field);
  if (allowed !== undefined) added.enum = allowed;
  return refer(value, added);
}

/** Tells whether a schema is an object of the tables. Special types have no useful zero value. */
function isObjectType(schema: Schema): boolean {
  return schema.component !== undefined && !specialByComponent().has(schema.component);
}

const patchStrategies = ['merge', 'retainKeys', 'replace'];

function addedBy(field: FieldDeclaration): Schema {
  const { flags, shape } = field;
  const added: Schema = {};
  if (field.description !== '') added.description = field.description;
  if (flags.size === 0) return added;
  const keys = flags.get('listmap');
  if (keys !== undefined) {
    added['x-kubernetes-list-type'] = 'map';
    added['x-kubernetes-list-map-keys'] = keys.split(',');
  }
  if (flags.has('set')) added['x-kubernetes-list-type'] = 'set';
  if (flags.has('atomic')) added[shape === 'map' ? 'x-kubernetes-map-type' : 'x-kubernetes-list-type'] = 'atomic';
  if (flags.has('granular')) added['x-kubernetes-map-type'] = 'granular';
  const strategy = patchStrategies.filter((name) => flags.has(name));
  if (strategy.length > 0) added['x-kubernetes-patch-strategy'] = strategy.join(',');
  const mergeKey = flags.get('merge');
  if (mergeKey !== undefined && mergeKey !== '') added['x-kubernetes-patch-merge-key'] = mergeKey;
  return added;
}

function enumOf(field: FieldDeclaration): JsonValue[] | undefined {
  return field.flags.get('enum')?.split('|');
}

const scalars: Readonly<Record<string, Schema>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};

function zeroDefault(typeName: string): JsonValue | undefined {
  switch (typeName) {
    case 'string':
      return '';
    case 'bool':
      return false;
    case 'int32':
    case 'int64':
    case 'double':
      return 0;
    default:
      return undefined;
  }
}

function parseDefault(schema: Schema, text: string): JsonValue {
  return schema.type === 'string' ? text : (JSON.parse(text) as JsonValue);
}

function valueSchema(owner: IndexedType, typeName: string): Schema {
  return (
    scalars[typeName] ??
    specialTypes.get(typeName)?.schema ??
    builtinSchema(resolveTypeName(owner.table, typeName).component)
  );
}

const withEmptyDefault = new Map<Schema, Schema>();

/** Returns the value itself if nothing is added, otherwise a node with the added keys that links to the value. */
function refer(value: Schema, added: Schema): Schema {
  const keys = Object.keys(added);
  if (keys.length === 0) return value;
  if (value.component === undefined) return { ...value, ...added };
  const plain = keys.length === 1 && added.default === emptyObject;
  const known = plain ? withEmptyDefault.get(value) : undefined;
  if (known !== undefined) return known;
  const node = referenceTo(value, added);
  if (plain) withEmptyDefault.set(value, node);
  return node;
}

function referenceTo(value: Schema, added: Schema): Schema {
  if (!isObjectType(value)) return withComponentSchema({ ...value, ...added }, value);
  const node: Schema = { type: 'object', component: must(value.component, 'value.component') };
  if (value.required !== undefined) node.required = value.required;
  const mapType = value['x-kubernetes-map-type'];
  if (mapType !== undefined) node['x-kubernetes-map-type'] = mapType;
  if ('properties' in value) defineProperties(node, () => value.properties);
  return withComponentSchema(Object.assign(node, added), value);
}

/** The property is not enumerable, so that copying or printing a node does not follow the link. */
function withComponentSchema(node: Schema, componentSchema: Schema): Schema {
  return Object.defineProperty(node, 'componentSchema', { value: componentSchema, enumerable: false });
}
