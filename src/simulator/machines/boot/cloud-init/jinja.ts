import { must } from '../../../../machinery/index.ts';
import { Expression, isTrue, shown, TemplateError } from './jinja-expression.ts';

export { TemplateError };

export interface Rendered {
  readonly text: string;
  /** missing variables; cloud-init renders them as CI_MISSING_JINJA_VAR/ and the name */
  readonly missing: readonly string[];
}

type Token =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'print' | 'statement'; readonly text: string; readonly line: number };

const opening = /\{\{|\{%|\{#/g;

/**
 * Renders the subset of jinja that user data commonly uses: variables with filters, if, for, set, raw and comments.
 * Anything else is a TemplateError, like a syntax error.
 */
export function renderJinja(template: string, variables: Readonly<Record<string, unknown>>): Rendered {
  const state = new Renderer(tokens(template), variables);
  return { text: state.all(), missing: state.missing };
}

function tokens(template: string): Token[] {
  const found: Token[] = [];
  let at = 0;
  const lineAt = (index: number): number => template.slice(0, index).split('\n').length;
  opening.lastIndex = 0;
  for (let match = opening.exec(template); match; match = opening.exec(template)) {
    const start = match.index;
    const kind = match[0];
    const close = kind === '{{' ? '}}' : kind === '{%' ? '%}' : '#}';
    const end = template.indexOf(close, start + 2);
    if (end < 0) {
      const what = kind === '{#' ? 'Missing end of comment tag' : `unexpected end of template, expected '${close}'.`;
      throw new TemplateError(what, lineAt(start));
    }
    let before = template.slice(at, start);
    let inner = template.slice(start + 2, end);
    if (inner.startsWith('-')) {
      before = before.trimEnd();
      inner = inner.slice(1);
    }
    at = end + 2;
    if (inner.endsWith('-')) {
      inner = inner.slice(0, -1);
      while (at < template.length && /\s/.test(template.charAt(at))) at++;
    } else if (kind !== '{{' && inner.trim() !== 'raw' && template[at] === '\n') {
      // cloud-init enables trim_blocks: the line break after a statement is removed.
      at++;
    }
    if (before !== '') found.push({ kind: 'text', text: before });
    if (kind === '{%' && inner.trim() === 'raw') {
      const raw = /\{%-?\s*endraw\s*-?%\}/.exec(template.slice(at));
      if (!raw) throw new TemplateError('Missing end of raw directive', lineAt(start));
      found.push({ kind: 'text', text: template.slice(at, at + raw.index) });
      at += raw.index + raw[0].length;
      if (template[at] === '\n') at++;
    } else if (kind !== '{#') {
      found.push({ kind: kind === '{{' ? 'print' : 'statement', text: inner.trim(), line: lineAt(start) });
    }
    opening.lastIndex = at;
  }
  if (at < template.length) found.push({ kind: 'text', text: template.slice(at) });
  return found;
}

class Renderer {
  readonly missing: string[] = [];
  readonly #tokens: readonly Token[];
  #scope: Record<string, unknown>;
  #at = 0;

  constructor(list: readonly Token[], variables: Readonly<Record<string, unknown>>) {
    this.#tokens = list;
    this.#scope = { ...variables };
  }

  all(): string {
    const text = this.#block([], { isShown: true });
    const left = this.#tokens[this.#at];
    if (left && left.kind === 'statement')
      throw new TemplateError(`Encountered unknown tag '${left.text}'.`, left.line);
    return text;
  }

  /** Renders up to a statement that ends the block. The caller consumes that statement. */
  #block(ends: readonly string[], { isShown }: { isShown: boolean }): string {
    let out = '';
    for (; this.#at < this.#tokens.length; this.#at++) {
      const token = must(this.#tokens[this.#at], 'tokens[at]');
      if (token.kind === 'text') {
        if (isShown) out += token.text;
      } else if (token.kind === 'print') {
        if (isShown) out += shown(this.#value(token.text, token.line));
      } else {
        const word = token.text.split(/\s/, 1)[0] ?? '';
        if (ends.includes(word)) return out;
        out += this.#statement(word, token.text.slice(word.length).trim(), token.line, isShown);
      }
    }
    return out;
  }

  #statement(word: string, rest: string, line: number, isShown: boolean): string {
    switch (word) {
      case 'if':
        return this.#conditional(rest, line, isShown);
      case 'for':
        return this.#loop(rest, line, isShown);
      case 'set': {
        const parts = /^(\w+)\s*=\s*([\s\S]+)$/.exec(rest);
        if (!parts) throw new TemplateError(`expected an assignment, got '${rest}'`, line);
        if (isShown) this.#scope[parts[1] ?? ''] = this.#value(parts[2] ?? '', line);
        return '';
      }
      default:
        throw new TemplateError(`Encountered unknown tag '${word}'.`, line);
    }
  }

  #conditional(test: string, line: number, isShown: boolean): string {
    let isOpen = isShown;
    let condition = isOpen && isTrue(this.#value(test, line));
    let out = '';
    for (;;) {
      this.#at++;
      out += this.#block(['elif', 'else', 'endif'], { isShown: condition });
      const token = this.#tokens[this.#at];
      if (token?.kind !== 'statement') {
        throw new TemplateError(
          "Unexpected end of template. Jinja was looking for the following tags: 'elif' or 'else' or 'endif'.",
          line,
        );
      }
      if (condition) isOpen = false;
      if (token.text === 'endif') return out;
      condition = isOpen && (token.text === 'else' || isTrue(this.#value(token.text.slice(4).trim(), token.line)));
    }
  }

  #loop(rest: string, line: number, isShown: boolean): string {
    const parts = /^(\w+)\s+in\s+([\s\S]+)$/.exec(rest);
    if (!parts) throw new TemplateError(`expected 'in', got '${rest}'`, line);
    const list = isShown ? this.#value(parts[2] ?? '', line) : [];
    const items = Array.isArray(list) ? list : typeof list === 'object' && list !== null ? Object.keys(list) : [];
    const start = this.#at + 1;
    const outer = this.#scope;
    let out = '';
    const turn = (isTurn: boolean): string => {
      this.#at = start;
      const text = this.#block(['endfor'], { isShown: isTurn });
      if (this.#tokens[this.#at]?.kind !== 'statement') {
        throw new TemplateError("Unexpected end of template. Jinja was looking for 'endfor'.", line);
      }
      return text;
    };
    for (const item of items) {
      this.#scope = { ...outer, [parts[1] ?? '']: item };
      out += turn(isShown);
    }
    this.#scope = outer;
    return items.length === 0 ? turn(false) : out;
  }

  #value(expression: string, line: number): unknown {
    return new Expression(expression, line, this.#scope, this.missing).whole();
  }
}
