export type TokenType =
  | 'error'
  | 'bool'
  | 'char'
  | 'charConstant'
  | 'complex'
  | 'assign'
  | 'declare'
  | 'eof'
  | 'field'
  | 'identifier'
  | 'leftDelim'
  | 'leftParen'
  | 'number'
  | 'pipe'
  | 'rawString'
  | 'rightDelim'
  | 'rightParen'
  | 'space'
  | 'string'
  | 'text'
  | 'variable'
  | 'block'
  | 'break'
  | 'continue'
  | 'dot'
  | 'define'
  | 'else'
  | 'end'
  | 'if'
  | 'nil'
  | 'range'
  | 'template'
  | 'with';

export interface Token {
  readonly type: TokenType;
  /** offset in the text */
  readonly at: number;
  readonly text: string;
  readonly line: number;
}

const keywords: ReadonlySet<string> = new Set([
  'block',
  'break',
  'continue',
  'define',
  'else',
  'end',
  'if',
  'nil',
  'range',
  'template',
  'with',
]);

export const isKeyword = (type: TokenType): boolean => keywords.has(type) || type === 'dot';

const alphanumeric = /[\p{L}\p{Nd}_]/u;
const isAsciiWord = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39) || code === 0x5f;
const isSpace = (char: string | undefined): boolean => char === ' ' || char === '\t' || char === '\r' || char === '\n';

/** Splits a template into tokens, with Go's rules for `{{- ` and ` -}}`. An error is a last token of type `error`. */
export class Lexer {
  readonly #text: string;
  #at = 0;
  #start = 0;
  #line = 1;
  #startLine = 1;
  #isInside = false;
  #parens = 0;
  #ended: Token | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  next(): Token {
    if (this.#ended) return this.#ended;
    return this.#isInside ? this.#inside() : this.#outside();
  }

  #emit(type: TokenType): Token {
    const token = { type, at: this.#start, text: this.#text.slice(this.#start, this.#at), line: this.#startLine };
    this.#skip();
    return token;
  }

  /** Discards the text read since the last token. */
  #skip(): void {
    for (let i = this.#start; i < this.#at; i++) if (this.#text.charCodeAt(i) === 10) this.#line++;
    this.#start = this.#at;
    this.#startLine = this.#line;
  }

  #fail(message: string): Token {
    this.#ended = { type: 'error', at: this.#start, text: message, line: this.#startLine };
    return this.#ended;
  }

  #outside(): Token {
    const text = this.#text;
    for (;;) {
      const open = text.indexOf('{{', this.#at);
      const end = open < 0 ? text.length : open;
      let kept = end;
      if (open >= 0 && text[open + 2] === '-' && isSpace(text[open + 3])) {
        while (kept > this.#start && isSpace(text[kept - 1])) kept--;
      }
      if (kept > this.#start) {
        this.#at = kept;
        return this.#emit('text');
      }
      this.#at = end;
      this.#skip();
      if (open < 0) {
        this.#ended = { type: 'eof', at: this.#at, text: 'EOF', line: this.#startLine };
        return this.#ended;
      }
      const trim = text[open + 2] === '-' && isSpace(text[open + 3]) ? 2 : 0;
      if (text.startsWith('/*', open + 2 + trim)) {
        const failure = this.#comment(open + 2 + trim);
        if (failure) return failure;
        continue;
      }
      this.#at = open + 2;
      const token = this.#emit('leftDelim');
      this.#at += trim;
      this.#skip();
      this.#isInside = true;
      this.#parens = 0;
      return token;
    }
  }

  #comment(from: number): Token | undefined {
    this.#at = from;
    this.#skip();
    const close = this.#text.indexOf('*/', from + 2);
    if (close < 0) return this.#fail('unclosed comment');
    this.#at = close + 2;
    const end = this.#rightDelim();
    if (!end) return this.#fail('comment ends before closing delimiter');
    this.#at += end.length;
    if (end.isTrimming) while (isSpace(this.#text[this.#at])) this.#at++;
    this.#skip();
    return undefined;
  }

  #rightDelim(): { length: number; isTrimming: boolean } | undefined {
    const text = this.#text;
    if (isSpace(text[this.#at]) && text.startsWith('-}}', this.#at + 1)) return { length: 4, isTrimming: true };
    return text.startsWith('}}', this.#at) ? { length: 2, isTrimming: false } : undefined;
  }

  #inside(): Token {
    const text = this.#text;
    const end = this.#rightDelim();
    if (end) return this.#parens === 0 ? this.#close(end) : this.#fail('unclosed left paren');
    const char = text[this.#at];
    if (char === undefined) return this.#fail('unclosed action');
    if (isSpace(char)) return this.#spaces();
    switch (char) {
      case '=':
        this.#at++;
        return this.#emit('assign');
      case ':':
        if (text[this.#at + 1] !== '=') return this.#fail('expected :=');
        this.#at += 2;
        return this.#emit('declare');
      case '|':
        this.#at++;
        return this.#emit('pipe');
      case '"':
        return this.#quoted('"', 'string', 'unterminated quoted string');
      case "'":
        return this.#quoted("'", 'charConstant', 'unterminated character constant');
      case '`': {
        const close = text.indexOf('`', this.#at + 1);
        if (close < 0) return this.#fail('unterminated raw quoted string');
        this.#at = close + 1;
        return this.#emit('rawString');
      }
      case '$':
        this.#at++;
        return this.#fieldOrVariable('variable');
      case '(':
        this.#at++;
        this.#parens++;
        return this.#emit('leftParen');
      case ')':
        this.#at++;
        if (--this.#parens < 0) return this.#fail('unexpected right paren');
        return this.#emit('rightParen');
    }
    if (isAsciiWord(char.charCodeAt(0)) && !(char >= '0' && char <= '9')) return this.#identifier();
    if (char === '.' && !/[0-9]/.test(text[this.#at + 1] ?? '')) {
      this.#at++;
      return this.#fieldOrVariable('field');
    }
    if (/[.+\-0-9]/.test(char)) return this.#number();
    const rune = String.fromCodePoint(text.codePointAt(this.#at) ?? 0);
    if (alphanumeric.test(rune)) return this.#identifier();
    this.#at += rune.length;
    if (/[ -~]/.test(rune)) return this.#emit('char');
    return this.#fail(`unrecognized character in action: ${describeRune(rune)}`);
  }

  #close({ length, isTrimming }: { length: number; isTrimming: boolean }): Token {
    this.#at += length - 2;
    this.#skip();
    this.#at += 2;
    const token = this.#emit('rightDelim');
    if (isTrimming) {
      while (isSpace(this.#text[this.#at])) this.#at++;
      this.#skip();
    }
    this.#isInside = false;
    return token;
  }

  #spaces(): Token {
    const text = this.#text;
    while (isSpace(text[this.#at])) this.#at++;
    // The last space belongs to a following trim mark.
    if (text.startsWith('-}}', this.#at)) {
      this.#at--;
      if (this.#at === this.#start) return this.#inside();
    }
    return this.#emit('space');
  }

  #word(): void {
    for (;;) {
      const code = this.#text.codePointAt(this.#at);
      if (code === undefined) return;
      if (code < 0x80) {
        if (!isAsciiWord(code)) return;
        this.#at++;
        continue;
      }
      const rune = String.fromCodePoint(code);
      if (!alphanumeric.test(rune)) return;
      this.#at += rune.length;
    }
  }

  #isAtTerminator(): boolean {
    const char = this.#text[this.#at];
    return char === undefined || isSpace(char) || '.,|:)('.includes(char) || this.#text.startsWith('}}', this.#at);
  }

  #badCharacter(): Token {
    return this.#fail(`bad character ${describeRune(String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0))}`);
  }

  #identifier(): Token {
    this.#word();
    if (!this.#isAtTerminator()) return this.#badCharacter();
    const word = this.#text.slice(this.#start, this.#at);
    if (keywords.has(word)) return this.#emit(word as TokenType);
    return this.#emit(word === 'true' || word === 'false' ? 'bool' : 'identifier');
  }

  #fieldOrVariable(type: 'field' | 'variable'): Token {
    if (this.#isAtTerminator()) return this.#emit(type === 'variable' ? 'variable' : 'dot');
    this.#word();
    return this.#isAtTerminator() ? this.#emit(type) : this.#badCharacter();
  }

  #quoted(quote: string, type: TokenType, failure: string): Token {
    const text = this.#text;
    for (this.#at++; ; this.#at++) {
      let char = text[this.#at];
      if (char === '\\') char = text[++this.#at] === '\n' ? '\n' : text[this.#at] === undefined ? undefined : '\\';
      if (char === undefined || char === '\n') return this.#fail(failure);
      if (char === quote) break;
    }
    this.#at++;
    return this.#emit(type);
  }

  #number(): Token {
    const bad = (): Token =>
      this.#fail(`bad number syntax: ${JSON.stringify(this.#text.slice(this.#start, this.#at))}`);
    if (!this.#scanNumber()) return bad();
    const sign = this.#text[this.#at];
    if (sign !== '+' && sign !== '-') return this.#emit('number');
    if (!this.#scanNumber() || this.#text[this.#at - 1] !== 'i') return bad();
    return this.#emit('complex');
  }

  #scanNumber(): boolean {
    const shape =
      /[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*(?:\.[0-7_]*)?|0[bB][01_]*(?:\.[01_]*)?|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?/y;
    shape.lastIndex = this.#at;
    shape.exec(this.#text);
    this.#at = shape.lastIndex;
    const code = this.#text.codePointAt(this.#at);
    if (code === undefined) return true;
    const rune = String.fromCodePoint(code);
    if (!alphanumeric.test(rune)) return true;
    this.#at += rune.length;
    return false;
  }
}

/** Formats as `U+0040 '@'`. */
function describeRune(rune: string): string {
  const hex = (rune.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return /[\p{C}\p{Z}]/u.test(rune) && rune !== ' ' ? `U+${hex}` : `U+${hex} '${rune}'`;
}
