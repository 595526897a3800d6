import { ArithmeticError } from './arithmetic.ts';
import { expandPattern, expandText, expandWords, type Substitute } from './expand.ts';
import { parseScript } from './parse.ts';
import { patternToRegExp } from './pattern.ts';
import { childProcess, Leave, pathIn, type Runner, type ShellState, type Streams, subshell } from './state.ts';
import {
  type Command,
  type Pipeline,
  type Redirect,
  type Script,
  ShellSyntaxError,
  type SimpleCommand,
} from './syntax.ts';
import { tools } from './tools/index.ts';

/** A script that calls itself, or a loop without end, is stopped here. */
const maxDepth = 20;
const maxTurns = 10_000;

/** Where assignments before a command and `set -e` look the other way. */
interface Context {
  readonly streams: Streams;
  /** the status is being asked for, so a failure is an answer */
  readonly isTested: boolean;
}

const runner: Runner = {
  run: (state, words, streams) => runWords(state, words, { streams, isTested: false }),
  source: (state, text, streams) => runText(state, text, { streams, isTested: false }),
};

/**
 * Runs a script in a shell of its own and gives its exit status. It rejects when the machine is switched off, and never
 * because of the script.
 */
export async function runScript(state: ShellState, text: string, streams: Streams): Promise<number> {
  try {
    return await runText(state, text, { streams, isTested: false });
  } catch (error) {
    if (error instanceof Leave) return error.value;
    throw error;
  }
}

/** Runs a line that somebody typed, and tells whether they are done with the shell. */
export async function runLine(
  state: ShellState,
  text: string,
  streams: Streams,
): Promise<{ readonly isOver: boolean }> {
  try {
    state.status = await runText(state, text, { streams, isTested: false });
    return { isOver: false };
  } catch (error) {
    if (!(error instanceof Leave)) throw error;
    state.status = error.value;
    return { isOver: error.what === 'exit' };
  }
}

async function runText(state: ShellState, text: string, context: Context): Promise<number> {
  let script: Script;
  try {
    script = parseScript(text);
  } catch (error) {
    if (!(error instanceof ShellSyntaxError)) throw error;
    context.streams.error(`${state.name}: line ${error.line}: ${error.message}\n`);
    state.status = 2;
    return 2;
  }
  return runStatements(state, script, context);
}

async function runStatements(state: ShellState, script: Script, context: Context): Promise<number> {
  for (const { first, rest, isBackground } of script) {
    if (isBackground) {
      const own = subshell(state);
      const work = runList(own, first, rest, context).catch(() => {});
      state.background.push(work);
      state.status = 0;
      continue;
    }
    state.status = await runList(state, first, rest, context);
  }
  return state.status;
}

async function runList(
  state: ShellState,
  first: Pipeline,
  rest: readonly { readonly operator: '&&' | '||'; readonly pipeline: Pipeline }[],
  context: Context,
): Promise<number> {
  let isLast = rest.length === 0;
  let status = await runPipeline(state, first, { ...context, isTested: context.isTested || !isLast });
  for (const [index, { operator, pipeline }] of rest.entries()) {
    if ((operator === '&&') !== (status === 0)) continue;
    isLast = index === rest.length - 1;
    status = await runPipeline(state, pipeline, { ...context, isTested: context.isTested || !isLast });
  }
  return status;
}

async function runPipeline(state: ShellState, { commands, isNegated }: Pipeline, context: Context): Promise<number> {
  const inner: Context = { ...context, isTested: context.isTested || isNegated };
  let status = 0;
  let worst = 0;
  let { input } = context.streams;
  for (const [index, command] of commands.entries()) {
    const isLast = index === commands.length - 1;
    const written: string[] = [];
    const streams: Streams = {
      input,
      out: isLast ? context.streams.out : (text) => void written.push(text),
      error: context.streams.error,
    };
    // Only a command that stands alone changes the shell it runs in.
    const own = commands.length > 1 ? subshell(state) : state;
    status = await contained(commands.length > 1, () => runCommand(own, command, { ...inner, streams }));
    if (status !== 0) worst = status;
    input = { text: written.join('') };
  }
  if (state.options.failsInPipes && worst !== 0) status = worst;
  if (isNegated) status = status === 0 ? 1 : 0;
  state.status = status;
  if (status !== 0 && state.options.stopsAtErrors && !context.isTested && !isNegated) throw new Leave('exit', status);
  return status;
}

/** What leaves a subshell ends there. */
async function contained(isSubshell: boolean, work: () => Promise<number>): Promise<number> {
  if (!isSubshell) return work();
  try {
    return await work();
  } catch (error) {
    if (error instanceof Leave) return error.value;
    throw error;
  }
}

async function runCommand(state: ShellState, command: Command, context: Context): Promise<number> {
  if (command.kind === 'simple') return runSimple(state, command, context);
  if (command.kind === 'function') {
    state.functions.set(command.name, command.body);
    return 0;
  }
  const redirected = await redirect(state, command.redirects, context);
  if (!redirected) return 1;
  try {
    return await runCompound(state, command, { ...context, streams: redirected.streams });
  } finally {
    redirected.close();
  }
}

async function runCompound(
  state: ShellState,
  command: Exclude<Command, { kind: 'simple' | 'function' }>,
  context: Context,
): Promise<number> {
  const tested: Context = { ...context, isTested: true };
  const { substitute, report } = helpers(state, context);
  switch (command.kind) {
    case 'group':
      if (!command.isSubshell) return runStatements(state, command.body, context);
      return contained(true, () => runStatements(subshell(state), command.body, context));
    case 'if':
      for (const { test, body } of command.branches) {
        if ((await runStatements(state, test, tested)) === 0) return runStatements(state, body, context);
      }
      return command.otherwise ? runStatements(state, command.otherwise, context) : 0;
    case 'loop':
      return turns(state, async (turn) => {
        const isGoing = ((await runStatements(state, command.test, tested)) === 0) !== command.isUntil;
        if (!isGoing || turn > maxTurns) return undefined;
        return () => runStatements(state, command.body, context);
      });
    case 'for': {
      const items = command.words ? await expandWords(state, command.words, substitute, report) : [...state.arguments];
      return turns(state, async (turn) => {
        const item = items[turn];
        if (item === undefined) return undefined;
        state.variables.set(command.name, item);
        return () => runStatements(state, command.body, context);
      });
    }
    case 'case': {
      const value = await expandText(state, command.word, substitute, report);
      for (const { patterns, body } of command.branches) {
        for (const pattern of patterns) {
          if (!patternToRegExp(await expandPattern(state, pattern, substitute, report)).test(value)) continue;
          return runStatements(state, body, context);
        }
      }
      return 0;
    }
  }
}

/** Goes round while there is another turn; `break` and `continue` act here. */
async function turns(
  state: ShellState,
  next: (turn: number) => Promise<(() => Promise<number>) | undefined>,
): Promise<number> {
  let status = 0;
  for (let turn = 0; ; turn++) {
    const body = await next(turn);
    if (!body) return status;
    try {
      status = await body();
    } catch (error) {
      if (!(error instanceof Leave) || (error.what !== 'break' && error.what !== 'continue')) throw error;
      if (error.value > 1) throw new Leave(error.what, error.value - 1);
      if (error.what === 'break') return 0;
    }
    // A loop that never waits would keep everybody else from their turn.
    if (turn % 100 === 99) await state.host.pass(10);
  }
}

async function runSimple(state: ShellState, command: SimpleCommand, context: Context): Promise<number> {
  state.line = command.line;
  const { substitute, report } = helpers(state, context);
  try {
    const words = await expandWords(state, command.words, substitute, report);
    const redirected = await redirect(state, command.redirects, context);
    if (!redirected) return 1;
    const assigned: [string, string][] = [];
    for (const { name, value, isAppended } of command.assignments) {
      const text = await expandText(state, value, substitute, report);
      assigned.push([name, isAppended ? (state.variables.get(name) ?? '') + text : text]);
    }
    if (state.options.traces && words.length > 0) context.streams.error(`+ ${words.join(' ')}\n`);
    const inner = { ...context, streams: redirected.streams };
    try {
      if (words.length === 0) return assign(state, assigned, command);
      return await withAssigned(state, assigned, () => runWords(state, words, inner));
    } finally {
      redirected.close();
    }
  } catch (error) {
    if (!(error instanceof ArithmeticError)) throw error;
    report(error.message);
    return 2;
  }
}

/** An assignment's status is that of the last command it asked. */
function assign(state: ShellState, assigned: readonly [string, string][], { assignments }: SimpleCommand): number {
  for (const [name, value] of assigned) state.variables.set(name, value);
  const asked = assignments.some(({ value }) => value.some(({ kind }) => kind === 'command'));
  return asked ? state.status : 0;
}

async function withAssigned<R>(
  state: ShellState,
  assigned: readonly [string, string][],
  work: () => Promise<R>,
): Promise<R> {
  if (assigned.length === 0) return work();
  const before = assigned.map(([name]) => [name, state.variables.get(name), state.exported.has(name)] as const);
  for (const [name, value] of assigned) {
    state.variables.set(name, value);
    state.exported.add(name);
  }
  try {
    return await work();
  } finally {
    for (const [name, value, wasExported] of before) {
      if (value === undefined) state.variables.delete(name);
      else state.variables.set(name, value);
      if (!wasExported) state.exported.delete(name);
    }
  }
}

async function runWords(state: ShellState, words: readonly string[], context: Context): Promise<number> {
  const [name = '', ...args] = words;
  const { streams } = context;
  const { host } = state;
  host.signal.throwIfAborted();
  const body = state.functions.get(name);
  if (body) return callFunction(state, body, args, context);
  const plain = name.includes('/') ? name.slice(name.lastIndexOf('/') + 1) : name;
  const file = name.includes('/') ? host.disk.read(pathIn(state, name)) : installed(state, name);
  if (file !== undefined) return runFile(state, name, file, args, streams);
  const isUsualPlace = !name.includes('/') || /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$/.test(name);
  const tool = isUsualPlace ? (host.command(plain) ?? tools.get(plain)) : undefined;
  if (tool) return tool({ state, streams, runner }, args);
  const why = name.includes('/') ? 'No such file or directory' : 'command not found';
  streams.error(`${state.name}: line ${state.line}: ${name}: ${why}\n`);
  return 127;
}

/** What stands for a program in a file: its name, and the version it is of. */
export function simulatedBinary(name: string, version: string): string {
  return `#!simulated ${name} ${version}\n`;
}

function binaryName(text: string): string | undefined {
  return /^#!simulated (\S+)/.exec(text)?.[1];
}

/** A program that was put on the disk. */
function installed({ host }: ShellState, name: string): string | undefined {
  for (const directory of ['/usr/local/bin/', '/usr/local/sbin/', '/usr/bin/', '/usr/sbin/', '/opt/bin/']) {
    const file = host.disk.read(directory + name);
    if (file !== undefined) return file;
  }
  return undefined;
}

async function callFunction(
  state: ShellState,
  body: Command,
  args: readonly string[],
  context: Context,
): Promise<number> {
  const outer = state.arguments;
  state.arguments = args;
  try {
    return await runCommand(state, body, context);
  } catch (error) {
    if (error instanceof Leave && error.what === 'return') return error.value;
    throw error;
  } finally {
    state.arguments = outer;
  }
}

async function runFile(
  state: ShellState,
  name: string,
  text: string,
  args: readonly string[],
  streams: Streams,
): Promise<number> {
  const mode = state.host.disk.mode(pathIn(state, name));
  if (name.includes('/') && mode !== undefined && (mode & 0o111) === 0) {
    streams.error(`${state.name}: line ${state.line}: ${name}: Permission denied\n`);
    return 126;
  }
  const binary = binaryName(text);
  const tool = binary === undefined ? undefined : state.host.command(binary);
  if (tool) return tool({ state, streams, runner }, args);
  const interpreter = /^#!\s*(\S+)(?:\s+(\S+))?/.exec(text);
  const language = interpreter?.[1]?.endsWith('/env') ? interpreter[2] : interpreter?.[1]?.split('/').pop();
  if (language !== undefined && !['sh', 'bash', 'dash', 'ash', 'zsh'].includes(language)) {
    streams.error(
      `${state.name}: line ${state.line}: ${name}: ${interpreter?.[1]}: bad interpreter: No such file or directory\n`,
    );
    return 127;
  }
  if (state.depth >= maxDepth) {
    streams.error(`${state.name}: ${name}: too many programs start each other\n`);
    return 126;
  }
  const child = childProcess(state, name, args);
  if (interpreter?.[2]?.startsWith('-')) child.options.stopsAtErrors = interpreter[2].includes('e');
  return runScript(child, text, streams);
}

function helpers(state: ShellState, context: Context): { substitute: Substitute; report: (message: string) => void } {
  return {
    async substitute(script) {
      const written: string[] = [];
      const streams: Streams = { ...context.streams, out: (text) => void written.push(text) };
      const own = subshell(state);
      state.status = await contained(true, () => runStatements(own, script, { streams, isTested: true }));
      return written.join('');
    },
    report: (message) => context.streams.error(`${state.name}: line ${state.line}: ${message}\n`),
  };
}

/** Puts a command's streams where its redirections say; undefined when a file is not there. */
async function redirect(
  state: ShellState,
  redirects: readonly Redirect[],
  context: Context,
): Promise<{ streams: Streams; close: () => void } | undefined> {
  if (redirects.length === 0) return { streams: context.streams, close: () => {} };
  const { substitute, report } = helpers(state, context);
  const { disk } = state.host;
  const files = new Map<string, string[]>();
  let { input, out, error } = context.streams;
  const toFile = (path: string, isAppended: boolean): ((text: string) => void) => {
    if (path === '/dev/null') return () => {};
    if (path === '/dev/console' || path === '/dev/tty' || path === '/dev/stdout') return context.streams.out;
    if (path === '/dev/stderr') return context.streams.error;
    const content = isAppended ? [disk.read(path) ?? ''] : [];
    files.set(path, content);
    return (text) => void content.push(text);
  };
  for (const { from, kind, target } of redirects) {
    const text = await expandText(state, target, substitute, report);
    if (kind === '<<') input = { text };
    else if (kind === '<<<') input = { text: `${text}\n` };
    else if (kind === '<') {
      const content = text === '/dev/null' ? '' : disk.read(pathIn(state, text));
      if (content === undefined) {
        report(`${text}: No such file or directory`);
        return undefined;
      }
      input = { text: content };
    } else if (kind === '>&' && /^[12]$/.test(text)) {
      if (from === 2) error = text === '1' ? out : error;
      else out = text === '2' ? error : out;
    } else if (kind === '>&' && text === '-') {
      if (from === 2) error = () => {};
      else out = () => {};
    } else if (kind !== '<&') {
      const sink = toFile(pathIn(state, text), kind === '>>');
      if (from === 2) error = sink;
      else out = sink;
    }
  }
  return {
    streams: { input, out, error },
    close: () => {
      for (const [path, content] of files) disk.write(path, content.join(''));
    },
  };
}
