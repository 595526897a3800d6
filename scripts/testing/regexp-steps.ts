/**
 * Counts the steps of a backtracking engine for a regular expression, and builds texts that need many steps. This finds
 * expressions with which a client could stall the process, without measuring time. Backreferences and lookbehinds
 * longer than one character count as matching, which only lets more texts match.
 */

type Node =
  | { kind: 'char'; matches: (character: string) => boolean; sample: string }
  | { kind: 'start' | 'end' | 'empty' }
  | { kind: 'sequence' | 'choice'; nodes: Node[] }
  | { kind: 'look'; node: Node; back: boolean; negative: boolean }
  | { kind: 'repeat'; node: Node; min: number; max: number; lazy: boolean };

const specimens = [...'a0 -._/:,;=@"\'#$%&+*?!~^|\\()[]{}<>Az9Zx\n\té\u0080\u0000'];

class Parser {
  readonly #source: string;
  readonly #flags: string;
  #at = 0;

  constructor(expression: RegExp) {
    this.#source = expression.source;
    this.#flags = expression.flags.replace(/[gy]/g, '');
  }

  parse(): Node {
    const node = this.#choice();
    if (this.#at < this.#source.length) throw new Error(`cannot read ${this.#source} at ${this.#at}`);
    return node;
  }

  #choice(): Node {
    const nodes = [this.#sequence()];
    while (this.#source[this.#at] === '|') {
      this.#at++;
      nodes.push(this.#sequence());
    }
    return nodes.length === 1 ? nodes[0]! : { kind: 'choice', nodes };
  }

  #sequence(): Node {
    const nodes: Node[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at]!)) nodes.push(this.#repeated());
    return { kind: 'sequence', nodes };
  }

  #repeated(): Node {
    const node = this.#atom();
    const counts = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})(\??)/.exec(this.#source.slice(this.#at));
    if (!counts) return node;
    this.#at += counts[0].length;
    const [text, low, comma, high, lazy] = counts;
    const min = low !== undefined ? Number(low) : text.startsWith('+') ? 1 : 0;
    const max =
      low === undefined ? (text.startsWith('?') ? 1 : Infinity) : high ? Number(high) : comma ? Infinity : min;
    return { kind: 'repeat', node, min, max, lazy: lazy === '?' };
  }

  #atom(): Node {
    const rest = this.#source.slice(this.#at);
    const group = /^\((?:\?(?::|<?[=!]|<\w+>))?/.exec(rest);
    if (group) {
      this.#at += group[0].length;
      const inner = this.#choice();
      this.#at++;
      const look = /^\(\?(<?)([=!])/.exec(group[0]);
      if (!look) return inner;
      const back = look[1] === '<';
      const single = inner.kind === 'sequence' && inner.nodes.length === 1 && inner.nodes[0]!.kind === 'char';
      if (back && !single) return { kind: 'empty' };
      return { kind: 'look', node: inner, back, negative: look[2] === '!' };
    }
    if (rest[0] === '^' || rest[0] === '$') {
      this.#at++;
      return { kind: rest[0] === '^' ? 'start' : 'end' };
    }
    const assertion = /^\\(?:[bB]|[1-9]\d*|k<\w+>)/.exec(rest);
    if (assertion) {
      this.#at += assertion[0].length;
      return { kind: 'empty' };
    }
    const single =
      /^(?:\[(?:\\[\s\S]|[^\]\\])*\]|\\(?:u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|[pP]\{[^}]*\}|[\s\S])|[\s\S])/u.exec(
        rest,
      )![0];
    this.#at += single.length;
    const expression = new RegExp(`^(?:${single})$`, this.#flags);
    const matches = (character: string): boolean => expression.test(character);
    return { kind: 'char', matches, sample: specimens.find(matches) ?? 'a' };
  }
}

export class StepLimitError extends Error {}

/** Returns the number of steps to find whether and where the expression matches the text. */
export function countSteps(expression: RegExp, text: string, limit: number): number {
  const root = new Parser(expression).parse();
  let steps = 0;
  const match = (node: Node, at: number, then: (at: number) => boolean): boolean => {
    if (++steps > limit) throw new StepLimitError();
    switch (node.kind) {
      case 'char':
        return at < text.length && node.matches(text[at]!) && then(at + 1);
      case 'start':
        return at === 0 && then(at);
      case 'end':
        return at === text.length && then(at);
      case 'empty':
        return then(at);
      case 'look': {
        const from = node.back ? at - 1 : at;
        const holds = from >= 0 && match(node.node, from, () => true);
        return holds !== node.negative && then(at);
      }
      case 'sequence': {
        const from = (index: number, position: number): boolean =>
          index === node.nodes.length
            ? then(position)
            : match(node.nodes[index]!, position, (next) => from(index + 1, next));
        return from(0, at);
      }
      case 'choice':
        return node.nodes.some((choice) => match(choice, at, then));
      case 'repeat': {
        const again = (count: number, position: number): boolean => {
          const more = (): boolean =>
            count < node.max &&
            match(node.node, position, (next) => (next > position || count < node.min) && again(count + 1, next));
          const enough = (): boolean => count >= node.min && then(position);
          return node.lazy ? enough() || more() : more() || enough();
        };
        return again(0, at);
      }
    }
  };
  const last = expression.sticky ? 0 : text.length;
  for (let start = 0; start <= last; start++) if (match(root, start, () => true)) break;
  return steps;
}

/** An attack on an expression: prefix, repeated part and suffix. */
interface Attack {
  before: string;
  repeated: string;
  after: string;
}

function sampleOf(node: Node): string {
  switch (node.kind) {
    case 'char':
      return node.sample;
    case 'sequence':
      return node.nodes.map(sampleOf).join('');
    case 'choice':
      return sampleOf(node.nodes[0]!);
    case 'repeat':
      return sampleOf(node.node).repeat(node.min);
    default:
      return '';
  }
}

/** Returns texts that can be repeated: samples of everything below a repetition, one per alternative. */
function pumps(node: Node): string[] {
  switch (node.kind) {
    case 'char':
      return [node.sample, ...specimens.filter(node.matches).slice(0, 3)];
    case 'choice':
      return node.nodes.flatMap(pumps);
    case 'sequence':
      return [sampleOf(node), ...node.nodes.flatMap(pumps)];
    case 'repeat':
      return [sampleOf(node.node), ...pumps(node.node)];
    default:
      return [];
  }
}

function attacksOn(node: Node, before: string, found: Attack[]): void {
  const add = (repeated: string): void => {
    if (repeated === '') return;
    for (const after of ['', '\u0001', '!', `\u0001${repeated}`]) found.push({ before, repeated, after });
  };
  switch (node.kind) {
    case 'sequence': {
      let prefix = before;
      for (const child of node.nodes) {
        attacksOn(child, prefix, found);
        prefix += sampleOf(child);
      }
      break;
    }
    case 'choice':
      for (const child of node.nodes) attacksOn(child, before, found);
      break;
    case 'repeat':
      if (node.max > 30) for (const repeated of new Set(pumps(node.node))) add(repeated);
      attacksOn(node.node, before, found);
      break;
  }
}

/** Longer than the limits of bounded repetitions, so that those count as bounded. */
const shortLength = 150;

/** Returns a text for which the expression needs more than linearly many steps, or undefined. */
export function superlinearText(expression: RegExp): string | undefined {
  const attacks: Attack[] = [];
  const root = new Parser(expression).parse();
  attacksOn(root, '', attacks);
  const seen = new Set<string>();
  for (const { before, repeated, after } of attacks) {
    const text = (length: number): string => before + repeated.repeat(Math.ceil(length / repeated.length)) + after;
    const shown = text(5);
    if (seen.has(shown)) continue;
    seen.add(shown);
    const limit = 400_000;
    try {
      const few = countSteps(expression, text(shortLength), limit);
      const many = countSteps(expression, text(shortLength * 3), limit);
      // Linear expressions need three times the steps for three times the text, quadratic ones nine times.
      if (many > 5 * few) return shown;
    } catch (error) {
      if (!(error instanceof StepLimitError)) throw error;
      return shown;
    }
  }
  return undefined;
}

const beforeLiteral = /(?:[([{,;:=!&|?+~<>-]|\b(?:return|typeof|case|in|of))\s*$/;

/** Finds the regular expression literals in source code, with their lines. */
export function literalsOf(source: string): { line: number; expression: RegExp }[] {
  const found: { line: number; expression: RegExp }[] = [];
  // Skips comments, strings, and templates without substitutions.
  const tokens =
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\/((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/[\\\n*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/[\\\n])*)\/([a-z]*)/g;
  for (let token = tokens.exec(source); token; token = tokens.exec(source)) {
    const [whole, body, flags = ''] = token;
    if (body === undefined) continue;
    const preceding = source.slice(source.lastIndexOf('\n', token.index - 1) + 1, token.index);
    const line = source.slice(0, token.index).split('\n').length;
    if (preceding.trim() !== '' && !beforeLiteral.test(preceding)) {
      // A division, or a path in a template: continues right after the slash.
      tokens.lastIndex = token.index + 1;
      continue;
    }
    try {
      found.push({ line, expression: new RegExp(body, flags) });
    } catch {
      tokens.lastIndex = token.index + 1;
      continue;
    }
    tokens.lastIndex = token.index + whole.length;
  }
  return found;
}
