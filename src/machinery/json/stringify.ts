import { freshMark } from './strict-json.ts';
import type { JsonValue } from './value.ts';

/** For shorter strings the check costs more than it saves. */
const longString = 64;
const scratchBytes = 64 * 1024;

const encoder = new TextEncoder();
let scratch: { bytes: Uint8Array; words: Uint32Array } | undefined;

type Members = Readonly<Record<string, JsonValue | undefined>>;

/**
 * Works like JSON.stringify, with the same result, but faster for long strings. The size of stored objects is often
 * that of scripts, certificates or manifests in ConfigMaps and Secrets. V8 checks every character for escapes. This
 * code checks four characters at a time and copies long strings without escapes as a whole.
 */
export function stringifyJson(object: Members): string {
  return stringifyObject(object).json;
}

/** Returns the JSON text, and whether it contains integers that only `parseJson` reads back exactly. */
export function stringifyObject(object: Members): { json: string; hasLargeIntegers: boolean } {
  try {
    return { json: stringifyQuickly(object), hasLargeIntegers: false };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { json: stringifyExactly(object), hasLargeIntegers: true };
  }
}

/**
 * Works like JSON.stringify but supports bigints. They are rare, so only values that contain them take a second pass.
 */
export function jsonText(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return stringifyExactly(value, indent);
  }
}

/** Bigints are first written as strings with a unique prefix, and then lose their quotes. */
function stringifyExactly(value: unknown, indent?: number): string {
  const mark = freshMark();
  const marked = JSON.stringify(
    value,
    (_key, member: unknown) => (typeof member === 'bigint' ? `${mark}${member}` : member),
    indent,
  );
  return marked.replaceAll(new RegExp(`"${mark}(-?[0-9]+)"`, 'g'), '$1');
}

function stringifyQuickly(object: Members): string {
  let text = '';
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (value === undefined) continue;
    const valueText = hasLongString(value) ? stringifyMembers(value) : stringifyValue(value);
    text += (text === '' ? '{' : ',') + quoteName(key) + valueText;
  }
  return text === '' ? '{}' : `${text}}`;
}

/** Checks only the direct members, where long strings usually are. A deep check would cost more than it saves. */
function hasLongString(value: JsonValue): value is Members & JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  for (const key in value) {
    const member = value[key];
    if (typeof member === 'string' && member.length >= longString) return true;
  }
  return false;
}

function stringifyMembers(members: Members): string {
  let text = '';
  for (const key of Object.keys(members)) {
    const value = members[key];
    if (value === undefined) continue;
    text += (text === '' ? '{' : ',') + quoteName(key) + stringifyValue(value);
  }
  return `${text}}`;
}

function stringifyValue(value: JsonValue): string {
  return typeof value === 'string' && (value.length < longString ? plainWord.test(value) : isPlain(value))
    ? `"${value}"`
    : JSON.stringify(value);
}

/** Matches most short strings. A call of JSON.stringify costs more than this test. */
const plainWord = /^[\w./-]*$/;

/** `"name":` of the fields seen so far. The same few names occur in every object. */
const quotedNames = new Map<string, string>();
const maxQuotedNames = 4096;

function quoteName(name: string): string {
  let quoted = quotedNames.get(name);
  if (quoted === undefined) {
    quoted = `${JSON.stringify(name)}:`;
    if (quotedNames.size < maxQuotedNames && name.length < longString) quotedNames.set(name, quoted);
  }
  return quoted;
}

/** Reports whether a text is ASCII without quotes, backslashes and control characters, so that it needs no escaping. */
function isPlain(text: string): boolean {
  const { length } = text;
  if (length > scratchBytes - 4) return false;
  scratch ??= makeScratch();
  const { bytes, words } = scratch;
  // Equal numbers of bytes and characters mean ASCII.
  if (encoder.encodeInto(text, bytes).written !== length) return false;
  bytes[length] = 0x20;
  bytes[length + 1] = 0x20;
  bytes[length + 2] = 0x20;
  const end = (length + 3) >>> 2;
  let found = 0;
  for (let i = 0; i < end; i++) {
    // For bytes below 0x80, the subtractions set the top bit exactly when a byte is one that needs an escape.
    const word = words[i] ?? 0;
    found |= (word - 0x20202020) | ((word ^ 0x22222222) - 0x01010101) | ((word ^ 0x5c5c5c5c) - 0x01010101);
  }
  return (found & 0x80808080) === 0;
}

function makeScratch(): { bytes: Uint8Array; words: Uint32Array } {
  const memory = new ArrayBuffer(scratchBytes);
  return { bytes: new Uint8Array(memory), words: new Uint32Array(memory) };
}
