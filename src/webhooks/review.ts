import { isJsonObject, type JsonObject } from '../machinery/index.ts';

/** An invalid review, answered with HTTP 400. */
export class BadReviewError extends Error {}

/** Returns the request of a review, which must have this kind and version. */
export function reviewOf(body: unknown, kind: string, apiVersion: string): JsonObject {
  if (!isJsonObject(body) || body['kind'] !== kind || body['apiVersion'] !== apiVersion) {
    throw new BadReviewError(`expected ${kind} of ${apiVersion}`);
  }
  return requiredObject(body, 'request', kind);
}

export function requiredObject(object: JsonObject, key: string, where = 'request'): JsonObject {
  const value = object[key];
  if (!isJsonObject(value)) throw new BadReviewError(`${where}.${key} is missing`);
  return value;
}

export function requiredText(object: JsonObject, key: string, where = 'request'): string {
  const value = object[key];
  if (typeof value !== 'string' || value === '') throw new BadReviewError(`${where}.${key} is missing`);
  return value;
}
