import { ApiStatusError, errorMessage, type KubeObject } from '../../machinery/index.ts';

/** Status reasons whose messages contain only object names and permissions, never field values. */
const plainReasons: ReadonlySet<string> = new Set([
  'NotFound',
  'AlreadyExists',
  'Forbidden',
  'Unauthorized',
  'Conflict',
]);
const maxLength = 500;

/**
 * Explains why an object could not be applied. API servers repeat rejected values, so for Secret payloads only the
 * names of the rejected fields are reported.
 */
export function applyFailure(object: KubeObject, error: unknown, isSecret: boolean): string {
  const { namespace, name } = object.metadata;
  const subject = `${object.kind} ${namespace === undefined ? '' : `${namespace}/`}${name ?? ''}`;
  return bounded(`${subject}: ${isSecret ? withoutValues(error) : errorMessage(error)}`);
}

function withoutValues(error: unknown): string {
  if (!(error instanceof ApiStatusError)) return errorMessage(error);
  if (plainReasons.has(error.reason)) return error.message;
  const fields = (error.status.details?.causes ?? []).flatMap(({ field }) => (field === undefined ? [] : [field]));
  const where = fields.length === 0 ? '' : ` at ${fields.slice(0, 5).join(', ')}`;
  return `the cluster refuses it: ${error.reason || `HTTP ${error.code}`}${where}`;
}

export function bounded(text: string, length: number = maxLength): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}
