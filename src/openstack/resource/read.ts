import { isJsonObject, type JsonObject, type JsonValue } from '../../machinery/index.ts';

/*
 * Readers for response members. Members that are essential throw if they are missing. All others have a default if they
 * are absent, null or of another type, because clouds differ in versions and extensions.
 */

/** A required member is missing or has the wrong type. */
export class MalformedMember extends Error {
  constructor(name: string, wanted: string) {
    super(`"${name}" of the answer is not ${wanted}`);
    this.name = 'MalformedMember';
  }
}

/** Required text. */
export function text(object: JsonObject, name: string): string {
  const value = object[name];
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  throw new MalformedMember(name, 'text');
}

/** Text; undefined if absent or null. */
export function textIf(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;
}

/** Text; empty if absent or null. */
export function textOrEmpty(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === 'string' ? value : '';
}

/** Text; undefined if absent, null or empty: OpenStack uses all three for "none". */
export function textUnlessEmpty(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function numberOr(object: JsonObject, name: string, fallback: number): number {
  return numberIf(object, name) ?? fallback;
}

/** Reads a number. Some services write numbers as text. */
export function numberIf(object: JsonObject, name: string): number | undefined {
  const value = object[name];
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** True for true and for the text `true` in any case, as nova and cinder write it. */
export function flag(object: JsonObject, name: string, { fallback = false }: { fallback?: boolean } = {}): boolean {
  const value = object[name];
  if (typeof value === 'boolean') return value;
  return typeof value === 'string' && value !== '' ? value.toLowerCase() === 'true' : fallback;
}

/** A UTC time, always with `Z`. nova's launch times, cinder and octavia omit it. */
export function timeIf(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  if (typeof value !== 'string' || value === '') return undefined;
  return value.endsWith('Z') || /[-+]\d\d:?\d\d$/.test(value) ? value : `${value}Z`;
}

const none: readonly never[] = Object.freeze([]);

export function texts(object: JsonObject, name: string): readonly string[] {
  const value = object[name];
  if (!Array.isArray(value) || value.length === 0) return none;
  return value.filter((item): item is string => typeof item === 'string');
}

/** Parses a list of objects. */
export function objects<T>(object: JsonObject, name: string, read: (item: JsonObject) => T): readonly T[] {
  const value = object[name];
  if (!Array.isArray(value) || value.length === 0) return none;
  return value.filter(isJsonObject).map(read);
}

/** Parses a list of `{"id": …}`. */
export function ids(object: JsonObject, name: string): readonly string[] {
  return objects(object, name, (item) => text(item, 'id'));
}

export function objectIf(object: JsonObject, name: string): JsonObject | undefined {
  const value = object[name];
  return isJsonObject(value) ? value : undefined;
}

/** Parses a map of texts. */
export function textMap(object: JsonObject, name: string): Readonly<Record<string, string>> {
  const value = object[name];
  if (!isJsonObject(value)) return {};
  const map: Record<string, string> = {};
  for (const [key, item] of Object.entries(value)) if (item !== null && item !== undefined) map[key] = plain(item);
  return map;
}

function plain(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
