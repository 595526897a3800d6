import {
  checkTypes,
  decodeErrorText,
  type JsonObject,
  type JsonValue,
  own,
  type Schema,
  statusError,
  validateAgainstSchema,
} from '../../machinery/index.ts';
import type { ServedResource } from '../registry/index.ts';

/**
 * Holds an object of one of our own kinds to its types before conversions and rules of ours read it. To clients these
 * kinds are custom ones, so the refusal is that of a custom kind. Nulls are dropped as upstream's defaulting webhooks do,
 * which decode into Go types and write the object out again.
 */
export function fitTypes(draft: JsonObject, served: ServedResource): void {
  const { schema } = served.version;
  const mismatch = checkTypes(draft, schema);
  if (!mismatch && dropNulls(draft, schema)) return;
  const { group, kind } = served.resource.definition;
  const errors = validateAgainstSchema(draft, schema);
  if (errors.length > 0) {
    const name = (draft['metadata'] as JsonObject)['name'];
    throw statusError.invalid(group, kind, typeof name === 'string' ? name : '', errors);
  }
  const why = mismatch ? decodeErrorText(mismatch) : 'a list holds null';
  throw statusError.badRequest(`${kind} in version "${served.version.name}" cannot be handled as a ${kind}: ${why}`);
}

/** False when a null stands where it cannot be left out: in a list. */
function dropNulls(value: JsonValue, schema: Schema): boolean {
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
