/** A line editing command: which lines, and what. */
interface Edit {
  readonly from: Address | undefined;
  readonly to: Address | undefined;
  readonly isNegated: boolean;
  readonly act: (line: string) => Outcome;
}

type Address =
  | { readonly kind: 'line'; readonly line: number }
  | { readonly kind: 'pattern'; readonly pattern: RegExp }
  | { readonly kind: 'last' };

interface Outcome {
  readonly line: string | undefined;
  readonly before?: string;
  readonly after?: string;
  readonly printed?: string;
  readonly isEnd?: boolean;
}

/** A script that sed would not take. */
export class SedError extends Error {}

/** Basic regular expressions escape what extended ones do not, and the other way round. */
export function toRegExp(source: string, isExtended: boolean, flags = ''): RegExp {
  const classes = source
    .replaceAll('[[:space:]]', '\\s')
    .replaceAll('[:space:]', '\\s')
    .replaceAll('[[:digit:]]', '\\d')
    .replaceAll('[:digit:]', '\\d')
    .replaceAll('[[:alnum:]]', '[A-Za-z0-9]')
    .replaceAll('[:alnum:]', 'A-Za-z0-9')
    .replaceAll('[[:blank:]]', '[ \\t]');
  let text = '';
  if (isExtended) text = classes;
  else {
    for (let i = 0; i < classes.length; i++) {
      const char = classes[i]!;
      const next = classes[i + 1];
      if (char === '\\' && next !== undefined && '(){}|+?'.includes(next)) {
        text += next;
        i++;
      } else if ('(){}|+?'.includes(char)) text += `\\${char}`;
      else if (char === '*' && (text === '' || text === '^')) text += '\\*';
      else if (char === '\\') {
        text += char + (next ?? '');
        i++;
      } else if (char === '[') {
        const end = classes.indexOf(']', i + 2);
        text += end < 0 ? '\\[' : classes.slice(i, end + 1);
        i = end < 0 ? i : end;
      } else text += char;
    }
  }
  try {
    return new RegExp(text, flags);
  } catch {
    throw new SedError(`unterminated or wrong regular expression '${source}'`);
  }
}

/** Applies a sed script to a text. Throws SedError for what is not understood. */
export function sed(
  scripts: readonly string[],
  text: string,
  options: { isExtended: boolean; isQuiet: boolean },
): string {
  const edits = scripts.flatMap((script) => new ScriptReader(script, options.isExtended).edits());
  const lines = text.split('\n');
  const endsWithBreak = lines.at(-1) === '';
  if (endsWithBreak) lines.pop();
  const active = new Set<Edit>();
  let out = '';
  for (const [index, original] of lines.entries()) {
    let line: string | undefined = original;
    let after = '';
    let isEnd = false;
    const number = index + 1;
    const isLast = number === lines.length;
    for (const edit of edits) {
      if (line === undefined) break;
      if (selects(edit, line, number, isLast, active) === edit.isNegated) continue;
      const outcome = edit.act(line);
      out += outcome.before ?? '';
      after += outcome.after ?? '';
      out += outcome.printed ?? '';
      line = outcome.line;
      if (outcome.isEnd) isEnd = true;
    }
    if (line !== undefined && !options.isQuiet) out += `${line}${isLast && !endsWithBreak ? '' : '\n'}`;
    out += after;
    if (isEnd) break;
  }
  return out;
}

function selects(edit: Edit, line: string, number: number, isLast: boolean, active: Set<Edit>): boolean {
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
    const delimiter = this.#text[this.#at++]!;
    return { kind: 'pattern', pattern: toRegExp(this.#until(delimiter), this.#isExtended) };
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
    const given = flags.exec(this.#text)![0];
    this.#at = flags.lastIndex;
    const isGlobal = given.includes('g');
    const expression = toRegExp(pattern, this.#isExtended, (isGlobal ? 'g' : '') + (/i/i.test(given) ? 'i' : ''));
    const replace = (...parts: unknown[]): string => {
      const groups = parts as string[];
      return replacement.replace(/\\(\d)|\\n|\\(.)|&/g, (all: string, digit?: string, char?: string) => {
        if (all === '&') return groups[0]!;
        if (digit !== undefined) return groups[Number(digit)] ?? '';
        return char ?? '\n';
      });
    };
    return (line) => {
      const changed = line.replace(expression, replace);
      return { line: changed, ...(given.includes('p') && changed !== line && { printed: `${changed}\n` }) };
    };
  }

  /** The text up to the delimiter; escaped ones stay. */
  #until(delimiter: string): string {
    let text = '';
    for (; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at]!;
      if (char === delimiter) {
        this.#at++;
        return text;
      }
      if (char === '\\' && this.#text[this.#at + 1] !== undefined) {
        const next = this.#text[++this.#at]!;
        text += next === delimiter && delimiter !== '|' ? next : `\\${next}`;
      } else text += char;
    }
    throw new SedError(`unterminated \`s' command or address`);
  }
}
