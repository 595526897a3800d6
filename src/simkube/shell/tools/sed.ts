import { LinearPattern, must, PatternError, type PatternMatch } from '../../../machinery/index.ts';
import { Gathered } from '../limits.ts';

/** A sed command with its address range. */
interface Edit {
  readonly from: Address | undefined;
  readonly to: Address | undefined;
  readonly isNegated: boolean;
  readonly act: (line: string) => Outcome;
}

type Address =
  | { readonly kind: 'line'; readonly line: number }
  | { readonly kind: 'pattern'; readonly pattern: LinearPattern }
  | { readonly kind: 'last' };

interface Outcome {
  readonly line: string | undefined;
  readonly before?: string;
  readonly after?: string;
  readonly printed?: string;
  readonly isEnd?: boolean;
}

/** An invalid sed script. */
export class SedError extends Error {}

/** Converts basic and extended regular expressions, which escape opposite sets of characters. */
export function toPattern(
  source: string,
  { isExtended, ignoreCase = false }: { isExtended: boolean; ignoreCase?: boolean },
): LinearPattern {
  let text = '';
  if (isExtended) text = source;
  else {
    for (let i = 0; i < source.length; i++) {
      const char = source.charAt(i);
      const next = source[i + 1];
      if (char === '\\' && next !== undefined && '(){}|+?'.includes(next)) {
        text += next;
        i++;
      } else if ('(){}|+?'.includes(char)) text += `\\${char}`;
      else if (char === '*' && (text === '' || text === '^')) text += '\\*';
      else if (char === '\\') {
        text += char + (next ?? '');
        i++;
      } else if (char === '[') {
        const end = endOfBrackets(source, i);
        text += end < 0 ? '\\[' : source.slice(i, end + 1);
        i = end < 0 ? i : end;
      } else text += char;
    }
  }
  try {
    return new LinearPattern(text, { ignoreCase });
  } catch (error) {
    if (error instanceof PatternError) throw new SedError(error.message);
    throw error;
  }
}

/** Returns the end of a bracket expression, which may contain classes such as `[:space:]`; -1 if it is not closed. */
function endOfBrackets(source: string, start: number): number {
  let at = start + (source[start + 1] === '^' ? 2 : 1);
  if (source[at] === ']') at++;
  for (; at < source.length; at++) {
    if (source[at] === ']') return at;
    if (source.startsWith('[:', at)) {
      const end = source.indexOf(':]', at + 2);
      if (end >= 0) at = end + 1;
    }
  }
  return -1;
}

/** Applies a sed script to a text. Throws SedError for unsupported syntax. */
export async function sed(
  scripts: readonly string[],
  text: string,
  options: { isExtended: boolean; isQuiet: boolean },
  breathe: (line: string) => Promise<void>,
): Promise<string> {
  const edits = scripts.flatMap((script) => new ScriptReader(script, options.isExtended).edits());
  const lines = text.split('\n');
  const endsWithBreak = lines.at(-1) === '';
  if (endsWithBreak) lines.pop();
  const active = new Set<Edit>();
  const out = new Gathered();
  for (const [index, original] of lines.entries()) {
    await breathe(original);
    let line: string | undefined = original;
    let after = '';
    let isEnd = false;
    const number = index + 1;
    const isLast = number === lines.length;
    for (const edit of edits) {
      if (line === undefined) break;
      if (selects(edit, { line, number, isLast }, active) === edit.isNegated) continue;
      const outcome = edit.act(line);
      out.add(outcome.before ?? '');
      after += outcome.after ?? '';
      out.add(outcome.printed ?? '');
      line = outcome.line;
      if (outcome.isEnd) isEnd = true;
    }
    if (line !== undefined && !options.isQuiet) out.add(`${line}${isLast && !endsWithBreak ? '' : '\n'}`);
    out.add(after);
    if (isEnd) break;
  }
  return out.text();
}

function selects(
  edit: Edit,
  { line, number, isLast }: { line: string; number: number; isLast: boolean },
  active: Set<Edit>,
): boolean {
  const { from, to } = edit;
  const hits = (address: Address): boolean =>
    address.kind === 'line' ? address.line === number : address.kind === 'last' ? isLast : address.pattern.test(line);
  if (!from) return true;
  if (!to) return hits(from);
  if (active.has(edit)) {
    if (hits(to) || (to.kind === 'line' && to.line <= number)) active.delete(edit);
    return true;
  }
  if (!hits(from)) return false;
  if (!(to.kind === 'line' && to.line <= number)) active.add(edit);
  return true;
}

class ScriptReader {
  readonly #text: string;
  readonly #isExtended: boolean;
  #at = 0;

  constructor(text: string, isExtended: boolean) {
    this.#text = text;
    this.#isExtended = isExtended;
  }

  edits(): Edit[] {
    const edits: Edit[] = [];
    for (;;) {
      while (/[\s;]/.test(this.#text[this.#at] ?? '')) this.#at++;
      if (this.#at >= this.#text.length) return edits;
      const from = this.#address();
      let to: Address | undefined;
      if (this.#text[this.#at] === ',') {
        this.#at++;
        to = this.#address();
      }
      while (this.#text[this.#at] === ' ') this.#at++;
      const isNegated = this.#text[this.#at] === '!';
      if (isNegated) this.#at++;
      while (this.#text[this.#at] === ' ') this.#at++;
      edits.push({ from, to, isNegated, act: this.#action() });
    }
  }

  #address(): Address | undefined {
    const char = this.#text[this.#at];
    if (char === '$') {
      this.#at++;
      return { kind: 'last' };
    }
    const number = /\d+/y;
    number.lastIndex = this.#at;
    const found = number.exec(this.#text);
    if (found) {
      this.#at = number.lastIndex;
      return { kind: 'line', line: Number(found[0]) };
    }
    if (char !== '/' && char !== '\\') return undefined;
    if (char === '\\') this.#at++;
    const delimiter = this.#text.charAt(this.#at++);
    return { kind: 'pattern', pattern: toPattern(this.#until(delimiter), { isExtended: this.#isExtended }) };
  }

  #action(): Edit['act'] {
    const command = this.#text[this.#at++];
    switch (command) {
      case 'd':
        return () => ({ line: undefined });
      case 'p':
        return (line) => ({ line, printed: `${line}\n` });
      case 'q':
        return (line) => ({ line, isEnd: true });
      case 's':
        return this.#substitution();
      case 'a':
      case 'i':
      case 'c': {
        const rest = this.#text.slice(this.#at).replace(/^\\?\n?[ \t]*/, '');
        this.#at = this.#text.length;
        const added = `${rest.replaceAll('\\n', '\n').replace(/\\(.)/g, '$1')}\n`;
        if (command === 'a') return (line) => ({ line, after: added });
        if (command === 'i') return (line) => ({ line, before: added });
        return () => ({ line: undefined, before: added });
      }
      default:
        throw new SedError(`unknown command: \`${command ?? ''}'`);
    }
  }

  #substitution(): Edit['act'] {
    const delimiter = this.#text[this.#at++] ?? '/';
    const pattern = this.#until(delimiter);
    const replacement = this.#until(delimiter);
    const flags = /[gpIi\d]*/y;
    flags.lastIndex = this.#at;
    const [given = ''] = flags.exec(this.#text) ?? [];
    this.#at = flags.lastIndex;
    const isGlobal = given.includes('g');
    const expression = toPattern(pattern, { isExtended: this.#isExtended, ignoreCase: /i/i.test(given) });
    const replace = ({ groups }: PatternMatch): string => {
      return replacement.replace(/\\(\d)|\\n|\\(.)|&/g, (all: string, digit?: string, char?: string) => {
        if (all === '&') return must(groups[0], 'the first of groups');
        if (digit !== undefined) return groups[Number(digit)] ?? '';
        return char ?? '\n';
      });
    };
    return (line) => {
      const changed = expression.replace(line, replace, isGlobal ? 'all' : 'first');
      return { line: changed, ...(given.includes('p') && changed !== line && { printed: `${changed}\n` }) };
    };
  }

  /** Reads the text up to the delimiter. Escaped delimiters are kept. */
  #until(delimiter: string): string {
    let text = '';
    for (; this.#at < this.#text.length; this.#at++) {
      const char = this.#text.charAt(this.#at);
      if (char === delimiter) {
        this.#at++;
        return text;
      }
      if (char === '\\' && this.#text[this.#at + 1] !== undefined) {
        const next = this.#text.charAt(++this.#at);
        text += next === delimiter && delimiter !== '|' ? next : `\\${next}`;
      } else text += char;
    }
    throw new SedError(`unterminated \`s' command or address`);
  }
}
