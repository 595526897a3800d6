import { must } from '../../machinery/index.ts';
import { FunctionError } from '../errors.ts';
import { Int, isList, isMap, type Value, type ValueList, type ValueMap } from '../values/index.ts';

const maxDepth = 100;

/** Parses a TOML document: tables, arrays of tables, all strings and numbers. Dates stay strings. */
export function parseToml(text: string): ValueMap {
  return new TomlReader(text).document();
}

class TomlReader {
  readonly #text: string;
  readonly #root: ValueMap = new Map();
  /** tables defined by a header, which must not be defined again */
  readonly #named = new Set<ValueMap>();
  /** arrays that headers may extend; inline arrays are closed */
  readonly #open = new Set<ValueList>();
  #at = 0;

  constructor(text: string) {
    this.#text = text.replaceAll('\r\n', '\n');
  }

  document(): ValueMap {
    let table = this.#root;
    for (;;) {
      this.#blank(true);
      if (this.#at >= this.#text.length) return this.#root;
      if (this.#text[this.#at] === '[') table = this.#header();
      else this.#pair(table);
      this.#blank(false);
      if (this.#at < this.#text.length && this.#text[this.#at] !== '\n')
        this.#fail(`expected a line end but found ${this.#found()}`);
    }
  }

  #fail(message: string): never {
    const line = this.#text.slice(0, this.#at).split('\n').length;
    throw new FunctionError(`toml: line ${line}: ${message}`);
  }

  #found(): string {
    return JSON.stringify(this.#text[this.#at] ?? 'end of text');
  }

  /** Skips blanks and comments, optionally line breaks. */
  #blank(withLines: boolean): void {
    for (;;) {
      const char = this.#text[this.#at];
      if (char === ' ' || char === '\t' || (withLines && char === '\n')) this.#at++;
      else if (char === '#') {
        const end = this.#text.indexOf('\n', this.#at);
        this.#at = end < 0 ? this.#text.length : end;
      } else return;
    }
  }

  #expect(char: string): void {
    if (this.#text[this.#at] !== char) this.#fail(`expected ${JSON.stringify(char)} but found ${this.#found()}`);
    this.#at++;
  }

  #header(): ValueMap {
    const isList = this.#text.startsWith('[[', this.#at);
    this.#at += isList ? 2 : 1;
    const path = this.#keys();
    this.#expect(']');
    if (isList) this.#expect(']');
    const last = must(path.pop(), 'path.pop()');
    const parent = this.#descend(this.#root, path);
    if (isList) {
      const list = parent.get(last) ?? this.#newList();
      if (!Array.isArray(list) || !this.#open.has(list)) return this.#fail(`key '${last}' has already been defined`);
      const table: ValueMap = new Map();
      list.push(table);
      parent.set(last, list);
      return table;
    }
    const table = this.#descend(parent, [last]);
    if (this.#named.has(table)) this.#fail(`key '${last}' has already been defined`);
    this.#named.add(table);
    return table;
  }

  #newList(): ValueList {
    const list: ValueList = [];
    this.#open.add(list);
    return list;
  }

  #descend(from: ValueMap, path: readonly string[]): ValueMap {
    if (path.length > maxDepth) this.#fail('keys are nested too deep');
    let table = from;
    for (const key of path) {
      const found = table.get(key);
      const inner = isList(found) && this.#open.has(found) ? found.at(-1) : found;
      if (isMap(inner)) table = inner;
      else if (inner !== undefined) this.#fail(`key '${key}' has already been defined`);
      else {
        const fresh: ValueMap = new Map();
        table.set(key, fresh);
        table = fresh;
      }
    }
    return table;
  }

  #keys(): string[] {
    const path: string[] = [];
    for (;;) {
      this.#blank(false);
      path.push(this.#key());
      this.#blank(false);
      if (this.#text[this.#at] !== '.') return path;
      this.#at++;
    }
  }

  #key(): string {
    const char = this.#text[this.#at];
    if (char === '"' || char === "'") return this.#string();
    return this.#take(/[A-Za-z0-9_-]+/y) ?? this.#fail(`expected a key but found ${this.#found()}`);
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #pair(table: ValueMap, depth = 0): void {
    const path = this.#keys();
    this.#expect('=');
    this.#blank(false);
    const last = must(path.pop(), 'path.pop()');
    const parent = this.#descend(table, path);
    if (parent.has(last)) this.#fail(`key '${last}' has already been defined`);
    parent.set(last, this.#value(depth));
  }

  #value(depth: number): Value {
    if (depth > maxDepth) this.#fail('values are nested too deep');
    const char = this.#text[this.#at];
    if (char === '"' || char === "'") return this.#string();
    if (char === '[') return this.#list(depth);
    if (char === '{') return this.#table(depth);
    const word = this.#take(/[^\s,\]}#=]+(?: [0-9]{2}:[0-9:.]+(?:Z|[-+][0-9:]+)?)?/y) ?? '';
    return this.#plain(word);
  }

  #plain(word: string): Value {
    if (word === 'true' || word === 'false') return word === 'true';
    const bare = word.replaceAll('_', '');
    if (/^0x[0-9a-fA-F]+$|^0o[0-7]+$|^0b[01]+$/.test(bare)) return new Int(BigInt(bare), 'int64');
    if (/^[-+]?(?:0|[1-9][0-9]*)$/.test(bare))
      return new Int(BigInt.asIntN(64, BigInt(bare.replace('+', ''))), 'int64');
    if (/^[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/.test(bare)) return Number(bare);
    if (/^[-+]?inf$/.test(word)) return word.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    if (/^[-+]?nan$/.test(word)) return Number.NaN;
    if (/^[0-9]{4}-[0-9]{2}-[0-9]{2}|^[0-9]{2}:[0-9]{2}/.test(word)) return word;
    return this.#fail(
      word === ''
        ? `expected value but found ${this.#found()} instead`
        : `expected value but found ${JSON.stringify(word)} instead`,
    );
  }

  #list(depth: number): Value {
    const items: ValueList = [];
    this.#at++;
    for (;;) {
      this.#blank(true);
      if (this.#text[this.#at] === ']') break;
      items.push(this.#value(depth + 1));
      this.#blank(true);
      if (this.#text[this.#at] === ']') break;
      this.#expect(',');
    }
    this.#at++;
    return items;
  }

  #table(depth: number): Value {
    const table: ValueMap = new Map();
    this.#at++;
    this.#blank(false);
    if (this.#text[this.#at] !== '}') {
      for (;;) {
        this.#pair(table, depth + 1);
        this.#blank(false);
        if (this.#text[this.#at] === '}') break;
        this.#expect(',');
      }
    }
    this.#at++;
    return table;
  }

  #string(): string {
    const mark = this.#text.charAt(this.#at);
    const isLong = this.#text.startsWith(mark.repeat(3), this.#at);
    this.#at += isLong ? 3 : 1;
    if (isLong && this.#text[this.#at] === '\n') this.#at++;
    const end = isLong ? mark.repeat(3) : mark;
    let result = '';
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined || (char === '\n' && !isLong)) this.#fail('strings cannot contain newlines');
      if (this.#text.startsWith(end, this.#at)) {
        // Quotes right before the closing ones belong to the text.
        if (isLong && this.#text[this.#at + 3] === mark) {
          result += mark;
          this.#at++;
          continue;
        }
        this.#at += end.length;
        return result;
      }
      this.#at++;
      result += char === '\\' && mark === '"' ? this.#escape(isLong) : char;
    }
  }

  #escape(isLong: boolean): string {
    const char = this.#text[this.#at++] ?? '';
    const simple = escapes[char];
    if (simple !== undefined) return simple;
    if (char === 'u' || char === 'U') {
      const digits = this.#text.slice(this.#at, this.#at + (char === 'u' ? 4 : 8));
      const code = /^[0-9a-fA-F]+$/.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
      if (!(code <= 0x10ffff) || (code >= 0xd800 && code <= 0xdfff)) this.#fail(`invalid escape '\\${char}${digits}'`);
      this.#at += digits.length;
      return String.fromCodePoint(code);
    }
    if (isLong && (char === '\n' || char === ' ' || char === '\t')) {
      while (' \t\n'.includes(this.#text[this.#at] ?? 'x')) this.#at++;
      return '';
    }
    return this.#fail(`invalid escape character ${JSON.stringify(char)}`);
  }
}

const escapes: Readonly<Record<string, string>> = {
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
  e: '\x1b',
  '"': '"',
  '\\': '\\',
};
