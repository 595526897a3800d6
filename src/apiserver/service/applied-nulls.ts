import { type FieldError, isJsonObject, type JsonValue, type Schema } from '../../machinery/index.ts';

/**
 * Finds members of an applied configuration, or of its merge base, that are null although the schema of the custom kind
 * allows neither null nor a default. Other writes ignore such a null. In an apply it would own a field and take it from
 * its owner.
 */
export function findAppliedNulls(value: JsonValue, schema: Schema): FieldError[] {
  const errors: FieldError[] = [];
  collectAppliedNulls(value, schema, '', errors);
  return errors;
}

function collectAppliedNulls(value: JsonValue, schema: Schema, path: string, errors: FieldError[]): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!items) return;
    for (const [index, item] of value.entries()) collectAppliedNulls(item, items, `${path}[${index}]`, errors);
    return;
  }
  if (!isJsonObject(value)) return;
  const { properties } = schema;
  const rest = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  for (const key in value) {
    const member = properties && Object.hasOwn(properties, key) ? properties[key] : rest;
    if (!member) continue;
    const at = path === '' ? key : `${path}.${key}`;
    const present = value[key];
    if (present === undefined) continue;
    if (present !== null) collectAppliedNulls(present, member, at, errors);
    else if (isRefused(member)) {
      const detail = `${at} in body must be of type ${member.type}: "null"`;
      errors.push({ type: 'TypeInvalid', field: at, value: 'null', detail });
    }
  }
}

function isRefused(schema: Schema): boolean {
  return schema.type !== undefined && schema.nullable !== true && schema.default === undefined;
}
