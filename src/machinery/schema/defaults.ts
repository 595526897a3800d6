import { clone, type JsonObject, type JsonValue } from '../json/value.ts';
import { own } from './own.ts';
import type { Schema } from './types.ts';

/**
 * Applies the defaults of a schema as CustomResourceDefinition defaulting does: it descends only into existing objects,
 * lists and maps. A null that is not allowed is replaced by the default or, without a default, removed.
 */
export function applySchemaDefaults(draft: JsonValue, schema: Schema): void {
  if (typeof draft !== 'object' || draft === null) return;
  if (Array.isArray(draft)) {
    const { items } = schema;
    if (!items) return;
    for (const [i, item] of draft.entries()) {
      // A null list element without a default stays, because removing it would shift the others.
      let present = item;
      if (item === null && items.nullable !== true && items.default !== undefined) {
        present = clone(items.default);
        draft[i] = present;
      }
      applySchemaDefaults(present, items);
    }
    return;
  }
  const { properties } = schema;
  if (properties) applyPropertyDefaults(draft, properties);
  const rest = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  if (!properties && !rest) return;
  for (const key in draft) {
    const member = own(properties, key) ?? rest;
    if (!member) continue;
    const value = draft[key];
    if (value === null && member.nullable !== true) {
      if (member.default === undefined) delete draft[key];
      else draft[key] = clone(member.default);
    }
    const present = draft[key];
    if (typeof present === 'object' && present !== null) applySchemaDefaults(present, member);
  }
}

interface DefaultedProperty {
  key: string;
  value: JsonValue;
}

const defaultedProperties = new WeakMap<Record<string, Schema>, DefaultedProperty[]>();

function applyPropertyDefaults(draft: JsonObject, properties: Record<string, Schema>): void {
  let defaulted = defaultedProperties.get(properties);
  if (!defaulted) {
    defaulted = [];
    for (const key in properties) {
      const value = properties[key]?.default;
      if (value !== undefined && value !== null) defaulted.push({ key, value });
    }
    defaultedProperties.set(properties, defaulted);
  }
  for (const { key, value } of defaulted) {
    if (!Object.hasOwn(draft, key) || draft[key] === undefined) {
      draft[key] = typeof value === 'object' ? clone(value) : value;
    }
  }
}
