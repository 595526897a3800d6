import {
  checkTypes,
  decodeErrorText,
  dropNulls,
  type JsonObject,
  statusError,
  validateAgainstSchema,
} from '../../machinery/index.ts';
import type { ServedResource } from '../registry/index.ts';

/**
 * Checks the types of an object of our own kinds before our conversions and strategies read it. The refusal is that of
 * a custom kind, because clients see these kinds as custom ones. Nulls are dropped like in upstream's defaulting
 * webhooks, which decode into Go types and encode again.
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
