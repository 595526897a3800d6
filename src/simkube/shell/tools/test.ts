import { Glob, LinearPattern, must, PatternError } from '../../../machinery/index.ts';
import { pathIn, type ShellState, type Tool } from '../state.ts';

/** Size of a file; undefined if it does not exist. */
const sizeOf = (state: ShellState, path: string): number | undefined =>
  path === '' ? undefined : state.host.disk.read(pathIn(state, path))?.length;

const isDirectory = (state: ShellState, path: string): boolean =>
  path !== '' && state.host.disk.isDirectory(pathIn(state, path));

const unary: Readonly<Record<string, (state: ShellState, value: string) => boolean>> = {
  '-e': (state, path) => sizeOf(state, path) !== undefined || isDirectory(state, path) || isDevice(path),
  '-f': (state, path) => sizeOf(state, path) !== undefined,
  '-d': isDirectory,
  '-s': (state, path) => (sizeOf(state, path) ?? 0) > 0,
  '-r': (state, path) => sizeOf(state, path) !== undefined || isDirectory(state, path),
  '-w': (state, path) => sizeOf(state, path) !== undefined || isDirectory(state, path),
  '-x': (state, path) => isDirectory(state, path) || ((state.host.disk.mode(pathIn(state, path)) ?? 0) & 0o111) !== 0,
  '-b': (_state, path) => isDevice(path),
  '-L': () => false,
  '-h': () => false,
  '-t': () => false,
  '-z': (_state, value) => value === '',
  '-n': (_state, value) => value !== '',
  '-v': (state, name) => state.variables.has(name),
};

/** Devices that always exist; the only disk among them is the root disk. */
function isDevice(path: string): boolean {
  return /^\/dev\/(?:null|zero|console|vda\d*)$/.test(path);
}

const numbers: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '-eq': (a, b) => a === b,
  '-ne': (a, b) => a !== b,
  '-lt': (a, b) => a < b,
  '-le': (a, b) => a <= b,
  '-gt': (a, b) => a > b,
  '-ge': (a, b) => a >= b,
};

const maxDepth = 100;

class TestSyntaxError extends Error {}

/** Evaluates `test`, `[` and `[[`, which share a grammar. Only `[[` supports patterns. */
function evaluate(state: ShellState, words: readonly string[], hasPatterns: boolean): boolean {
  let at = 0;
  let depth = 0;
  /** Limits the nesting of tests. */
  const inner = (work: () => boolean): boolean => {
    if (++depth > maxDepth) throw new TestSyntaxError('too many arguments');
    const value = work();
    depth--;
    return value;
  };
  const or = (): boolean => {
    let value = and();
    while (words[at] === '-o' || words[at] === '||') {
      at++;
      const right = and();
      value = value || right;
    }
    return value;
  };
  const and = (): boolean => {
    let value = not();
    while (words[at] === '-a' || words[at] === '&&') {
      at++;
      const right = not();
      value = value && right;
    }
    return value;
  };
  const not = (): boolean => {
    if (words[at] !== '!' || at + 1 >= words.length) return primary();
    at++;
    return !inner(not);
  };
  const primary = (): boolean => {
    const left = words[at++];
    if (left === undefined) return false;
    if (left === '(' && words.length > at) {
      const value = inner(or);
      if (words[at++] !== ')') throw new TestSyntaxError("missing `)'");
      return value;
    }
    const next = words[at];
    if (next !== undefined && (isBinary(next) || next in numbers) && at + 1 < words.length) {
      at += 2;
      return binary(left, next, must(words[at - 1], 'words[at - 1]'));
    }
    const check = unary[left];
    if (check && next !== undefined && next !== '-a' && next !== '-o' && next !== '&&' && next !== '||') {
      at++;
      return check(state, next);
    }
    return left !== '';
  };
  const binary = (left: string, operator: string, right: string): boolean => {
    const compare = numbers[operator];
    if (compare) {
      for (const value of [left, right]) {
        if (!/^\s*[-+]?\d+\s*$/.test(value)) throw new TestSyntaxError(`${value}: integer expression expected`);
      }
      return compare(Number(left), Number(right));
    }
    switch (operator) {
      case '=':
      case '==':
        return hasPatterns ? new Glob(right).test(left) : left === right;
      case '!=':
        return hasPatterns ? !new Glob(right).test(left) : left !== right;
      case '=~': {
        const found = new LinearPattern(right).exec(left);
        state.variables.set('BASH_REMATCH', found?.groups[0] ?? '');
        return found !== undefined;
      }
      case '<':
        return left < right;
      default:
        return left > right;
    }
  };
  const value = words.length === 0 ? false : or();
  if (at < words.length) throw new TestSyntaxError(`too many arguments`);
  return value;
}

const isBinary = (word: string): boolean => ['=', '==', '!=', '=~', '<', '>'].includes(word);

const test =
  (close: string | undefined): Tool =>
  ({ state, streams }, args) => {
    const name = close === undefined ? 'test' : close === ']' ? '[' : '[[';
    if (close !== undefined && args.at(-1) !== close) {
      streams.error(`${state.name}: line ${state.line}: ${name}: missing \`${close}'\n`);
      return 2;
    }
    try {
      const words = close === undefined ? args : args.slice(0, -1);
      return evaluate(state, words, close === ']]') ? 0 : 1;
    } catch (error) {
      if (!(error instanceof TestSyntaxError || error instanceof PatternError)) throw error;
      streams.error(`${state.name}: line ${state.line}: ${name}: ${error.message}\n`);
      return 2;
    }
  };

export const testTools: Readonly<Record<string, Tool>> = {
  test: test(undefined),
  '[': test(']'),
  '[[': test(']]'),
};
