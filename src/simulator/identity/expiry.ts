import { parseIso8601 } from '../core/checks/iso8601.ts';
import { badRequest } from './refusals.ts';

const inError =
  'The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.';

/** Parses the `expires_at` of an application credential or trust. It is in UTC and must be in the future. */
export function parseExpiry(value: unknown, now: number): number | undefined {
  if (value === undefined || value === null) return undefined;
  const text = String(value);
  const end = parseIso8601(text.endsWith('Z') ? text : `${text}Z`);
  if (end === undefined) throw badRequest(`Timestamp not in expected format. ${inError}`);
  if (end <= now) throw badRequest(`The 'expires_at' must not be before now. ${inError}`);
  return end;
}
