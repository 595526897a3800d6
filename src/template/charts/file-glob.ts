import { must } from '../../machinery/index.ts';

type Node =
  | { readonly kind: 'char'; readonly test: (char: string) => boolean }
  /** any number of characters; with `beyond` including slashes */
  | { readonly kind: 'many'; readonly beyond: boolean }
  | { readonly kind: 'choice'; readonly options: readonly (readonly Node[])[] };

/**
 * Pattern of `.Files.Glob`: `*` and `?` match within a directory, `**` across directories; also `[a-z]`, `[!a-z]`,
 * `{one,two}`. An invalid pattern matches every file, as in Helm.
 */
export class FileGlob {
  readonly #nodes: readonly Node[];

  constructor(pattern: string) {
    try {
      this.#nodes = new Parser(pattern).read();
    } catch (error) {
      if (!(error instanceof UnreadablePattern)) throw error;
      this.#nodes = [{ kind: 'many', beyond: true }];
    }
  }

  matches(path: string): boolean {
    const chars = [...path];
    return ends(this.#nodes, chars, new Set([0])).has(chars.length);
  }
}

/** Returns where matches from these positions may end, in time proportional to pattern times text. */
function ends(nodes: readonly Node[], chars: readonly string[], starts: ReadonlySet<number>): ReadonlySet<number> {
  let places = starts;
  for (const node of nodes) {
    const next = new Set<number>();
    if (node.kind === 'char') {
      for (const place of places) {
        const char = chars[place];
        if (char !== undefined && node.test(char)) next.add(place + 1);
      }
    } else if (node.kind === 'choice') {
      for (const option of node.options) for (const place of ends(option, chars, places)) next.add(place);
    } else {
      for (const place of places) {
        for (let at = place; !next.has(at); at++) {
          next.add(at);
          if (at >= chars.length || (!node.beyond && chars[at] === '/')) break;
        }
      }
    }
    if (next.size === 0) return next;
    places = next;
  }
  return places;
}

class UnreadablePattern extends Error {}

class Parser {
  readonly #chars: readonly string[];
  #at = 0;

  constructor(pattern: string) {
    this.#chars = [...pattern];
  }

  read(): Node[] {
    const nodes = this.#sequence(false);
    if (this.#at < this.#chars.length) throw new UnreadablePattern();
    return nodes;
  }

  #sequence(isInChoice: boolean): Node[] {
    const nodes: Node[] = [];
    for (; this.#at < this.#chars.length; this.#at++) {
      const char = must(this.#chars[this.#at], 'chars[at]');
      if (isInChoice && (char === ',' || char === '}')) return nodes;
      if (char === '*') {
        const beyond = this.#chars[this.#at + 1] === '*';
        while (this.#chars[this.#at + 1] === '*') this.#at++;
        nodes.push({ kind: 'many', beyond });
      } else if (char === '?') nodes.push({ kind: 'char', test: (one) => one !== '/' });
      else if (char === '[') nodes.push(this.#class());
      else if (char === '{') nodes.push(this.#choice());
      else {
        const wanted = char === '\\' ? this.#chars[++this.#at] : char;
        if (wanted === undefined) throw new UnreadablePattern();
        nodes.push({ kind: 'char', test: (one) => one === wanted });
      }
    }
    return nodes;
  }

  #class(): Node {
    const end = this.#chars.indexOf(']', this.#at);
    if (end < 0) throw new UnreadablePattern();
    const inside = this.#chars.slice(this.#at + 1, end);
    this.#at = end;
    const isNegated = inside[0] === '!';
    const body = isNegated ? inside.slice(1) : inside;
    if (body.length === 0) throw new UnreadablePattern();
    const isRange = body.length === 3 && body[1] === '-';
    const test = isRange
      ? (char: string): boolean => char >= must(body[0], 'the first of body') && char <= must(body[2], 'body[2]')
      : (char: string): boolean => body.includes(char);
    return { kind: 'char', test: (char) => test(char) !== isNegated };
  }

  #choice(): Node {
    const options: Node[][] = [];
    do {
      this.#at++;
      options.push(this.#sequence(true));
    } while (this.#chars[this.#at] === ',');
    if (this.#chars[this.#at] !== '}') throw new UnreadablePattern();
    return { kind: 'choice', options };
  }
}
