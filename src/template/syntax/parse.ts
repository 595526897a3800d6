import { must } from '../../machinery/index.ts';
import { TemplateError } from '../errors.ts';
import { isKeyword, Lexer, type Token, type TokenType } from './lexer.ts';
import {
  type BranchNode,
  type CommandNode,
  type ListNode,
  nodeText,
  type Operand,
  type PipeNode,
  type Source,
  type Statement,
  type TemplateNode,
  type VariableNode,
} from './nodes.ts';
import { parseNumber } from './number.ts';
import { quoteGo, unquoteGo } from './quote.ts';

/** A template of a file: the file itself, or a `define` in it. */
export interface Definition {
  readonly name: string;
  readonly body: ListNode;
}

export interface ParseOptions {
  hasFunction(name: string): boolean;
}

/** Limit of nested expressions and blocks, against malicious templates. */
const maxDepth = 500;

/** End of a list of statements. */
type Ending = { readonly ending: 'end' | 'else' };

/** Parses a file: its own template first, then the defined ones. Throws TemplateError. */
export function parseFile(name: string, text: string, options: ParseOptions): Definition[] {
  return new Parser({ name, text }, options).file();
}

/** Reports whether a template is only white space. Such a template does not replace one with the same name. */
export function isEmptyBody(body: ListNode): boolean {
  return body.nodes.every((node) => node.kind === 'text' && node.text.trim() === '');
}

class Parser {
  readonly #source: Source;
  readonly #options: ParseOptions;
  readonly #lexer: Lexer;
  readonly #tokens: Token[] = [];
  readonly #definitions = new Map<string, Definition>();
  #next = 0;
  #variables: string[] = ['$'];
  #rangeDepth = 0;
  #depth = 0;
  #actionLine = 0;

  constructor(source: Source, options: ParseOptions) {
    this.#source = source;
    this.#options = options;
    this.#lexer = new Lexer(source.text);
  }

  file(): Definition[] {
    const nodes: Statement[] = [];
    while (this.#peek().type !== 'eof') {
      if (this.#peek().type === 'leftDelim') {
        const mark = this.#next;
        this.#take();
        if (this.#takeWord().type === 'define') {
          this.#define();
          continue;
        }
        this.#next = mark;
      }
      const node = this.#statement();
      if ('ending' in node) this.#fail(`unexpected {{${node.ending}}}`);
      nodes.push(node);
    }
    const own = { name: this.#source.name, body: this.#list(0, nodes) };
    this.#add(own);
    return [...this.#definitions.values()];
  }

  #define(): void {
    const name = this.#templateName(this.#takeWord(), 'define clause');
    this.#expect('rightDelim', 'define clause');
    const body = this.#apart(() => this.#body('define clause'));
    this.#add({ name, body });
  }

  /** A definition does not see variables and loops around it. */
  #apart<T>(read: () => T): T {
    const [variables, rangeDepth] = [this.#variables, this.#rangeDepth];
    this.#variables = ['$'];
    this.#rangeDepth = 0;
    const result = read();
    this.#variables = variables;
    this.#rangeDepth = rangeDepth;
    return result;
  }

  #body(context: string): ListNode {
    const { list, ending } = this.#statements();
    if (ending !== 'end') this.#fail(`unexpected {{${ending}}} in ${context}`);
    return list;
  }

  #add(definition: Definition): void {
    const existing = this.#definitions.get(definition.name);
    if (existing === undefined || isEmptyBody(existing.body)) this.#definitions.set(definition.name, definition);
    else if (!isEmptyBody(definition.body)) {
      this.#fail(`template: multiple definition of template ${quoteGo(definition.name)}`);
    }
  }

  #statements(): { list: ListNode; ending: 'end' | 'else' } {
    if (++this.#depth > maxDepth) this.#fail('blocks are nested too deep');
    const at = this.#peekWord().at;
    const nodes: Statement[] = [];
    while (this.#peekWord().type !== 'eof') {
      const node = this.#statement();
      if ('ending' in node) {
        this.#depth--;
        return { list: this.#list(at, nodes), ending: node.ending };
      }
      nodes.push(node);
    }
    return this.#fail('unexpected EOF');
  }

  #list(at: number, nodes: readonly Statement[]): ListNode {
    return { kind: 'list', at, source: this.#source, nodes };
  }

  #statement(): Statement | Ending {
    const token = this.#takeWord();
    if (token.type === 'text') return { kind: 'text', at: token.at, source: this.#source, text: token.text };
    if (token.type !== 'leftDelim') return this.#unexpected(token, 'input');
    this.#actionLine = token.line;
    const node = this.#action();
    this.#actionLine = 0;
    return node;
  }

  #action(): Statement | Ending {
    const token = this.#takeWord();
    switch (token.type) {
      case 'block':
        return this.#block();
      case 'break':
      case 'continue':
        return this.#jump(token, token.type);
      case 'else': {
        const next = this.#peekWord();
        if (next.type !== 'if' && next.type !== 'with') this.#expect('rightDelim', 'else');
        return { ending: 'else' };
      }
      case 'end':
        this.#expect('rightDelim', 'end');
        return { ending: 'end' };
      case 'if':
      case 'range':
      case 'with':
        return this.#branch(token.type);
      case 'template':
        return this.#template();
    }
    this.#next--;
    const at = this.#peek().at;
    return { kind: 'action', at, source: this.#source, pipe: this.#pipeline('command', 'rightDelim') };
  }

  #jump(token: Token, kind: 'break' | 'continue'): Statement {
    const next = this.#takeWord();
    if (next.type !== 'rightDelim') this.#unexpected(next, `{{${kind}}}`);
    if (this.#rangeDepth === 0) this.#fail(`{{${kind}}} outside {{range}}`);
    return { kind, at: token.at, source: this.#source };
  }

  #branch(kind: 'if' | 'with' | 'range'): BranchNode {
    if (++this.#depth > maxDepth) this.#fail('blocks are nested too deep');
    const known = this.#variables.length;
    const pipe = this.#pipeline(kind, 'rightDelim');
    if (kind === 'range') this.#rangeDepth++;
    const { list: body, ending } = this.#statements();
    if (kind === 'range') this.#rangeDepth--;
    let otherwise: ListNode | undefined;
    if (ending === 'else') {
      const next = this.#peek();
      if ((kind === 'if' && next.type === 'if') || (kind === 'with' && next.type === 'with')) {
        this.#take();
        otherwise = this.#list(next.at, [this.#branch(kind)]);
      } else {
        const rest = this.#statements();
        if (rest.ending !== 'end') this.#fail(`expected end; found {{${rest.ending}}}`);
        otherwise = rest.list;
      }
    }
    this.#variables.length = known;
    this.#depth--;
    return { kind, at: pipe.at, source: this.#source, pipe, body, otherwise };
  }

  #block(): TemplateNode {
    const token = this.#takeWord();
    const name = this.#templateName(token, 'block clause');
    const pipe = this.#pipeline('block clause', 'rightDelim');
    const body = this.#apart(() => this.#body('block clause'));
    this.#add({ name, body });
    return { kind: 'template', at: token.at, source: this.#source, name, pipe };
  }

  #template(): TemplateNode {
    const token = this.#takeWord();
    const name = this.#templateName(token, 'template clause');
    let pipe: PipeNode | undefined;
    if (this.#takeWord().type !== 'rightDelim') {
      this.#next--;
      pipe = this.#pipeline('template clause', 'rightDelim');
    }
    return { kind: 'template', at: token.at, source: this.#source, name, pipe };
  }

  #templateName(token: Token, context: string): string {
    if (token.type !== 'string' && token.type !== 'rawString') return this.#unexpected(token, context);
    return unquoteGo(token.text) ?? this.#fail('invalid syntax');
  }

  #pipeline(context: string, end: TokenType): PipeNode {
    const at = this.#peekWord().at;
    const { variables, isAssignment } = this.#declarations(context);
    const commands: CommandNode[] = [];
    for (;;) {
      const token = this.#takeWord();
      if (token.type === end) {
        this.#checkCommands(commands, context);
        return { kind: 'pipe', at, source: this.#source, isAssignment, variables, commands };
      }
      if (!startsOperand.has(token.type)) this.#unexpected(token, context);
      this.#next--;
      commands.push(this.#command());
    }
  }

  #declarations(context: string): { variables: VariableNode[]; isAssignment: boolean } {
    const variables: VariableNode[] = [];
    let isAssignment = false;
    while (this.#peekWord().type === 'variable') {
      const mark = this.#next;
      const token = this.#take();
      const next = this.#peekWord();
      const isList = next.type === 'char' && next.text === ',';
      if (next.type !== 'assign' && next.type !== 'declare' && !isList) {
        this.#next = mark;
        break;
      }
      this.#takeWord();
      variables.push({ kind: 'variable', at: token.at, source: this.#source, path: [token.text] });
      this.#variables.push(token.text);
      if (!isList) {
        isAssignment = next.type === 'assign';
        break;
      }
      if (context !== 'range' || variables.length >= 2) this.#fail(`too many declarations in ${context}`);
      const after = this.#peekWord().type;
      if (after !== 'variable' && after !== 'rightDelim' && after !== 'rightParen') {
        this.#fail('range can only initialize variables');
      }
    }
    return { variables, isAssignment };
  }

  #checkCommands(commands: readonly CommandNode[], context: string): void {
    if (commands.length === 0) this.#fail(`missing value for ${context}`);
    for (const [index, command] of commands.entries()) {
      if (index > 0 && constants.has(command.args[0].kind)) {
        this.#fail(`non executable command in pipeline stage ${index + 1}`);
      }
    }
  }

  #command(): CommandNode {
    const at = this.#peekWord().at;
    const args: Operand[] = [];
    for (;;) {
      this.#peekWord();
      const operand = this.#operand();
      if (operand) args.push(operand);
      const token = this.#take();
      if (token.type === 'space') continue;
      if (token.type === 'rightDelim' || token.type === 'rightParen') this.#next--;
      else if (token.type !== 'pipe') this.#unexpected(token, 'operand');
      break;
    }
    const [first, ...rest] = args;
    if (!first) return this.#fail('empty command');
    return { kind: 'command', at, source: this.#source, args: [first, ...rest] };
  }

  #operand(): Operand | undefined {
    const node = this.#term();
    if (!node || this.#peek().type !== 'field') return node;
    const at = this.#peek().at;
    const path: string[] = [];
    while (this.#peek().type === 'field') path.push(this.#take().text.slice(1));
    if (node.kind === 'field') return { kind: 'field', at, source: node.source, path: [...node.path, ...path] };
    if (node.kind === 'variable') return { kind: 'variable', at, source: node.source, path: [...node.path, ...path] };
    if (constants.has(node.kind)) this.#fail(`unexpected . after term ${quoteGo(nodeText(node))}`);
    return { kind: 'chain', at, source: this.#source, node, path };
  }

  #term(): Operand | undefined {
    const token = this.#takeWord();
    const { at } = token;
    const source = this.#source;
    switch (token.type) {
      case 'identifier':
        if (!this.#options.hasFunction(token.text)) this.#fail(`function ${quoteGo(token.text)} not defined`);
        return { kind: 'identifier', at, source, name: token.text };
      case 'dot':
      case 'nil':
        return { kind: token.type, at, source };
      case 'variable':
        if (!this.#variables.includes(token.text)) this.#fail(`undefined variable ${quoteGo(token.text)}`);
        return { kind: 'variable', at, source, path: [token.text] };
      case 'field':
        return { kind: 'field', at, source, path: [token.text.slice(1)] };
      case 'bool':
        return { kind: 'bool', at, source, value: token.text === 'true' };
      case 'charConstant':
      case 'complex':
      case 'number': {
        const number = parseNumber(token.text, token.type);
        if (typeof number === 'string') this.#fail(number);
        return { kind: 'number', at, source, text: token.text, ...number };
      }
      case 'leftParen': {
        if (++this.#depth > maxDepth) this.#fail('max expression depth exceeded');
        const pipe = this.#pipeline('parenthesized pipeline', 'rightParen');
        this.#depth--;
        return pipe;
      }
      case 'string':
      case 'rawString':
        return {
          kind: 'string',
          at,
          source,
          quoted: token.text,
          value: unquoteGo(token.text) ?? this.#fail('invalid syntax'),
        };
    }
    this.#next--;
    return undefined;
  }

  #peek(): Token {
    while (this.#tokens.length <= this.#next) this.#tokens.push(this.#lexer.next());
    return must(this.#tokens[this.#next], 'tokens[next]');
  }

  #take(): Token {
    const token = this.#peek();
    this.#next++;
    return token;
  }

  #peekWord(): Token {
    while (this.#peek().type === 'space') this.#next++;
    return this.#peek();
  }

  #takeWord(): Token {
    const token = this.#peekWord();
    this.#next++;
    return token;
  }

  #expect(type: TokenType, context: string): void {
    const token = this.#takeWord();
    if (token.type !== type) this.#unexpected(token, context);
  }

  #unexpected(token: Token, context: string): never {
    if (token.type !== 'error') return this.#fail(`unexpected ${tokenText(token)} in ${context}`);
    if (this.#actionLine === 0 || this.#actionLine === token.line) return this.#fail(token.text);
    const where = `started at ${this.#source.name}:${this.#actionLine}`;
    return this.#fail(token.text.endsWith(' action') ? `${token.text} ${where}` : `${token.text} in action ${where}`);
  }

  /** Go reports the line of the last token it has read. */
  #fail(message: string): never {
    throw new TemplateError(`template: ${this.#source.name}:${this.#tokens.at(-1)?.line ?? 1}: ${message}`);
  }
}

const constants: ReadonlySet<string> = new Set(['bool', 'dot', 'nil', 'number', 'string']);
const startsOperand: ReadonlySet<TokenType> = new Set<TokenType>([
  'bool',
  'charConstant',
  'complex',
  'dot',
  'field',
  'identifier',
  'number',
  'nil',
  'rawString',
  'string',
  'variable',
  'leftParen',
]);

function tokenText(token: Token): string {
  if (token.type === 'eof') return 'EOF';
  if (isKeyword(token.type)) return `<${token.text}>`;
  const runes = [...token.text];
  return Buffer.byteLength(token.text) > 10 ? `${quoteGo(runes.slice(0, 10).join(''))}...` : quoteGo(token.text);
}
