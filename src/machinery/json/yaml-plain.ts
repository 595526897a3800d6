import type { JsonObject, JsonPrimitive, JsonValue } from './value.ts';

/**
 * Parses the subset of YAML that manifests and values files use: block mappings and sequences, flow collections,
 * scalars, block scalars, comments. It is many times faster than the library. Anchors, tags, scalars over several
 * lines, keys that are not strings, duplicate keys and errors are left to the library. Returns undefined for anything
 * outside its subset.
 */
export function parsePlainYaml(text: string, plainScalar: (text: string) => JsonPrimitive): PlainDocument | undefined {
  if (unusual.test(text)) return undefined;
  try {
    return new PlainReader(text, plainScalar).document();
  } catch (error) {
    if (error instanceof NotPlain) return undefined;
    throw error;
  }
}

export interface PlainDocument {
  readonly value: JsonValue;
  /** first line of the content, one-based */
  readonly line: number;
}

// Control characters, other line ends than \n and marks of byte order.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const unusual = /[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029\ufeff\ufffe\uffff]/;

/** The end of a document or the start of another. */
const marker = /^(?:---|\.\.\.)(?=[ \t\n]|$)/gm;

class NotPlain extends Error {}
const notPlain = new NotPlain();

const maxDepth = 150;

const lineFeed = 0x0a;
const tab = 0x09;
const space = 0x20;
const quote = 0x22;
const hash = 0x23;
const apostrophe = 0x27;
const comma = 0x2c;
const dash = 0x2d;
const colon = 0x3a;
const question = 0x3f;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const bar = 0x7c;
const closeBrace = 0x7d;
const greater = 0x3e;

/**
 * Characters that cannot start a plain scalar. The last three can if followed by certain characters, which is left to
 * the library.
 */
const indicators: ReadonlySet<number> = new Set([...'!&*{}[],#|>@%`"\'?:'].map((char) => char.charCodeAt(0)));

class PlainReader {
  readonly #text: string;
  readonly #plainScalar: (text: string) => JsonPrimitive;
  /** position of the next character */
  #at = 0;
  /** column of the next content; -1 at the end */
  #indent = 0;
  #depth = 0;

  constructor(text: string, plainScalar: (text: string) => JsonPrimitive) {
    this.#text = text;
    this.#plainScalar = (scalar) => {
      try {
        return plainScalar(scalar);
      } catch {
        // The library reports the error with its line.
        throw notPlain;
      }
    };
  }

  document(): PlainDocument {
    this.#nextContent();
    if (this.#indent === 0 && this.#isMarker('---')) {
      this.#at += 3;
      this.#endOfLine();
      this.#nextContent();
    }
    const start = this.#at;
    if (this.#indent < 0) return { value: null, line: 1 };
    marker.lastIndex = start;
    if (marker.test(this.#text)) throw notPlain;
    const value = this.#block(this.#indent);
    if (this.#indent >= 0) throw notPlain;
    return { value, line: this.#lineOf(start) };
  }

  #lineOf(offset: number): number {
    let line = 1;
    for (let at = this.#text.indexOf('\n'); at >= 0 && at < offset; at = this.#text.indexOf('\n', at + 1)) line++;
    return line;
  }

  #isMarker(marker: string): boolean {
    if (!this.#text.startsWith(marker, this.#at)) return false;
    const after = this.#text.charCodeAt(this.#at + 3);
    return Number.isNaN(after) || after === space || after === lineFeed || after === tab;
  }

  /** Skips blank lines and comments to the first character of content. */
  #nextContent(): void {
    const text = this.#text;
    let at = this.#at;
    for (;;) {
      const start = at;
      let code = text.charCodeAt(at);
      while (code === space) code = text.charCodeAt(++at);
      if (code === lineFeed) {
        at++;
        continue;
      }
      if (code === hash) {
        at = text.indexOf('\n', at);
        if (at < 0) break;
        at++;
        continue;
      }
      if (Number.isNaN(code)) break;
      if (code === tab) throw notPlain;
      this.#at = at;
      this.#indent = at - start;
      return;
    }
    this.#at = text.length;
    this.#indent = -1;
  }

  /** Skips spaces and a comment after a value. */
  #endOfLine(): void {
    const text = this.#text;
    const start = this.#at;
    let at = start;
    let code = text.charCodeAt(at);
    while (code === space) code = text.charCodeAt(++at);
    if (code === hash && at > start) {
      const end = text.indexOf('\n', at);
      at = end < 0 ? text.length : end;
      code = text.charCodeAt(at);
    }
    if (code === lineFeed) this.#at = at + 1;
    else if (Number.isNaN(code)) this.#at = at;
    else throw notPlain;
  }

  /** Parses a collection or scalar that starts in this column. */
  #block(indent: number): JsonValue {
    if (++this.#depth > maxDepth) throw notPlain;
    const value = this.#isItem() ? this.#sequence(indent) : this.#mappingOrScalar(indent);
    this.#depth--;
    return value;
  }

  #isItem(): boolean {
    if (this.#text.charCodeAt(this.#at) !== dash) return false;
    const after = this.#text.charCodeAt(this.#at + 1);
    return after === space || after === lineFeed || Number.isNaN(after);
  }

  #mappingOrScalar(indent: number): JsonValue {
    const start = this.#at;
    const key = this.#key();
    if (key !== undefined) return this.#mapping(indent, key);
    this.#at = start;
    const code = this.#text.charCodeAt(start);
    if (code === bar || code === greater) throw notPlain;
    // A scalar or flow collection on the line below its key.
    return this.#inline(indent - 1);
  }

  #sequence(indent: number): JsonValue {
    const items: JsonValue[] = [];
    for (;;) {
      this.#at++;
      items.push(this.#item(indent));
      if (this.#indent < indent) return items;
      if (this.#indent > indent) throw notPlain;
      if (!this.#isItem()) return items;
    }
  }

  /** Parses the content after a dash, on the same line or below. */
  #item(indent: number): JsonValue {
    const text = this.#text;
    const dashAt = this.#at - 1;
    let at = this.#at;
    let code = text.charCodeAt(at);
    while (code === space) code = text.charCodeAt(++at);
    if (code === lineFeed || code === hash || Number.isNaN(code)) {
      this.#endOfLine();
      this.#nextContent();
      return this.#indent > indent ? this.#block(this.#indent) : null;
    }
    if (code === tab) throw notPlain;
    this.#at = at;
    const column = indent + at - dashAt;
    if (++this.#depth > maxDepth) throw notPlain;
    let value: JsonValue;
    if (this.#isItem()) value = this.#sequence(column);
    else {
      const key = this.#key();
      if (key !== undefined) value = this.#mapping(column, key);
      else {
        this.#at = at;
        value = this.#inline(indent);
      }
    }
    this.#depth--;
    return value;
  }

  #mapping(indent: number, firstKey: string): JsonValue {
    const object: JsonObject = {};
    let key: string | undefined = firstKey;
    for (;;) {
      if (Object.hasOwn(object, key)) throw notPlain;
      object[key] = this.#member(indent);
      if (this.#indent < indent) return object;
      if (this.#indent > indent || this.#isItem()) throw notPlain;
      key = this.#key();
      if (key === undefined) throw notPlain;
    }
  }

  /** Parses a key including its colon; undefined if there is no key. */
  #key(): string | undefined {
    const text = this.#text;
    const start = this.#at;
    const first = text.charCodeAt(start);
    if (first === quote || first === apostrophe) {
      const end = this.#quotedEnd(start, first);
      const after = text.charCodeAt(end + 1);
      if (text.charCodeAt(end) !== colon || !(after === space || after === lineFeed || Number.isNaN(after)))
        return undefined;
      this.#at = end + 1;
      return checkedKey(this.#unquoted(start, end, first));
    }
    if (indicators.has(first)) {
      if (first === question || first === colon) throw notPlain;
      return undefined;
    }
    for (let at = start; ; at++) {
      const code = text.charCodeAt(at);
      if (code === colon) {
        const after = text.charCodeAt(at + 1);
        if (after !== space && after !== lineFeed && !Number.isNaN(after)) {
          if (after === tab) throw notPlain;
          continue;
        }
        let end = at;
        while (text.charCodeAt(end - 1) === space) end--;
        const name = text.slice(start, end);
        if (name === '<<' || this.#plainScalar(name) !== name) throw notPlain;
        this.#at = at + 1;
        return checkedKey(name);
      }
      if (code === lineFeed || Number.isNaN(code)) return undefined;
      if (code === tab) throw notPlain;
      if (code === hash && text.charCodeAt(at - 1) === space) return undefined;
    }
  }

  /** Parses the value of a key, on the same line or below. */
  #member(indent: number): JsonValue {
    const text = this.#text;
    let at = this.#at;
    let code = text.charCodeAt(at);
    while (code === space) code = text.charCodeAt(++at);
    if (code === lineFeed || Number.isNaN(code) || (code === hash && at > this.#at)) {
      this.#endOfLine();
      this.#nextContent();
      if (this.#indent > indent) return this.#block(this.#indent);
      // A sequence may start in the column of its key.
      if (this.#indent === indent && this.#isItem()) return this.#block(indent);
      return null;
    }
    this.#at = at;
    return this.#inline(indent);
  }

  /** Parses a value that starts on this line and belongs to a collection in this column. Stops at the next content. */
  #inline(indent: number): JsonValue {
    const text = this.#text;
    const first = text.charCodeAt(this.#at);
    switch (first) {
      case bar:
      case greater:
        return this.#blockScalar(indent, first === greater);
      case openBrace:
      case openBracket: {
        const value = this.#flow(indent);
        this.#endOfLine();
        this.#nextContent();
        if (this.#indent > indent) throw notPlain;
        return value;
      }
      case quote:
      case apostrophe: {
        const start = this.#at;
        const end = this.#quotedEnd(start, first, indent);
        this.#at = end;
        this.#endOfLine();
        this.#nextContent();
        if (this.#indent > indent) throw notPlain;
        return this.#unquoted(start, end, first);
      }
    }
    if (first === tab || this.#isItem()) throw notPlain;
    // `:80` is a scalar, `: 80` is not.
    if (indicators.has(first) && (first !== colon || !isWordStart(text.charCodeAt(this.#at + 1)))) throw notPlain;
    return this.#plain(indent);
  }

  #plain(indent: number): JsonPrimitive {
    const text = this.#text;
    let scalar = '';
    for (;;) {
      const { end, next, hasComment } = this.#plainLine();
      scalar += text.slice(this.#at, end);
      this.#at = next;
      const breaks = hasComment ? undefined : this.#continuation(indent);
      if (breaks === undefined) break;
      scalar += breaks === 0 ? ' ' : '\n'.repeat(breaks);
    }
    this.#nextContent();
    if (this.#indent > indent) throw notPlain;
    return this.#plainScalar(scalar);
  }

  /** Returns the end of a plain scalar on this line, and the start of the next line. */
  #plainLine(): { end: number; next: number; hasComment: boolean } {
    const text = this.#text;
    let hasComment = false;
    let at = this.#at;
    let end: number;
    for (; ; at++) {
      const code = text.charCodeAt(at);
      if (code === lineFeed || Number.isNaN(code)) {
        end = at;
        break;
      }
      if (code === colon) {
        const after = text.charCodeAt(at + 1);
        if (after === space || after === lineFeed || after === tab || Number.isNaN(after)) throw notPlain;
      } else if (code === hash && text.charCodeAt(at - 1) === space) {
        hasComment = true;
        end = at;
        at = text.indexOf('\n', at);
        if (at < 0) at = text.length;
        break;
      } else if (code === tab) throw notPlain;
    }
    while (text.charCodeAt(end - 1) === space) end--;
    return { end, next: Math.min(at + 1, text.length), hasComment };
  }

  /**
   * Advances to the line where a scalar continues and returns the number of blank lines in between; undefined if it
   * does not continue.
   */
  #continuation(indent: number): number | undefined {
    const text = this.#text;
    let at = this.#at;
    for (let blanks = 0; ; blanks++) {
      const start = at;
      let code = text.charCodeAt(at);
      while (code === space) code = text.charCodeAt(++at);
      if (code === lineFeed) {
        at++;
        continue;
      }
      if (code === tab) throw notPlain;
      if (Number.isNaN(code) || code === hash || at - start <= indent) return undefined;
      this.#at = at;
      if (this.#isItem() || ((code === question || code === colon) && !isWordStart(text.charCodeAt(at + 1))))
        throw notPlain;
      return blanks;
    }
  }

  /** Returns the position after the closing quote, on the same line or on one indented deeper than the given column. */
  #quotedEnd(start: number, mark: number, indent?: number): number {
    const text = this.#text;
    for (let at = start + 1; ; at++) {
      const code = text.charCodeAt(at);
      if (Number.isNaN(code)) throw notPlain;
      if (code === lineFeed) {
        if (indent === undefined) throw notPlain;
        let content = at + 1;
        while (text.charCodeAt(content) === space) content++;
        if (text.charCodeAt(content) !== lineFeed && content - at - 1 <= indent) throw notPlain;
        at = content - 1;
        continue;
      }
      if (code === 0x5c && mark === quote) at++;
      else if (code === mark) {
        if (mark === apostrophe && text.charCodeAt(at + 1) === apostrophe) at++;
        else return at + 1;
      }
    }
  }

  #unquoted(start: number, end: number, mark: number): string {
    const written = this.#text.slice(start + 1, end - 1);
    const inside = written.includes('\n') ? foldedLines(written) : written;
    if (mark === apostrophe) return inside.includes("''") ? inside.replaceAll("''", "'") : inside;
    if (!inside.includes('\\')) return inside;
    // Only escapes that JSON shares are handled here; YAML has more.
    if (
      /\\[^"\\/bfnrtu]|\\u(?![0-9a-fA-F]{4})|\\u[dD][89a-fA-F]/.test(inside.replaceAll('\\\\', '')) ||
      inside.includes('\t')
    )
      throw notPlain;
    if (inside.includes('\n')) throw notPlain;
    return JSON.parse(`"${inside}"`) as string;
  }

  #flow(indent: number): JsonValue {
    if (++this.#depth > maxDepth) throw notPlain;
    const value =
      this.#text.charCodeAt(this.#at) === openBrace ? this.#flowMapping(indent) : this.#flowSequence(indent);
    this.#depth--;
    return value;
  }

  /** Skips spaces and line breaks in a flow collection. */
  #flowSpace(indent: number): number {
    const text = this.#text;
    for (;;) {
      const code = text.charCodeAt(this.#at);
      if (code === space) this.#at++;
      else if (code === lineFeed) {
        this.#at++;
        let column = 0;
        while (text.charCodeAt(this.#at) === space) {
          this.#at++;
          column++;
        }
        const next = text.charCodeAt(this.#at);
        // Lines of a flow collection must be indented deeper than its parent.
        if (next !== lineFeed && column <= indent) throw notPlain;
      } else {
        if (code === hash || code === tab || Number.isNaN(code)) throw notPlain;
        return code;
      }
    }
  }

  #flowSequence(indent: number): JsonValue {
    const items: JsonValue[] = [];
    this.#at++;
    for (;;) {
      if (this.#flowSpace(indent) === closeBracket) break;
      items.push(this.#flowValue(indent));
      const code = this.#flowSpace(indent);
      if (code === closeBracket) break;
      if (code !== comma) throw notPlain;
      this.#at++;
    }
    this.#at++;
    return items;
  }

  #flowMapping(indent: number): JsonValue {
    const object: JsonObject = {};
    this.#at++;
    for (;;) {
      let code = this.#flowSpace(indent);
      if (code === closeBrace) break;
      const start = this.#at;
      let key: string;
      if (code === quote || code === apostrophe) {
        const end = this.#quotedEnd(start, code);
        key = this.#unquoted(start, end, code);
        this.#at = end;
      } else {
        key = this.#flowPlain();
        if (key === '<<' || this.#plainScalar(key) !== key) throw notPlain;
      }
      if (this.#text.charCodeAt(this.#at) !== colon) throw notPlain;
      this.#at++;
      const after = this.#text.charCodeAt(this.#at);
      // `{a:1}` is one key; `{"a":1}` is left to the library.
      if (after !== space && after !== lineFeed) throw notPlain;
      if (Object.hasOwn(object, checkedKey(key))) throw notPlain;
      object[key] = this.#flowValueOrNull(indent);
      code = this.#flowSpace(indent);
      if (code === closeBrace) break;
      if (code !== comma) throw notPlain;
      this.#at++;
    }
    this.#at++;
    return object;
  }

  #flowValueOrNull(indent: number): JsonValue {
    const code = this.#flowSpace(indent);
    if (code === comma || code === closeBrace) throw notPlain;
    return this.#flowValue(indent);
  }

  #flowValue(indent: number): JsonValue {
    const code = this.#text.charCodeAt(this.#at);
    if (code === openBrace || code === openBracket) return this.#flow(indent);
    if (code === quote || code === apostrophe) {
      const start = this.#at;
      const end = this.#quotedEnd(start, code);
      this.#at = end;
      if (this.#text.charCodeAt(end) === colon) throw notPlain;
      return this.#unquoted(start, end, code);
    }
    const scalar = this.#flowPlain();
    if (this.#text.charCodeAt(this.#at) === colon) throw notPlain;
    return this.#plainScalar(scalar);
  }

  /** Parses a plain scalar in a flow collection, at most to the end of the line. */
  #flowPlain(): string {
    const text = this.#text;
    const start = this.#at;
    const first = text.charCodeAt(start);
    if (indicators.has(first) || first === dash) {
      const after = text.charCodeAt(start + 1);
      if (first !== dash || !(after >= 0x30 && after <= 0x39)) throw notPlain;
    }
    let at = start;
    for (; ; at++) {
      const code = text.charCodeAt(at);
      if (code === comma || code === closeBracket || code === closeBrace) break;
      if (code === openBracket || code === openBrace || code === lineFeed || code === tab || Number.isNaN(code))
        throw notPlain;
      if (code === hash) throw notPlain;
      if (code === colon) {
        const after = text.charCodeAt(at + 1);
        if (after === space || after === lineFeed) break;
        if (after === comma || after === closeBracket || after === closeBrace || Number.isNaN(after)) throw notPlain;
      }
    }
    let end = at;
    while (text.charCodeAt(end - 1) === space) end--;
    if (end !== at && text.charCodeAt(at) === colon) throw notPlain;
    this.#at = at;
    return text.slice(start, end);
  }

  #blockScalar(indent: number, isFolded: boolean): string {
    const text = this.#text;
    let at = this.#at + 1;
    let chomp = text[at];
    if (chomp === '-' || chomp === '+') at++;
    else chomp = '';
    const digit = text.charCodeAt(at) - 0x30;
    if (digit >= 0 && digit <= 9) throw notPlain;
    this.#at = at;
    this.#endOfLine();
    const lines: string[] = [];
    let column = -1;
    /** deepest indentation of the blank lines before the content */
    let deepest = 0;
    at = this.#at;
    while (at < text.length) {
      let end = text.indexOf('\n', at);
      const isLast = end < 0;
      if (isLast) end = text.length;
      let content = at;
      while (text.charCodeAt(content) === space) content++;
      const isBlank = content >= end;
      if (column < 0) {
        if (isBlank) {
          deepest = Math.max(deepest, content - at);
          lines.push('');
        } else {
          if (content - at <= indent) break;
          column = content - at;
          // Blank lines deeper than the content are an error, which the library reports.
          if (column === 0 || deepest > column) throw notPlain;
          lines.push(text.slice(content, end));
        }
      } else if (isBlank && content - at <= column) lines.push('');
      else if (!isBlank && content - at < column) break;
      else lines.push(text.slice(at + column, end));
      at = isLast ? text.length : end + 1;
    }
    // A last line without a line break and tabs at the start of content have special rules, left to the library.
    const isOpen = at >= text.length && text.charCodeAt(text.length - 1) !== lineFeed;
    if (column < 0 && lines.length > 0 && chomp === '+') throw notPlain;
    this.#at = at;
    this.#nextContent();
    if (this.#indent > indent) throw notPlain;
    let last = lines.length;
    while (last > 0 && lines[last - 1] === '') last--;
    const body = lines.slice(0, last);
    if (body.length === 0) {
      if (chomp === '+') throw notPlain;
      return '';
    }
    const joined = isFolded ? folded(body) : body.join('\n');
    if (chomp === '-') return joined;
    if (chomp === '') return isOpen && last === lines.length ? joined : `${joined}\n`;
    if (isOpen) throw notPlain;
    return `${joined}\n${'\n'.repeat(lines.length - last)}`;
  }
}

const isWordStart = (code: number): boolean =>
  !Number.isNaN(code) && code !== space && code !== lineFeed && code !== tab;

/** Trims trailing spaces in linear time. */
function trimmedEnd(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === space) end--;
  return text.slice(0, end);
}

function trimmedStart(text: string): string {
  let start = 0;
  while (text.charCodeAt(start) === space) start++;
  return text.slice(start);
}

/** Folds a quoted text over several lines: lines are joined, blank lines become line breaks. */
function foldedLines(text: string): string {
  if (text.includes('\t') || text.includes('\\\n')) throw notPlain;
  const [first = '', ...lines] = text.split('\n');
  let result = trimmedEnd(first);
  let blanks = 0;
  for (const [i, given] of lines.entries()) {
    const isLast = i === lines.length - 1;
    const line = trimmedStart(isLast ? given : trimmedEnd(given));
    if (line === '' && !isLast) {
      blanks++;
      continue;
    }
    result += (blanks > 0 ? '\n'.repeat(blanks) : ' ') + line;
    blanks = 0;
  }
  return result;
}

/**
 * Folds a block scalar: lines are joined, blank lines become line breaks. Lines indented deeper keep their breaks,
 * which is left to the library.
 */
function folded(lines: readonly string[]): string {
  let result = '';
  let blanks = 0;
  for (const [index, line] of lines.entries()) {
    const code = line.charCodeAt(0);
    if (code === space || code === tab) throw notPlain;
    if (line === '') {
      blanks++;
      continue;
    }
    if (index > 0) result += blanks > 0 ? '\n'.repeat(blanks) : ' ';
    result += line;
    blanks = 0;
  }
  return result;
}

function checkedKey(key: string): string {
  if (key === '__proto__') throw notPlain;
  return key;
}
