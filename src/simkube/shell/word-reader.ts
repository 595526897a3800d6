import { must } from '../../machinery/index.ts';
import { type Piece, type Script, ShellSyntaxError, type Word } from './syntax.ts';

const wordEnd: ReadonlySet<string> = new Set([' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')']);
const maxDepth = 100;
const operators = ['##', '#', '%%', '%', ':-', ':=', ':+', ':?', '-', '=', '+', '?', '//', '/'] as const;

/** Collects the pieces of a word; adjacent text is merged. */
class PieceList {
  /** whether plain text is inside of quotes */
  readonly isQuoted: boolean;
  readonly #pieces: Piece[] = [];
  #plain = '';

  constructor(isQuoted: boolean) {
    this.isQuoted = isQuoted;
  }

  addText(text: string): void {
    this.#plain += text;
  }

  add(...pieces: readonly Piece[]): void {
    this.#flush();
    this.#pieces.push(...pieces);
  }

  all(): Piece[] {
    this.#flush();
    return this.#pieces;
  }

  #flush(): void {
    if (this.#plain !== '') this.#pieces.push({ kind: 'text', text: this.#plain, isQuoted: this.isQuoted });
    this.#plain = '';
  }
}

/** The word parser: quotes, variables, command substitution. */
export abstract class WordReader {
  readonly text: string;
  at = 0;
  #depth: number;
  #countedTo = 0;
  #counted = 1;

  constructor(text: string, depth = 0) {
    this.text = text.replaceAll('\r\n', '\n');
    this.#depth = depth;
  }

  protected get depth(): number {
    return this.#depth;
  }

  /** Parses statements up to one of the words, or a closing bracket. */
  abstract script(ends: readonly string[]): Script;
  /** Called after a line break, where here-documents start. */
  protected abstract endOfLine(): void;

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** Counts from the last requested position, because counting from the start for every word would be quadratic. */
  get line(): number {
    if (this.#countedTo > this.at) {
      this.#countedTo = 0;
      this.#counted = 1;
    }
    for (; this.#countedTo < this.at; this.#countedTo++) if (this.text[this.#countedTo] === '\n') this.#counted++;
    return this.#counted;
  }

  /** Limits the nesting depth of the parser. */
  protected within<R>(read: () => R): R {
    if (++this.#depth > maxDepth) this.fail('syntax error: nested too deep');
    const result = read();
    this.#depth--;
    return result;
  }

  startsWith(text: string): boolean {
    return this.text.startsWith(text, this.at);
  }

  fail(message: string): never {
    throw new ShellSyntaxError(message, this.line);
  }

  /** Skips spaces and comments up to the end of the line. */
  skipBlank(): void {
    this.#skip({ lines: false });
  }

  /** Skips spaces, comments, line breaks and single semicolons. */
  skipBlankLines(): void {
    this.#skip({ lines: true });
  }

  #skip({ lines }: { lines: boolean }): void {
    for (;;) {
      const char = this.text[this.at];
      if (char === ' ' || char === '\t') this.at++;
      else if (char === '\\' && this.text[this.at + 1] === '\n') this.at += 2;
      else if (char === '#') {
        const end = this.text.indexOf('\n', this.at);
        this.at = end < 0 ? this.text.length : end;
      } else if (char === '\n' && lines) {
        this.at++;
        this.endOfLine();
      } else if (char === ';' && lines && this.text[this.at + 1] !== ';') this.at++;
      else return;
    }
  }

  /** Returns the next unquoted word without consuming it. */
  peekWord(): string {
    let end = this.at;
    while (end < this.text.length && !wordEnd.has(this.text.charAt(end)) && !/['"$`\\]/.test(this.text.charAt(end)))
      end++;
    return this.text.slice(this.at, end);
  }

  word(): Word {
    const pieces = new PieceList(false);
    for (;;) {
      const char = this.text[this.at];
      if (char === undefined || wordEnd.has(char)) break;
      if (char === "'") pieces.add({ kind: 'text', text: this.#singleQuoted(), isQuoted: true });
      else if (char === '"') {
        this.at++;
        pieces.add(...this.#doubleQuoted());
      } else if (char === '\\') {
        const escaped = this.text[this.at + 1] ?? '';
        if (escaped !== '\n') pieces.add({ kind: 'text', text: escaped, isQuoted: true });
        this.at += 2;
      } else if (char === '$' && this.text[this.at + 1] === "'") {
        this.at++;
        pieces.add({ kind: 'text', text: unescapeC(this.#singleQuoted()), isQuoted: true });
      } else this.#expansionOrText(pieces);
    }
    return pieces.all();
  }

  /** Parses a text with variables that is not split into words: the body of a here-document. */
  hereDocument(): Word {
    return this.#expanding(() => this.isAtEnd);
  }

  /** Parses `((…))`, with or without a leading dollar. */
  arithmetic(): Word {
    this.at += 2;
    let depth = 0;
    const pieces = this.#expanding(() => {
      if (this.isAtEnd) this.fail("unexpected EOF while looking for matching `))'");
      if (depth === 0 && this.startsWith('))')) return true;
      if (this.startsWith('(')) depth++;
      if (this.startsWith(')')) depth--;
      return false;
    });
    this.at += 2;
    return pieces;
  }

  #singleQuoted(): string {
    const end = this.text.indexOf("'", this.at + 1);
    if (end < 0) this.fail("unexpected EOF while looking for matching `''");
    const text = this.text.slice(this.at + 1, end);
    this.at = end + 1;
    return text;
  }

  #doubleQuoted(): Piece[] {
    const pieces = this.#expanding(() => {
      if (this.isAtEnd) this.fail('unexpected EOF while looking for matching `"\'');
      return this.startsWith('"');
    });
    this.at++;
    return pieces.length === 0 ? [{ kind: 'text', text: '', isQuoted: true }] : [...pieces];
  }

  #expanding(isEnd: () => boolean): Piece[] {
    const pieces = new PieceList(true);
    while (!isEnd()) {
      const escaped = this.text[this.at + 1] ?? '';
      if (this.startsWith('\\') && /[$`"\\\n]/.test(escaped)) {
        if (escaped !== '\n') pieces.addText(escaped);
        this.at += 2;
      } else this.#expansionOrText(pieces);
    }
    return pieces.all();
  }

  /** Parses a variable, a substitution or a literal character. */
  #expansionOrText(pieces: PieceList): void {
    const char = this.text[this.at] ?? '';
    if (char === '$' || char === '`') {
      const piece = this.within(() => this.#dollar(pieces.isQuoted));
      if (piece) pieces.add(piece);
      else pieces.addText('$');
    } else {
      pieces.addText(char);
      this.at++;
    }
  }

  /** Parses an expansion after a dollar or backquote; undefined for a literal dollar. */
  #dollar(isQuoted: boolean): Piece | undefined {
    if (this.startsWith('`')) return this.#backquoted(isQuoted);
    if (this.startsWith('$((')) {
      this.at++;
      return { kind: 'arithmetic', expression: this.arithmetic(), isQuoted };
    }
    if (this.startsWith('$(')) {
      this.at += 2;
      const script = this.script([]);
      this.skipBlankLines();
      if (!this.startsWith(')')) this.fail("unexpected EOF while looking for matching `)'");
      this.at++;
      return { kind: 'command', script, isQuoted };
    }
    if (this.startsWith('${')) return this.#braced(isQuoted);
    const name = /\$([A-Za-z_]\w*|[@*#?$!0-9-])/y;
    name.lastIndex = this.at;
    const match = name.exec(this.text);
    if (!match) {
      this.at++;
      return undefined;
    }
    this.at = name.lastIndex;
    return { kind: 'variable', name: match[1] ?? '', isQuoted };
  }

  #backquoted(isQuoted: boolean): Piece {
    let end = this.at + 1;
    while (end < this.text.length && this.text[end] !== '`') end += this.text[end] === '\\' ? 2 : 1;
    if (end >= this.text.length) this.fail("unexpected EOF while looking for matching ``'");
    const inner = this.text.slice(this.at + 1, end).replace(/\\([`$\\])/g, '$1');
    this.at = end + 1;
    return { kind: 'command', script: this.#inner(inner).script([]), isQuoted };
  }

  #braced(isQuoted: boolean): Piece {
    const start = /\$\{(#?)([A-Za-z_]\w*|[@*#?0-9-])(\[[@*\d]\])?/y;
    start.lastIndex = this.at;
    const match = start.exec(this.text);
    if (!match) this.fail('bad substitution');
    this.at = start.lastIndex;
    const name = match[2] ?? '';
    if (match[1] === '#') {
      this.#closeBrace();
      return { kind: 'variable', name, isQuoted, operator: 'length' };
    }
    const operator = operators.find((each) => this.startsWith(each));
    if (operator === undefined) {
      this.#closeBrace();
      return { kind: 'variable', name, isQuoted };
    }
    this.at += operator.length;
    const isReplacing = operator === '/' || operator === '//';
    const operand = this.#operand(isReplacing);
    let replacement: Word | undefined;
    if (isReplacing && this.startsWith('/')) {
      this.at++;
      replacement = this.#operand(false);
    }
    this.#closeBrace();
    return { kind: 'variable', name, isQuoted, operator, operand, ...(replacement && { replacement }) };
  }

  #operand(endsAtSlash: boolean): Word {
    const pieces = new PieceList(false);
    while (!this.startsWith('}') && !(endsAtSlash && this.startsWith('/'))) {
      const char = this.text[this.at];
      if (char === undefined) this.fail("unexpected EOF while looking for matching `}'");
      if (char === "'") pieces.add({ kind: 'text', text: this.#singleQuoted(), isQuoted: true });
      else if (char === '"') {
        this.at++;
        pieces.add(...this.#doubleQuoted());
      } else if (char === '\\') {
        pieces.addText(this.text[this.at + 1] ?? '');
        this.at += 2;
      } else this.#expansionOrText(pieces);
    }
    return pieces.all();
  }

  #closeBrace(): void {
    if (!this.startsWith('}')) this.fail('bad substitution');
    this.at++;
  }

  #inner(text: string): WordReader {
    return new (this.constructor as new (text: string, depth: number) => WordReader)(text, this.#depth);
  }
}

/** Interprets backslash escapes as `$'…'` and `echo -e` do. */
export function unescapeC(text: string): string {
  return text.replace(/\\(n|t|r|a|b|f|v|e|0[0-7]{0,3}|x[0-9a-fA-F]{1,2}|.)/g, (_, code: string) => {
    const simple: Record<string, string> = {
      n: '\n',
      t: '\t',
      r: '\r',
      a: '\x07',
      b: '\b',
      f: '\f',
      v: '\v',
      e: '\x1b',
    };
    if (code in simple) return must(simple[code], 'simple[code]');
    if (code.startsWith('x')) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    if (code.startsWith('0')) return String.fromCharCode(Number.parseInt(code, 8) || 0);
    return code;
  });
}
