import { must } from '../../machinery/index.ts';
import { pythonText } from './checks/python.ts';
import { type BodySchema, firstError, type SchemaError } from './checks/schema.ts';
import { Refusal } from './refusal.ts';
import type { Answer } from './service.ts';

/** Key that wraps a refusal, by status. Cinder uses the same keys. */
const wrappers: Readonly<Record<number, string>> = {
  400: 'badRequest',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'itemNotFound',
  405: 'badMethod',
  409: 'conflictingRequest',
  413: 'overLimit',
  415: 'badMediaType',
  429: 'overLimit',
  501: 'notImplemented',
  503: 'serviceUnavailable',
};

export function badRequest(message: string): Refusal {
  return new Refusal(400, message);
}

export function forbidden(message: string): Refusal {
  return new Refusal(403, message);
}

export function notFound(message: string): Refusal {
  return new Refusal(404, message);
}

export function conflict(message: string): Refusal {
  return new Refusal(409, message);
}

/** Renders a refusal. `contentType` overrides the service's usual one. */
export function renderRefusal(refusal: Refusal, contentType?: string): Answer {
  const { status, message, headers } = refusal;
  const retry = status === 413 || status === 429 ? { retryAfter: '0' } : {};
  return {
    status,
    headers: { ...headers, ...(status === 413 && { 'retry-after': '0' }) },
    body: { [wrappers[status] ?? 'computeFault']: { code: status, message, ...retry } },
    ...(contentType !== undefined && { contentType }),
  };
}

/** Schema of a body with one object under one key. */
export function wrappedIn(key: string, inner: BodySchema): BodySchema {
  return { type: 'object', properties: { [key]: inner }, required: [key] };
}

const texts: BodySchema = { type: 'object', additionalProperties: { type: 'string', maxLength: 255 } };

/** Reads a body of strings by name, for example `{"metadata": {...}}`. */
export function readTexts(key: string, body: unknown): Readonly<Record<string, string>> {
  checkBody(wrappedIn(key, texts), body);
  return must((body as Record<string, Record<string, string>>)[key], 'value');
}

const limit: BodySchema = {
  type: ['integer', 'string', 'boolean'],
  pattern: '^(-?[0-9]+|[Tt]rue|[Ff]alse|[0-9a-f-]+)$',
  minimum: -1,
};

/** Reads limits by name from `{"quota_set": {...}}`. Other fields (`force`, `tenant_id`) are left to the caller. */
export function readQuotaSet(
  body: unknown,
  key: 'quota_set' | 'quota_class_set' = 'quota_set',
): Readonly<Record<string, unknown>> {
  checkBody(wrappedIn(key, { type: 'object', additionalProperties: limit }), body);
  return (body as Record<typeof key, Record<string, unknown>>)[key];
}

const invalidName =
  "An invalid 'name' value was provided. The name must be: printable characters. Can not start or end with whitespace.";

/** Names must not have control characters, or spaces at either end. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const badName = /^\s|\s$|[\u0000-\u001f\u007f\u2028\u2029]/;

/** Validates a body against its schema. Refuses it with the messages of nova and cinder. */
export function checkBody(schema: BodySchema, body: unknown): void {
  const error = firstError(schema, body ?? null);
  if (error) throw badRequest(bodyMessage(error));
}

export function isBadName(text: string): boolean {
  return badName.test(text);
}

/** Checks the parts of a name that the schema cannot express. */
export function checkName(name: unknown): void {
  if (typeof name === 'string' && isBadName(name)) throw badRequest(invalidName);
}

function bodyMessage({ path, value, message }: SchemaError): string {
  if (path.length === 0) return message;
  return `Invalid input for field/attribute ${path.at(-1)}. Value: ${pythonText(value)}. ${message}`;
}

export function queryMessage({ value, message }: SchemaError, name: string): string {
  return `Invalid input for query parameters ${name}. Value: ${pythonText(value)}. ${message}`;
}
