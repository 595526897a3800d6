import { must } from '../../../../machinery/index.ts';

/** An invalid template, with the line of the error. */
export class TemplateError extends Error {
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.name = 'TemplateError';
    this.line = line;
  }
}

const lexemes = /\s*(?:("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(\d+(?:\.\d+)?)|([A-Za-z_]\w*)|(==|!=|[|.()[\],~+]))/y;

/** Evaluates one expression: names, literals, filters, comparisons, and/or/not. */
export class Expression {
  readonly #words: string[] = [];
  readonly #line: number;
  readonly #scope: Readonly<Record<string, unknown>>;
  readonly #missing: string[];
  readonly #text: string;
  #at = 0;

  constructor(text: string, line: number, scope: Readonly<Record<string, unknown>>, missing: string[]) {
    this.#text = text;
    this.#line = line;
    this.#scope = scope;
    this.#missing = missing;
    lexemes.lastIndex = 0;
    let end = 0;
    for (let match = lexemes.exec(text); match; match = lexemes.exec(text)) {
      this.#words.push(match[0].trim());
      end = lexemes.lastIndex;
    }
    if (text.slice(end).trim() !== '') this.#fail(`unexpected char '${text.slice(end).trim()[0]}'`);
  }

  whole(): unknown {
    if (this.#words.length === 0) this.#fail("Expected an expression, got 'end of print statement'");
    const value = this.#or();
    if (this.#at < this.#words.length) {
      this.#fail(`expected token 'end of print statement', got '${this.#words[this.#at]}'`);
    }
    return value instanceof Missing ? value.shown(this.#missing) : value;
  }

  #fail(message: string): never {
    throw new TemplateError(message, this.#line);
  }

  #take(word: string): boolean {
    if (this.#words[this.#at] !== word) return false;
    this.#at++;
    return true;
  }

  #expect(word: string): void {
    if (!this.#take(word)) this.#fail(`expected token '${word}', got '${this.#words[this.#at] ?? this.#text}'`);
  }

  #or(): unknown {
    let left = this.#and();
    while (this.#take('or')) {
      const right = this.#and();
      left = isTrue(left) ? left : right;
    }
    return left;
  }

  #and(): unknown {
    let left = this.#not();
    while (this.#take('and')) {
      const right = this.#not();
      left = isTrue(left) ? right : left;
    }
    return left;
  }

  #not(): unknown {
    return this.#take('not') ? !isTrue(this.#not()) : this.#comparison();
  }

  #comparison(): unknown {
    const left = this.#joined();
    if (this.#take('==')) return plain(left) === plain(this.#joined());
    if (this.#take('!=')) return plain(left) !== plain(this.#joined());
    if (this.#take('in')) {
      const all = plain(this.#joined());
      const one = plain(left);
      return Array.isArray(all) ? all.includes(one) : typeof all === 'string' && all.includes(String(one));
    }
    if (this.#take('is')) {
      const isNegated = this.#take('not');
      const isDefined = !(left instanceof Missing);
      const test = this.#words[this.#at++];
      if (test !== 'defined' && test !== 'undefined') this.#fail(`no test named '${test}'`);
      return (test === 'defined') === (isDefined !== isNegated);
    }
    return left;
  }

  #joined(): unknown {
    let left = this.#filtered();
    for (;;) {
      const isTilde = this.#take('~');
      if (!isTilde && !this.#take('+')) return left;
      const right = this.#filtered();
      left =
        !isTilde && typeof left === 'number' && typeof right === 'number'
          ? left + right
          : shown(plain(left)) + shown(plain(right));
    }
  }

  #filtered(): unknown {
    let value = this.#access();
    while (this.#take('|')) {
      const name = this.#words[this.#at++] ?? '';
      value = this.#filter(name, value, this.#take('(') ? this.#list(')') : []);
    }
    return value;
  }

  #list(close: string): unknown[] {
    const items: unknown[] = [];
    while (!this.#take(close)) {
      if (this.#at >= this.#words.length) this.#fail(`expected token '${close}'`);
      items.push(plain(this.#or()));
      this.#take(',');
    }
    return items;
  }

  #access(): unknown {
    let value = this.#primary();
    for (;;) {
      if (this.#take('.')) {
        const name = this.#words[this.#at++] ?? '';
        // Common methods of strings.
        if (this.#words[this.#at] === '(') {
          this.#at++;
          value = this.#filter(name, value, this.#list(')'));
        } else value = member(value, name);
      } else if (this.#take('[')) {
        const key = plain(this.#or());
        this.#expect(']');
        value = member(value, String(key));
      } else return value;
    }
  }

  #primary(): unknown {
    const word = this.#words[this.#at++];
    if (word === undefined) this.#fail('unexpected end of expression');
    if (word === '(') {
      const inner = this.#or();
      this.#expect(')');
      return inner;
    }
    if (word === '[') return this.#list(']');
    if (word.startsWith('"') || word.startsWith("'")) return word.slice(1, -1).replace(/\\(.)/g, escaped);
    if (/^\d/.test(word)) return Number(word);
    if (/^true$/i.test(word)) return true;
    if (/^false$/i.test(word)) return false;
    if (/^none$/i.test(word)) return null;
    if (!/^[A-Za-z_]/.test(word)) this.#fail(`unexpected '${word}'`);
    return Object.hasOwn(this.#scope, word) ? this.#scope[word] : new Missing(word);
  }

  #filter(name: string, value: unknown, args: readonly unknown[]): unknown {
    if (name === 'default' || name === 'd') {
      const isEmpty = value instanceof Missing || (args[1] === true && !isTrue(value));
      return isEmpty ? (args[0] ?? '') : value;
    }
    if (value instanceof Missing) return value;
    const text = (): string => shown(value);
    switch (name) {
      case 'lower':
        return text().toLowerCase();
      case 'upper':
        return text().toUpperCase();
      case 'trim':
      case 'strip':
        return text().trim();
      case 'string':
        return text();
      case 'int':
        return Number.parseInt(text(), 10) || 0;
      case 'replace':
        return text().replaceAll(String(args[0]), String(args[1]));
      case 'split':
        return args[0] === undefined ? text().trim().split(/\s+/) : text().split(String(args[0]));
      case 'join':
        return Array.isArray(value) ? value.map(shown).join(args[0] === undefined ? '' : String(args[0])) : text();
      case 'first':
        return Array.isArray(value) ? value[0] : text()[0];
      case 'last':
        return Array.isArray(value) ? value.at(-1) : text().at(-1);
      case 'length':
      case 'count':
        return Array.isArray(value) ? value.length : text().length;
      case 'tojson':
        return JSON.stringify(value);
      default:
        this.#fail(`No filter named '${name}'.`);
    }
  }
}

/** A missing variable. */
class Missing {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  below(key: string): Missing {
    return new Missing(`${this.#name}.${key}`);
  }

  shown(missing: string[]): string {
    const [root] = this.#name.split('.');
    missing.push(must(root, 'root'));
    return `CI_MISSING_JINJA_VAR/${this.#name.split('.').at(-1)}`;
  }
}

function member(value: unknown, key: string): unknown {
  if (value instanceof Missing) return value.below(key);
  if (Array.isArray(value)) return value.at(Number(key)) ?? new Missing(key);
  if (typeof value === 'object' && value !== null && Object.hasOwn(value, key)) {
    return (value as Record<string, unknown>)[key];
  }
  return new Missing(key);
}

const plain = (value: unknown): unknown => (value instanceof Missing ? undefined : value);
const escaped = (_: string, char: string): string => (char === 'n' ? '\n' : char === 't' ? '\t' : char);

export function isTrue(value: unknown): boolean {
  if (value instanceof Missing || value === null || value === undefined) return false;
  if (Array.isArray(value)) return value.length > 0;
  return Boolean(value);
}

/** Formats a value like Python. */
export function shown(value: unknown): string {
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (value === null || value === undefined) return 'None';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
