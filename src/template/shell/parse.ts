/** Literal text, or `${NAME}` with its operation. */
export type Part = string | Substitution;

export interface Substitution {
  readonly variable: string;
  /** for example `:-`, `^^` or `//`; empty: no operation */
  readonly operation: string;
  readonly args: readonly Part[];
}

/** A syntax error in a template with shell-style variables. */
export class SubstitutionError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SubstitutionError';
  }
}

const badSubstitution = 'bad substitution';
const badParameter = 'unable to parse substitution within function';
const maxDepth = 100;

/** Parses variables like clusterctl. Throws SubstitutionError. */
export function parseVariables(text: string): Part[] {
  return new Reader(text).parts();
}

class Reader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parts(): Part[] {
    const parts: Part[] = [];
    while (this.#at < this.#text.length) {
      if (this.#text.startsWith('${', this.#at)) {
        this.#at += 2;
        parts.push(this.#substitution());
      } else parts.push(this.#until('', 'dollars'));
    }
    return parts;
  }

  /**
   * Reads text up to a stop character or the next variable. Two dollars are an escaped one; in replacements `\/` is a
   * slash.
   */
  #until(stops: string, escapes: 'none' | 'dollars' | 'all'): string {
    let result = '';
    while (this.#at < this.#text.length && !this.#text.startsWith('${', this.#at)) {
      const char = this.#text.charAt(this.#at);
      const next = this.#text[this.#at + 1];
      const isEscaped =
        (escapes !== 'none' && char === '$' && next === '$') ||
        (escapes === 'all' && char === '\\' && (next === '/' || next === '\\'));
      if (isEscaped) {
        result += next;
        this.#at += 2;
      } else {
        if (stops.includes(char) && stops !== '') break;
        result += char;
        this.#at++;
      }
    }
    return result;
  }

  #take(pattern: RegExp): string | undefined {
    const sticky = new RegExp(pattern.source, 'uy');
    sticky.lastIndex = this.#at;
    const found = sticky.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #close(problem = badSubstitution): void {
    if (this.#text[this.#at++] !== '}') throw new SubstitutionError(problem);
  }

  #substitution(): Substitution {
    if (++this.#depth > maxDepth) throw new SubstitutionError('variables are nested too deep');
    const result = this.#text[this.#at] === '#' ? this.#length() : this.#named();
    this.#depth--;
    return result;
  }

  #length(): Substitution {
    this.#at++;
    const variable = this.#take(/[\p{L}\p{Nd}_]+/u);
    if (variable === undefined) throw new SubstitutionError(badSubstitution);
    this.#close();
    return { variable, operation: '#', args: [] };
  }

  #named(): Substitution {
    const variable = this.#take(/[\p{L}\p{Nd}_]+/u);
    if (variable === undefined) throw new SubstitutionError('unable to parse variable name');
    const next = this.#text[this.#at];
    switch (next) {
      case ':':
      case '=': {
        const operation = this.#take(/=|:[=?+-]/);
        return operation === undefined ? this.#substring(variable) : this.#default(variable, operation);
      }
      case ',':
      case '^': {
        const operation = this.#take(/[,^]{1,2}/) ?? '';
        this.#close();
        return { variable, operation, args: [] };
      }
      case '/':
        return this.#replacement(variable);
      case '#':
      case '%': {
        const operation = this.#take(/##?|%%?/) ?? '';
        const args = [this.#parameter('}')];
        this.#close();
        return { variable, operation, args };
      }
    }
    this.#close('missing closing brace');
    return { variable, operation: '', args: [] };
  }

  #default(variable: string, operation: string): Substitution {
    const args: Part[] = [];
    while (this.#text[this.#at] !== '}') args.push(this.#parameter('}'));
    this.#close();
    return { variable, operation, args };
  }

  #substring(variable: string): Substitution {
    this.#at++;
    if (this.#at >= this.#text.length) throw new SubstitutionError(badSubstitution);
    const args = [this.#parameter(':}')];
    if (this.#text[this.#at] === '}') {
      this.#close();
      return { variable, operation: ':', args };
    }
    if (this.#take(/:+/) === undefined) throw new SubstitutionError(badSubstitution);
    args.push(this.#parameter('}'));
    this.#close();
    return { variable, operation: ':', args };
  }

  #replacement(variable: string): Substitution {
    const operation = this.#take(/\/[/#%]?/) ?? '';
    const args = [this.#parameter('/', 'all')];
    if (this.#take(/\/+/) === undefined) throw new SubstitutionError(badSubstitution);
    if (this.#text[this.#at] !== '}') args.push(this.#parameter('}', 'all'));
    this.#close();
    return { variable, operation, args };
  }

  /** Reads one variable or one run of text. */
  #parameter(stops: string, escapes: 'none' | 'all' = 'none'): Part {
    if (this.#text.startsWith('${', this.#at)) {
      this.#at += 2;
      return this.#substitution();
    }
    const text = this.#until(stops, escapes);
    if (text === '') throw new SubstitutionError(badParameter);
    return text;
  }
}
