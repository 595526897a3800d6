import type { RequestContext } from '../core/http/context.ts';
import { badRequest, missing } from './refusals.ts';

/** JSON object whose fields are validated individually. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the object under the only key of a body, for example `{"project": {...}}`. */
export function wrapped(context: RequestContext, key: string): Fields {
  const body = context.json;
  if (!isFields(body) || !isFields(body[key])) {
    throw missing(key, 'request body');
  }
  return body[key];
}

export function requiredText(fields: Fields, key: string): string {
  if (!(key in fields)) throw schemaError(`'${key}' is a required property`, 'required');
  const value = fields[key];
  if (typeof value !== 'string') {
    throw schemaError(`Invalid input for field '${key}': ${JSON.stringify(value)} is not of type 'string'`, 'type');
  }
  if (value === '') throw schemaError(`Invalid input for field '${key}': '' is too short`, 'minLength');
  return value;
}

export function optionalText(fields: Fields, key: string): string | undefined {
  const value = fields[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') {
    throw schemaError(`Invalid input for field '${key}': ${JSON.stringify(value)} is not of type 'string'`, 'type');
  }
  return value;
}

export function optionalFlag(fields: Fields, key: string): boolean | undefined {
  const value = fields[key];
  if (value === undefined) return undefined;
  if (typeof value !== 'boolean') {
    throw schemaError(`Invalid input for field '${key}': ${JSON.stringify(value)} is not of type 'boolean'`, 'type');
  }
  return value;
}

/** Error in the format of keystone's schema library. */
export function schemaError(message: string, keyword: string): Error {
  return badRequest(`${message}\n\nFailed validating '${keyword}' in schema`);
}

/** Additional attributes. Keystone stores any attribute it does not know. */
export function extrasOf(fields: Fields, known: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !known.includes(name)));
}
