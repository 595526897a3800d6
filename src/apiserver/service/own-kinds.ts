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
