import { Glob, must, trimTrailing } from '../../machinery/index.ts';
import { evaluate } from './arithmetic.ts';
import { normalPath } from './host.ts';
import { Gathered, ShellLimitError, shellLimits } from './limits.ts';
import { Leave, pathIn, type ShellState } from './state.ts';
import type { Piece, Script, Word } from './syntax.ts';

/** Runs the script in `$(…)` and returns its output. */
export type Substitute = (script: Script) => Promise<string>;

/** A piece of text that may still be split or matched against files. */
interface Chunk {
  readonly text: string;
  readonly isQuoted: boolean;
  /** starts a new field: the elements of "$@" */
  readonly startsField?: boolean;
}

/** Expands words to an argument list: variables, substitution, splitting, braces, file names. */
export async function expandWords(
  state: ShellState,
  words: readonly Word[],
  substitute: Substitute,
  report: (message: string) => void,
): Promise<string[]> {
  const fields: string[] = [];
  let length = 0;
  for (const word of words) {
    for (const variant of braces(word)) {
      const chunks = await chunksOf(state, variant, substitute, report);
      for (const field of split(chunks)) {
        for (const name of fileNames(state, field)) {
          length += name.length;
          if (fields.length >= shellLimits.words || length > shellLimits.text) {
            throw new ShellLimitError('Argument list too long');
          }
          fields.push(name);
        }
      }
      state.use.spendText(length);
      await state.use.breathe(state.host);
    }
  }
  return fields;
}

/** Expands a word to a single text: for an assignment or a redirection. */
export async function expandText(
  state: ShellState,
  word: Word,
  substitute: Substitute,
  report: (message: string) => void,
): Promise<string> {
  const chunks = await chunksOf(state, word, substitute, report);
  const whole = new Gathered();
  for (const [index, { text, startsField }] of chunks.entries())
    whole.add(startsField && index > 0 ? ` ${text}` : text);
  return whole.text();
}

/** Expands a word to a pattern. Quoted characters are literal. */
export async function expandPattern(
  state: ShellState,
  word: Word,
  substitute: Substitute,
  report: (message: string) => void,
): Promise<string> {
  const chunks = await chunksOf(state, word, substitute, report);
  return chunks.map(({ text, isQuoted }) => (isQuoted ? text.replace(/[*?[\\]/g, '\\$&') : text)).join('');
}

async function chunksOf(
  state: ShellState,
  word: Word,
  substitute: Substitute,
  report: (message: string) => void,
): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  let length = 0;
  for (const [index, piece] of word.entries()) {
    const before = chunks.length;
    switch (piece.kind) {
      case 'text':
        chunks.push({
          text: index === 0 && !piece.isQuoted ? withHome(state, piece.text) : piece.text,
          isQuoted: piece.isQuoted,
        });
        break;
      case 'command':
        chunks.push({ text: trimTrailing(await substitute(piece.script), '\n'), isQuoted: piece.isQuoted });
        break;
      case 'arithmetic': {
        const text = await expandText(state, piece.expression, substitute, report);
        chunks.push({ text: String(evaluate(text, state.variables)), isQuoted: piece.isQuoted });
        break;
      }
      case 'variable':
        if ((piece.name === '@' || piece.name === '*') && piece.operator === undefined && piece.isQuoted) {
          if (piece.name === '*') chunks.push({ text: state.arguments.join(' '), isQuoted: true });
          else
            for (const [n, text] of state.arguments.entries())
              chunks.push({ text, isQuoted: true, startsField: n > 0 });
        } else {
          chunks.push({ text: await variable(state, piece, substitute, report), isQuoted: piece.isQuoted });
        }
        break;
    }
    for (const { text } of chunks.slice(before)) length += text.length;
    state.use.spendText(length);
    if (length > shellLimits.text) throw new ShellLimitError('cannot allocate memory');
  }
  return chunks;
}

function withHome(state: ShellState, text: string): string {
  return text === '~' || text.startsWith('~/') ? pathIn(state, text) : text;
}

async function variable(
  state: ShellState,
  piece: Extract<Piece, { kind: 'variable' }>,
  substitute: Substitute,
  report: (message: string) => void,
): Promise<string> {
  const { name, operator, operand } = piece;
  const value = variableValue(state, name);
  const text = (word: Word | undefined): Promise<string> =>
    word ? expandText(state, word, substitute, report) : Promise.resolve('');
  const isMissing = operator?.startsWith(':') ? !value : value === undefined;
  switch (operator) {
    case undefined:
      if (value === undefined && state.options.refusesUnset) {
        report(`${name}: unbound variable`);
        throw new Leave('exit', 1);
      }
      return value ?? '';
    case 'length':
      return String((value ?? '').length);
    case ':-':
    case '-':
      return isMissing ? text(operand) : (value ?? '');
    case ':=':
    case '=': {
      if (!isMissing) return value ?? '';
      const given = await text(operand);
      state.variables.set(name, given);
      return given;
    }
    case ':+':
    case '+':
      return isMissing ? '' : text(operand);
    case ':?':
    case '?':
      if (!isMissing) return value ?? '';
      report(`${name}: ${(await text(operand)) || 'parameter null or not set'}`);
      throw new Leave('exit', 1);
    case '/':
    case '//': {
      const pattern = await expandPattern(state, operand ?? [], substitute, report);
      const by = await text(piece.replacement);
      return new Glob(pattern).replace(value ?? '', by, operator === '//' ? 'all' : 'first');
    }
    default:
      return trimmed(value ?? '', operator, await expandPattern(state, operand ?? [], substitute, report));
  }
}

/** `#`, `##`, `%`, `%%` remove the shortest or longest matching prefix or suffix. */
function trimmed(value: string, operator: string, pattern: string): string {
  const glob = new Glob(pattern);
  const match = operator.length === 2 ? 'longest' : 'shortest';
  if (operator.startsWith('%')) return value.slice(0, value.length - (glob.suffix(value, match) ?? 0));
  return value.slice(glob.prefix(value, match) ?? 0);
}

export function variableValue(state: ShellState, name: string): string | undefined {
  switch (name) {
    case '?':
      return String(state.status);
    case '#':
      return String(state.arguments.length);
    case '@':
    case '*':
      return state.arguments.join(' ');
    case '$':
      return String(1000 + state.depth);
    case '!':
      return String(2000 + state.background.size);
    case '-':
      return state.options.stopsAtErrors ? 'e' : '';
    case '0':
      return state.name;
    case 'PWD':
      return state.directory;
    case 'HOSTNAME':
      return state.host.hostname;
    case 'RANDOM':
      return String(Math.floor(state.host.random.next() * 32_768));
    case 'LINENO':
      return String(state.line);
    case 'EUID':
    case 'UID':
      return '0';
  }
  return /^[1-9]\d*$/.test(name) ? state.arguments[Number(name) - 1] : state.variables.get(name);
}

interface Field {
  readonly text: string;
  /** the text with quoted parts escaped, if it has unquoted pattern characters */
  readonly pattern: string | undefined;
}

function split(chunks: readonly Chunk[]): Field[] {
  const fields: Field[] = [];
  let text = '';
  let pattern = '';
  let isStarted = false;
  let isPattern = false;
  const end = (): void => {
    if (isStarted) fields.push({ text, pattern: isPattern ? pattern : undefined });
    text = '';
    pattern = '';
    isStarted = false;
    isPattern = false;
  };
  for (const chunk of chunks) {
    if (chunk.startsField && isStarted) end();
    if (chunk.isQuoted) {
      text += chunk.text;
      pattern += chunk.text.replace(/[*?[\\]/g, '\\$&');
      isStarted = true;
      continue;
    }
    const parts = chunk.text.split(/[ \t\n]+/);
    for (const [index, part] of parts.entries()) {
      if (index > 0) end();
      if (part === '') continue;
      text += part;
      pattern += part;
      isStarted = true;
      if (/[*?[]/.test(part)) isPattern = true;
    }
  }
  end();
  return fields;
}

function fileNames(state: ShellState, { text, pattern }: Field): string[] {
  if (pattern === undefined || !pattern.includes('/')) {
    if (pattern === undefined || state.directory === '/') return [text];
  }
  const path = pattern.startsWith('/') ? pattern : `${state.directory}/${pattern}`;
  const fixed = path.slice(0, path.search(/[*?[]/));
  const base = normalPath(fixed.slice(0, fixed.lastIndexOf('/') + 1));
  const fits = new Glob(path, { beyond: false });
  const depth = path.split('/').length;
  const found = new Set<string>();
  const files = state.host.disk.list(base === '/' ? '/' : `${base}/`);
  state.use.spend(files.length / 100);
  for (const file of files) {
    const candidate = file.split('/').slice(0, depth).join('/');
    if (fits.test(candidate)) found.add(candidate);
  }
  if (found.size === 0) return [text];
  const prefix = pattern.startsWith('/') ? 0 : state.directory.length + 1;
  return [...found].sort().map((name) => name.slice(prefix));
}

/** Expands `a{b,c}d` to two words. Only unquoted braces with a comma count. */
function braces(word: Word): readonly Word[] {
  const done: Word[] = [];
  /** words, and the position in them to continue from */
  const open: { readonly word: Word; readonly index: number; readonly from: number }[] = [{ word, index: 0, from: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const found = firstBraces(next.word, next.index, next.from);
    if (!found) {
      done.push(next.word);
      continue;
    }
    const { index, start, end, text } = found;
    const items = text.slice(start + 1, end).split(',');
    if (done.length + open.length + items.length > shellLimits.words)
      throw new ShellLimitError('Argument list too long');
    for (const item of items.reverse()) {
      const changed = {
        kind: 'text',
        text: text.slice(0, start) + item + text.slice(end + 1),
        isQuoted: false,
      } as const;
      open.push({
        word: [...next.word.slice(0, index), changed, ...next.word.slice(index + 1)],
        index,
        from: start + item.length,
      });
    }
  }
  return done;
}

/** Finds the first innermost braces with a comma after a position. */
function firstBraces(
  word: Word,
  fromPiece: number,
  from: number,
): { readonly index: number; readonly start: number; readonly end: number; readonly text: string } | undefined {
  for (let index = fromPiece; index < word.length; index++) {
    const piece = must(word[index], 'word[index]');
    if (piece.kind !== 'text' || piece.isQuoted) continue;
    const { text } = piece;
    let start = -1;
    let hasComma = false;
    for (let at = index === fromPiece ? from : 0; at < text.length; at++) {
      const char = text[at];
      if (char === '{') {
        start = at;
        hasComma = false;
      } else if (char === ',') hasComma = true;
      else if (char === '}') {
        if (start >= 0 && hasComma) return { index, start, end: at, text };
        start = -1;
      }
    }
  }
  return undefined;
}
