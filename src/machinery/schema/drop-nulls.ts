import type { JsonValue } from '../json/value.ts';
import { own } from './own.ts';
import type { Schema } from './types.ts';

/**
 * Removes nulls that the schema does not allow, as decoding into Go types and encoding again does. Returns false if
 * such a null is in a list, where it cannot be removed.
 */
export function dropNulls(value: JsonValue, schema: Schema): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) {
    const { items } = schema;
    return (
      items === undefined || value.every((item) => (item === null ? items.nullable === true : dropNulls(item, items)))
    );
  }
  const rest = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  for (const key in value) {
    const member = own(schema.properties, key) ?? rest;
    const child = value[key];
    if (child === undefined || !member) continue;
    if (child === null) {
      if (member.nullable !== true) delete value[key];
    } else if (!dropNulls(child, member)) return false;
  }
  return true;
}
