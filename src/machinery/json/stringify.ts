import { freshMark } from './strict-json.ts';
import type { JsonValue } from './value.ts';

/** Shorter strings are not worth the look before they are copied. */
const longString = 64;
const scratchBytes = 64 * 1024;

const encoder = new TextEncoder();
let scratch: { bytes: Uint8Array; words: Uint32Array } | undefined;

type Members = Readonly<Record<string, JsonValue | undefined>>;

/**
 * JSON.stringify for objects as people store them, whose size is often that of a few long strings: scripts, certificates,
 * manifests in the data of ConfigMaps and Secrets. V8 looks at every character of a string to find the few that need a
 * backslash; long strings without any are found here four characters at a time and copied whole. The text is the same.
 */
export function stringifyJson(object: Members): string {
  return stringifyObject(object).json;
}

/** The same, and whether it holds integers that only `parseJson` reads back as they were. */
export function stringifyObject(object: Members): { json: string; hasLargeIntegers: boolean } {
  try {
    return { json: stringifyQuickly(object), hasLargeIntegers: false };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { json: stringifyExactly(object), hasLargeIntegers: true };
  }
}

/** JSON.stringify that can write bigints. They are rare: only a text that has them is looked at twice. */
export function jsonText(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return stringifyExactly(value, indent);
  }
}

/** Bigints are written as strings that nobody else can have written, and those lose their quotes. */
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

/** Looks no deeper than the members themselves: that is where long strings are, and a look at all would cost what it saves. */
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

/** What short strings mostly look like; every call of JSON.stringify costs more than this look. */
const plainWord = /^[\w./-]*$/;

/** `"name":` of the fields seen so far: few, and the same in every object. */
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

/** True for ASCII text without quotes, backslashes and control characters: as JSON it is itself between quotes. */
function isPlain(text: string): boolean {
  const { length } = text;
  if (length > scratchBytes - 4) return false;
  scratch ??= makeScratch();
  const { bytes, words } = scratch;
  // As many bytes as characters means ASCII.
  if (encoder.encodeInto(text, bytes).written !== length) return false;
  bytes[length] = 0x20;
  bytes[length + 1] = 0x20;
  bytes[length + 2] = 0x20;
  const end = (length + 3) >>> 2;
  let found = 0;
  for (let i = 0; i < end; i++) {
    // Of bytes below 0x80, subtracting sets the top bit of those, and only because of those, that are searched for.
    const word = words[i] ?? 0;
    found |= (word - 0x20202020) | ((word ^ 0x22222222) - 0x01010101) | ((word ^ 0x5c5c5c5c) - 0x01010101);
  }
  return (found & 0x80808080) === 0;
}

function makeScratch(): { bytes: Uint8Array; words: Uint32Array } {
  const memory = new ArrayBuffer(scratchBytes);
  return { bytes: new Uint8Array(memory), words: new Uint32Array(memory) };
}
