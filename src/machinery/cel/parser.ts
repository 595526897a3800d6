import { must } from '../errors/must.ts';
import type { Expression, ListItem, MapEntry } from './ast.ts';
import { type Token, tokenize } from './lexer.ts';
import { expandMacro } from './macros.ts';
import { CelSourceError, CelSyntaxError } from './source-error.ts';

const reserved = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(
    ' ',
  ),
);
const relations = new Set(['<', '<=', '>=', '>', '==', '!=']);
const maxDepth = 250;
const expectedAtStart =
  "'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER";

/** Parses a CEL expression and expands macros. Throws CelSourceError. */
export function parseExpression(source: string): Expression {
  return new Parser(source).parse();
}

class Parser {
  readonly #source: string;
  readonly #tokens: Token[];
  #position = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
    this.#tokens = tokenize(source);
  }

  parse(): Expression {
    const expression = this.#expression();
    const token = this.#token;
    if (token.kind !== 'end') {
      throw new CelSyntaxError(this.#source, token.at, `extraneous input '${token.text}' expecting <EOF>`);
    }
    return expression;
  }

  get #token(): Token {
    return must(this.#tokens[this.#position], 'tokens[position]');
  }

  #is(text: string): boolean {
    const token = this.#token;
    return token.kind === 'operator' && token.text === text;
  }

  #accept(text: string): boolean {
    if (!this.#is(text)) return false;
    this.#position++;
    return true;
  }

  #expect(text: string): void {
    if (!this.#accept(text)) throw this.#unexpected(`expecting '${text}'`);
  }

  #unexpected(hint = ''): CelSourceError {
    const token = this.#token;
    const found = token.kind === 'end' ? '<EOF>' : token.text;
    const tail = hint === '' ? '' : ` ${hint}`;
    return new CelSyntaxError(this.#source, token.at, `mismatched input '${found}'${tail}`);
  }

  #expression(): Expression {
    if (++this.#depth > maxDepth) {
      throw new CelSyntaxError(this.#source, this.#token.at, 'expression recursion limit exceeded');
    }
    const condition = this.#or();
    let result = condition;
    if (this.#is('?')) {
      const { at } = this.#token;
      this.#position++;
      const then = this.#or();
      this.#expect(':');
      result = { kind: 'conditional', at, condition, then, otherwise: this.#expression() };
    }
    this.#depth--;
    return result;
  }

  #or(): Expression {
    let left = this.#and();
    while (this.#is('||')) {
      const { at } = this.#token;
      this.#position++;
      left = { kind: 'or', at, left, right: this.#and() };
    }
    return left;
  }

  #and(): Expression {
    let left = this.#relation();
    while (this.#is('&&')) {
      const { at } = this.#token;
      this.#position++;
      left = { kind: 'and', at, left, right: this.#relation() };
    }
    return left;
  }

  #relation(): Expression {
    let left = this.#addition();
    for (;;) {
      const token = this.#token;
      const isIn = token.kind === 'identifier' && token.text === 'in';
      if (!isIn && !(token.kind === 'operator' && relations.has(token.text))) return left;
      this.#position++;
      left = this.#binary(token, left, this.#addition());
    }
  }

  #addition(): Expression {
    let left = this.#multiplication();
    while (this.#is('+') || this.#is('-')) {
      const token = this.#token;
      this.#position++;
      left = this.#binary(token, left, this.#multiplication());
    }
    return left;
  }

  #multiplication(): Expression {
    let left = this.#unary();
    while (this.#is('*') || this.#is('/') || this.#is('%')) {
      const token = this.#token;
      this.#position++;
      left = this.#binary(token, left, this.#unary());
    }
    return left;
  }

  #binary(token: Token, left: Expression, right: Expression): Expression {
    const name = token.text === 'in' ? '@in' : `_${token.text}_`;
    return { kind: 'call', at: token.at, name, target: undefined, args: [left, right] };
  }

  #unary(): Expression {
    const token = this.#token;
    if (!this.#is('!') && !this.#is('-')) return this.#member();
    if (++this.#depth > maxDepth) {
      throw new CelSyntaxError(this.#source, token.at, 'expression recursion limit exceeded');
    }
    this.#position++;
    const next = this.#token;
    if (
      token.text === '-' &&
      next.kind === 'literal' &&
      (typeof next.value === 'bigint' || typeof next.value === 'number')
    ) {
      next.value = -next.value;
      this.#depth--;
      return this.#member();
    }
    const operand = this.#unary();
    this.#depth--;
    return { kind: 'call', at: token.at, name: `${token.text}_`, target: undefined, args: [operand] };
  }

  #member(): Expression {
    let operand = this.#primary();
    for (;;) {
      const { at } = this.#token;
      if (this.#accept('.')) {
        const optional = this.#accept('?');
        const name = this.#token;
        if (name.kind !== 'identifier') throw this.#unexpected('expecting IDENTIFIER');
        this.#position++;
        operand =
          !optional && this.#is('(')
            ? this.#call(name.text, operand, this.#token.at)
            : { kind: 'select', at, operand, field: name.text, test: false, optional };
      } else if (this.#accept('[')) {
        const optional = this.#accept('?');
        const index = this.#expression();
        this.#expect(']');
        operand = { kind: 'index', at, operand, index, optional };
      } else return operand;
    }
  }

  #call(name: string, target: Expression | undefined, at: number): Expression {
    this.#expect('(');
    const args: Expression[] = [];
    if (!this.#is(')')) {
      do args.push(this.#expression());
      while (this.#accept(','));
    }
    this.#expect(')');
    const call = { kind: 'call' as const, at, name, target, args };
    return expandMacro(call, (problemAt, problem) => new CelSourceError(this.#source, problemAt, problem)) ?? call;
  }

  #primary(): Expression {
    const token = this.#token;
    const { at } = token;
    switch (token.kind) {
      case 'literal':
        this.#position++;
        this.#checkInteger(token);
        return { kind: 'literal', at, value: token.value };
      case 'identifier':
        this.#position++;
        return this.#identifier(token.text, at);
      case 'operator':
        if (this.#accept('(')) {
          const inner = this.#expression();
          this.#expect(')');
          return inner;
        }
        if (this.#accept('[')) return { kind: 'list', at, items: this.#listItems() };
        if (this.#accept('{')) return { kind: 'map', at, entries: this.#mapEntries() };
        if (this.#accept('.')) {
          const name = this.#token;
          if (name.kind !== 'identifier') throw this.#unexpected('expecting IDENTIFIER');
          this.#position++;
          return this.#identifier(name.text, name.at);
        }
        break;
      default:
    }
    throw this.#unexpected(`expecting {${expectedAtStart}}`);
  }

  /** 9223372036854775808 is valid only after a minus. */
  #checkInteger(token: Token): void {
    if (token.kind === 'literal' && token.value === 2n ** 63n) {
      throw new CelSyntaxError(this.#source, token.at, 'invalid int literal');
    }
  }

  #identifier(name: string, at: number): Expression {
    if (name === 'true' || name === 'false') return { kind: 'literal', at, value: name === 'true' };
    if (name === 'null') return { kind: 'literal', at, value: null };
    if (reserved.has(name)) throw new CelSyntaxError(this.#source, at, `reserved identifier: ${name}`);
    if (this.#is('(')) return this.#call(name, undefined, this.#token.at);
    if (this.#is('{'))
      throw new CelSourceError(this.#source, at, `undeclared reference to '${name}' (in container '')`);
    return { kind: 'identifier', at, name };
  }

  #listItems(): ListItem[] {
    const items: ListItem[] = [];
    while (!this.#is(']')) {
      const optional = this.#accept('?');
      items.push({ optional, value: this.#expression() });
      if (!this.#accept(',')) break;
    }
    this.#expect(']');
    return items;
  }

  #mapEntries(): MapEntry[] {
    const entries: MapEntry[] = [];
    while (!this.#is('}')) {
      const optional = this.#accept('?');
      const key = this.#expression();
      this.#expect(':');
      entries.push({ optional, key, value: this.#expression() });
      if (!this.#accept(',')) break;
    }
    this.#expect('}');
    return entries;
  }
}
