import { TemplateError } from '../errors.ts';
import { BadPattern, PathPattern } from './path-match.ts';

interface Rule {
  readonly isNegated: boolean;
  /** matches only directories */
  readonly isDirectory: boolean;
  matches(path: string): boolean;
}

/** Rules of `.helmignore`, which differ from git's. */
export class IgnoreRules {
  readonly #rules: readonly Rule[];
  readonly #directories = new Map<string, boolean>();

  constructor(text: string) {
    const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
    this.#rules = [...lines, 'templates/.?*'].flatMap((line, index) => parseRule(line.trim(), index + 1));
  }

  /** Reports whether a file or one of its directories is ignored. */
  ignores(path: string): boolean {
    const slash = path.lastIndexOf('/');
    return (slash >= 0 && this.#ignoresDirectory(path.slice(0, slash))) || this.#decides(path, { isDirectory: false });
  }

  #ignoresDirectory(path: string): boolean {
    const known = this.#directories.get(path);
    if (known !== undefined) return known;
    const slash = path.lastIndexOf('/');
    const ignored =
      (slash >= 0 && this.#ignoresDirectory(path.slice(0, slash))) || this.#decides(path, { isDirectory: true });
    this.#directories.set(path, ignored);
    return ignored;
  }

  #decides(path: string, { isDirectory }: { isDirectory: boolean }): boolean {
    for (const rule of this.#rules) {
      // A negated rule ignores everything that does not match it. Later rules still apply to matching paths.
      if (rule.isNegated) {
        if ((rule.isDirectory && !isDirectory) || !rule.matches(path)) return true;
        continue;
      }
      if (rule.isDirectory && !isDirectory) continue;
      if (rule.matches(path)) return true;
    }
    return false;
  }
}

function parseRule(line: string, number: number): Rule[] {
  if (line === '' || line.startsWith('#')) return [];
  const problem = (what: string): TemplateError => new TemplateError(`.helmignore:${number}: ${what}`);
  if (line.includes('**')) throw problem('double-star (**) syntax is not supported');
  const isNegated = line.startsWith('!');
  const bare = isNegated ? line.slice(1) : line;
  const isDirectory = bare.endsWith('/');
  const rule = isDirectory ? bare.slice(0, -1) : bare;
  try {
    const pattern = new PathPattern(rule.startsWith('/') ? rule.slice(1) : rule);
    const matches = rule.includes('/')
      ? (path: string): boolean => pattern.matches(path)
      : (path: string): boolean => pattern.matches(path.slice(path.lastIndexOf('/') + 1));
    return [{ isNegated, isDirectory, matches }];
  } catch (error) {
    if (error instanceof BadPattern) throw problem(error.message);
    throw error;
  }
}
