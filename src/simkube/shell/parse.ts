import { shellLimits } from './limits.ts';
import {
  type Command,
  type Pipeline,
  type Redirect,
  type Script,
  ShellSyntaxError,
  type SimpleCommand,
  type Statement,
  type Word,
} from './syntax.ts';
import { WordReader } from './word-reader.ts';

const reserved: ReadonlySet<string> = new Set([
  'if',
  'then',
  'elif',
  'else',
  'fi',
  'for',
  'while',
  'until',
  'do',
  'done',
  'case',
  'esac',
  '{',
  '}',
  '!',
  'function',
]);
const assignment = /^([A-Za-z_]\w*)(\+?)=/;
const redirection = /(\d*|&)(<<<|<<-|<<|>>|>&|>\||<&|<|>)/y;

/** Parses a script. Throws ShellSyntaxError. */
export function parseScript(text: string): Script {
  if (text.length > shellLimits.script) throw new ShellSyntaxError('script is too long', 1);
  const parser = new Parser(text);
  return parser.whole();
}

class Parser extends WordReader {
  readonly #hereDocuments: { delimiter: string; isLiteral: boolean; stripsTabs: boolean; body: Word[] }[] = [];

  override script(ends: readonly string[]): Script {
    const statements: Statement[] = [];
    for (;;) {
      this.skipBlankLines();
      if (this.isAtEnd || this.startsWith(')') || this.startsWith(';;')) return statements;
      const word = this.peekWord();
      if (ends.includes(word)) return statements;
      if (reserved.has(word) && !startsCommand(word)) this.fail(`syntax error near unexpected token \`${word}'`);
      statements.push(this.#statement());
    }
  }

  whole(): Script {
    const script = this.script([]);
    if (!this.isAtEnd) this.fail(`syntax error near unexpected token \`${this.text[this.at]}'`);
    return script;
  }

  protected override endOfLine(): void {
    for (const here of this.#hereDocuments.splice(0)) {
      const lines: string[] = [];
      for (;;) {
        if (this.isAtEnd) break;
        const end = this.text.indexOf('\n', this.at);
        const raw = this.text.slice(this.at, end < 0 ? this.text.length : end);
        this.at = end < 0 ? this.text.length : end + 1;
        const line = here.stripsTabs ? raw.replace(/^\t+/, '') : raw;
        if (line === here.delimiter) break;
        lines.push(`${line}\n`);
      }
      const body = lines.join('');
      here.body.push(
        here.isLiteral ? [{ kind: 'text', text: body, isQuoted: true }] : new Parser(body, this.depth).hereDocument(),
      );
    }
  }

  #statement(): Statement {
    const first = this.#pipeline();
    const rest: { operator: '&&' | '||'; pipeline: Pipeline }[] = [];
    for (;;) {
      this.skipBlank();
      const operator = this.startsWith('&&') ? '&&' : this.startsWith('||') ? '||' : undefined;
      if (!operator) break;
      this.at += 2;
      this.skipBlankLines();
      rest.push({ operator, pipeline: this.#pipeline() });
    }
    let isBackground = false;
    if (this.startsWith(';') && !this.startsWith(';;')) this.at++;
    else if (this.startsWith('&')) {
      this.at++;
      isBackground = true;
    }
    return { first, rest, isBackground };
  }

  #pipeline(): Pipeline {
    this.skipBlank();
    let isNegated = false;
    while (this.peekWord() === '!') {
      this.at++;
      this.skipBlank();
      isNegated = !isNegated;
    }
    const commands = [this.#command()];
    for (;;) {
      this.skipBlank();
      if (!this.startsWith('|') || this.startsWith('||')) return { commands, isNegated };
      this.at += this.startsWith('|&') ? 2 : 1;
      this.skipBlankLines();
      commands.push(this.#command());
    }
  }

  #command(): Command {
    return this.within(() => this.#anyCommand());
  }

  #anyCommand(): Command {
    this.skipBlank();
    if (this.startsWith('((')) return this.#arithmeticCommand();
    if (this.startsWith('(')) {
      this.at++;
      const body = this.script([]);
      this.#expectChar(')');
      return { kind: 'group', body, isSubshell: true, redirects: this.#redirects() };
    }
    switch (this.peekWord()) {
      case '[[':
        return this.#doubleBrackets();
      case 'if':
        return this.#if();
      case 'while':
      case 'until':
        return this.#loop();
      case 'for':
        return this.#for();
      case 'case':
        return this.#case();
      case '{': {
        this.#keyword('{');
        const body = this.script(['}']);
        this.#keyword('}');
        return { kind: 'group', body, isSubshell: false, redirects: this.#redirects() };
      }
      case 'function': {
        this.#keyword('function');
        this.skipBlank();
        const name = this.peekWord();
        this.at += name.length;
        this.skipBlank();
        if (this.startsWith('()')) this.at += 2;
        this.skipBlankLines();
        return { kind: 'function', name, body: this.#command() };
      }
    }
    const definition = /([A-Za-z_][\w-]*)[ \t]*\(\)/y;
    definition.lastIndex = this.at;
    const found = definition.exec(this.text);
    if (found) {
      this.at = definition.lastIndex;
      this.skipBlankLines();
      return { kind: 'function', name: found[1] ?? '', body: this.#command() };
    }
    return this.#simple();
  }

  #simple(): SimpleCommand {
    const assignments: { name: string; value: Word; isAppended: boolean }[] = [];
    const words: Word[] = [];
    const redirects: Redirect[] = [];
    const line = this.line;
    for (;;) {
      this.skipBlank();
      if (this.isAtEnd || /[\n;|)]/.test(this.text.charAt(this.at))) break;
      if (this.startsWith('&') && !this.startsWith('&>')) break;
      const redirect = this.#redirect();
      if (redirect) {
        redirects.push(...redirect);
        continue;
      }
      if (this.startsWith('(')) this.fail("syntax error near unexpected token `('");
      const ahead = words.length === 0 ? assignment.exec(this.text.slice(this.at, this.at + 128)) : null;
      if (ahead) {
        this.at += ahead[0].length;
        assignments.push({ name: ahead[1] ?? '', value: this.word(), isAppended: ahead[2] === '+' });
      } else {
        words.push(this.word());
      }
    }
    if (words.length === 0 && assignments.length === 0 && redirects.length === 0) {
      this.fail(
        this.isAtEnd
          ? 'syntax error: unexpected end of file'
          : `syntax error near unexpected token \`${this.text[this.at] === '\n' ? 'newline' : this.text[this.at]}'`,
      );
    }
    return { kind: 'simple', assignments, words, redirects, line };
  }

  /** Parses `[[ … ]]`, in which operators are words. */
  #doubleBrackets(): Command {
    const line = this.line;
    const text = (value: string): Word => [{ kind: 'text', text: value, isQuoted: true }];
    const words: Word[] = [text('[[')];
    this.at += 2;
    let isPattern = false;
    for (;;) {
      this.skipBlankLines();
      if (this.isAtEnd) this.fail("unexpected EOF while looking for `]]'");
      if (this.startsWith(']]')) break;
      const operator = ['&&', '||', '(', ')', '<', '>'].find((each) => this.startsWith(each));
      if (isPattern) {
        const end = /\s/g;
        end.lastIndex = this.at;
        const stop = end.exec(this.text)?.index ?? this.text.length;
        words.push(new Parser(this.text.slice(this.at, stop), this.depth).hereDocument());
        this.at = stop;
        isPattern = false;
      } else if (operator) {
        this.at += operator.length;
        words.push(text(operator));
      } else {
        isPattern = this.peekWord() === '=~';
        words.push(this.#someWord());
      }
    }
    this.at += 2;
    words.push(text(']]'));
    return { kind: 'simple', assignments: [], words, redirects: this.#redirects(), line };
  }

  /** Parses `((expression))`, which equals `let`. */
  #arithmeticCommand(): Command {
    const line = this.line;
    const expression = this.arithmetic();
    const name: Word = [{ kind: 'text', text: 'let', isQuoted: false }];
    const argument: Word = [{ kind: 'text', text: '0+', isQuoted: true }, ...expression];
    return { kind: 'simple', assignments: [], words: [name, argument], redirects: [], line };
  }

  #redirects(): Redirect[] {
    const found: Redirect[] = [];
    for (;;) {
      this.skipBlank();
      const redirect = this.#redirect();
      if (!redirect) return found;
      found.push(...redirect);
    }
  }

  #redirect(): Redirect[] | undefined {
    redirection.lastIndex = this.at;
    const match = redirection.exec(this.text);
    if (!match) return undefined;
    this.at = redirection.lastIndex;
    const [, source = '', kind = ''] = match;
    this.skipBlank();
    if (kind === '<<' || kind === '<<-') return [this.#hereDocument(kind === '<<-')];
    const target = this.#someWord();
    const from = source === '' || source === '&' ? (kind.startsWith('<') ? 0 : 1) : Number(source);
    if (source === '&') {
      return [
        { from: 1, kind, target },
        { from: 2, kind: '>&', target: [{ kind: 'text', text: '1', isQuoted: true }] },
      ];
    }
    return [{ from, kind: kind === '>|' ? '>' : kind, target }];
  }

  #hereDocument(stripsTabs: boolean): Redirect {
    const start = this.at;
    const word = this.#someWord();
    const isLiteral = /['"\\]/.test(this.text.slice(start, this.at));
    const delimiter = word.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');
    const body: Word[] = [];
    this.#hereDocuments.push({ delimiter, isLiteral, stripsTabs, body });
    return {
      from: 0,
      kind: '<<',
      // The body is known only at the end of the line.
      get target() {
        return body[0] ?? [];
      },
    };
  }

  #if(): Command {
    const branches: { test: Script; body: Script }[] = [];
    let otherwise: Script | undefined;
    this.#keyword('if');
    for (;;) {
      const test = this.script(['then']);
      this.#keyword('then');
      branches.push({ test, body: this.script(['elif', 'else', 'fi']) });
      const word = this.peekWord();
      if (word === 'elif') {
        this.#keyword('elif');
        continue;
      }
      if (word === 'else') {
        this.#keyword('else');
        otherwise = this.script(['fi']);
      }
      this.#keyword('fi');
      return { kind: 'if', branches, otherwise, redirects: this.#redirects() };
    }
  }

  #loop(): Command {
    const isUntil = this.peekWord() === 'until';
    this.#keyword(isUntil ? 'until' : 'while');
    const test = this.script(['do']);
    return { kind: 'loop', test, isUntil, body: this.#body(), redirects: this.#redirects() };
  }

  #for(): Command {
    this.#keyword('for');
    this.skipBlank();
    const name = this.peekWord();
    if (!/^[A-Za-z_]\w*$/.test(name)) this.fail(`syntax error near unexpected token \`${name}'`);
    this.at += name.length;
    this.skipBlankLines();
    let words: Word[] | undefined;
    if (this.peekWord() === 'in') {
      this.at += 2;
      words = [];
      for (;;) {
        this.skipBlank();
        if (this.isAtEnd || /[\n;]/.test(this.text.charAt(this.at))) break;
        words.push(this.#someWord());
      }
    }
    if (this.startsWith(';')) this.at++;
    this.skipBlankLines();
    return { kind: 'for', name, words, body: this.#body(), redirects: this.#redirects() };
  }

  #body(): Script {
    this.skipBlankLines();
    this.#keyword('do');
    const body = this.script(['done']);
    this.#keyword('done');
    return body;
  }

  #case(): Command {
    this.#keyword('case');
    this.skipBlank();
    const word = this.#someWord();
    this.skipBlankLines();
    this.#keyword('in');
    const branches: { patterns: Word[]; body: Script }[] = [];
    for (;;) {
      this.skipBlankLines();
      if (this.peekWord() === 'esac') break;
      if (this.isAtEnd) this.fail('syntax error: unexpected end of file');
      if (this.startsWith('(')) this.at++;
      const patterns: Word[] = [];
      for (;;) {
        this.skipBlank();
        patterns.push(this.#someWord());
        this.skipBlank();
        if (!this.startsWith('|')) break;
        this.at++;
      }
      this.#expectChar(')');
      const body = this.script(['esac']);
      if (this.startsWith(';;')) this.at += 2;
      branches.push({ patterns, body });
    }
    this.#keyword('esac');
    return { kind: 'case', word, branches, redirects: this.#redirects() };
  }

  /** Parses a required word. */
  #someWord(): Word {
    const start = this.at;
    const word = this.word();
    if (this.at === start) {
      this.fail(
        this.isAtEnd
          ? 'syntax error: unexpected end of file'
          : `syntax error near unexpected token \`${this.text[start] === '\n' ? 'newline' : this.text[start]}'`,
      );
    }
    return word;
  }

  #keyword(word: string): void {
    this.skipBlankLines();
    if (this.peekWord() !== word) {
      this.fail(
        this.isAtEnd
          ? `syntax error: unexpected end of file (expecting "${word}")`
          : `syntax error near unexpected token \`${this.peekWord() || this.text[this.at]}' (expecting "${word}")`,
      );
    }
    this.at += word.length;
  }

  #expectChar(char: string): void {
    this.skipBlankLines();
    if (!this.startsWith(char)) {
      this.fail(this.isAtEnd ? 'syntax error: unexpected end of file' : `syntax error: expecting "${char}"`);
    }
    this.at += char.length;
  }
}

function startsCommand(word: string): boolean {
  return ['if', 'for', 'while', 'until', 'case', '{', '!', 'function'].includes(word);
}
