import type { Schema } from '../../machinery/index.ts';
import type { UntypedField } from './schema.ts';

export interface LenientChanges {
  /** dotted paths of fields that did not exist yet; paths continue through lists */
  without?: readonly string[];
  /** dotted paths of fields that the newer version removed */
  adding?: Readonly<Record<string, Schema>>;
}

/**
 * Derives the schema of an older version from a newer one. Old versions exist to accept existing manifests: shapes are
 * kept, but limits are left to the hub version, which validates every object.
 */
export function lenient(field: { readonly schema: Schema }, changes: LenientChanges = {}): UntypedField {
  const schema = loosen(field.schema);
  for (const path of changes.without ?? []) edit(schema, path, undefined);
  for (const path in changes.adding) edit(schema, path, changes.adding[path]);
  return { schema, isRequired: false };
}

/** Returns a deep copy without constraints other than types. */
function loosen(schema: Schema): Schema {
  const loose: Schema = {};
  if (schema.type !== undefined) loose.type = schema.type;
  if (schema.format === 'date-time' || schema.format === 'int32' || schema.format === 'int64') {
    loose.format = schema.format;
  }
  if (schema.description !== undefined) loose.description = schema.description;
  if (schema.items !== undefined) loose.items = loosen(schema.items);
  if (typeof schema.additionalProperties === 'object') {
    loose.additionalProperties = loosen(schema.additionalProperties);
  }
  if (schema.properties !== undefined) {
    loose.properties = {};
    for (const [name, property] of Object.entries(schema.properties)) loose.properties[name] = loosen(property);
  }
  if (schema['x-kubernetes-int-or-string'] === true) {
    loose['x-kubernetes-int-or-string'] = true;
    loose.anyOf = [{ type: 'integer' }, { type: 'string' }];
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) loose['x-kubernetes-preserve-unknown-fields'] = true;
  if (schema['x-kubernetes-map-type'] !== undefined) loose['x-kubernetes-map-type'] = schema['x-kubernetes-map-type'];
  return loose;
}

/** Modifies `schema` in place, which must be a private copy. */
function edit(schema: Schema, path: string, value: Schema | undefined): void {
  const names = path.split('.');
  const last = names.pop() ?? '';
  let current = schema;
  for (const name of names) current = stepInto(current).properties?.[name] ?? current;
  const { properties } = stepInto(current);
  if (properties === undefined) return;
  if (value === undefined) delete properties[last];
  else properties[last] = value;
}

function stepInto(schema: Schema): Schema {
  return schema.items ?? schema;
}
