import { Glob, PatternError } from '../../machinery/index.ts';
import { ArithmeticError } from './arithmetic.ts';
import { expandPattern, expandText, expandWords, type Substitute } from './expand.ts';
import { Gathered, ShellLimitError, shellLimits } from './limits.ts';
import { parseScript } from './parse.ts';
import { childProcess, Leave, nested, pathIn, type Runner, type ShellState, type Streams, subshell } from './state.ts';
import {
  type Command,
  type Pipeline,
  type Redirect,
  type Script,
  ShellSyntaxError,
  type SimpleCommand,
} from './syntax.ts';
import { tools } from './tools/index.ts';

/** Context of a command: its streams, and whether its status is tested. */
interface Context {
  readonly streams: Streams;
  /** the status is tested, so a failure does not trigger `set -e` */
  readonly isTested: boolean;
}

const runner: Runner = {
  run: (state, words, streams) => runWords(state, words, { streams, isTested: false }),
  source: (state, text, streams) => nested(state, () => runText(state, text, { streams, isTested: false })),
};

/**
 * Runs a script in a shell of its own and returns its exit status. Rejects only if the machine is switched off, never
 * because of the script.
 */
export async function runScript(state: ShellState, text: string, streams: Streams): Promise<number> {
  try {
    return await runText(state, text, { streams, isTested: false });
  } catch (error) {
    if (error instanceof Leave) return error.value;
    if (error instanceof ShellLimitError) return killed(state, error, streams);
    throw error;
  }
}

/** Ends a script that exceeded a limit. */
function killed(state: ShellState, error: ShellLimitError, streams: Streams): number {
  streams.error(`${state.name}: ${error.message}\n`);
  state.status = 2;
  return 2;
}

/** Runs a typed line, and returns whether the user leaves the shell. */
export async function runLine(
  state: ShellState,
  text: string,
  streams: Streams,
): Promise<{ readonly isOver: boolean }> {
  try {
    state.status = await runText(state, text, { streams, isTested: false });
    return { isOver: false };
  } catch (error) {
    if (error instanceof ShellLimitError) {
      killed(state, error, streams);
      return { isOver: false };
    }
    if (!(error instanceof Leave)) throw error;
    state.status = error.value;
    return { isOver: error.what === 'exit' };
  }
}

async function runText(state: ShellState, text: string, context: Context): Promise<number> {
  let script: Script;
  state.use.spend(text.length / 1000);
  await state.use.breathe(state.host);
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
      startJob(own, () => runList(own, first, rest, context));
      state.status = 0;
      continue;
    }
    state.status = await runList(state, first, rest, context);
  }
  return state.status;
}

function startJob(state: ShellState, run: () => Promise<unknown>): void {
  const { use, background } = state;
  if (use.jobs >= shellLimits.jobs) throw new ShellLimitError('fork: retry: Resource temporarily unavailable');
  use.jobs++;
  const work = nested(state, run)
    .catch(() => {})
    .finally(() => {
      use.jobs--;
      background.delete(work);
    });
  background.add(work);
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
    const written = new Gathered();
    const streams: Streams = {
      input,
      out: isLast ? context.streams.out : (text) => written.add(text),
      error: context.streams.error,
    };
    // In a pipeline, commands run in subshells. Only a single command can change its shell.
    const own = commands.length > 1 ? subshell(state) : state;
    status = await contained(commands.length > 1, () => runCommand(own, command, { ...inner, streams }));
    if (status !== 0) worst = status;
    input = { text: written.text() };
  }
  if (state.options.failsInPipes && worst !== 0) status = worst;
  if (isNegated) status = status === 0 ? 1 : 0;
  state.status = status;
  if (status !== 0 && state.options.stopsAtErrors && !context.isTested && !isNegated) throw new Leave('exit', status);
  return status;
}

/** `exit` and other jumps end at the boundary of a subshell. */
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
  state.use.spend(1);
  await state.use.breathe(state.host);
  try {
    return await runAnyCommand(state, command, context);
  } catch (error) {
    const why = failureOf(error);
    if (why === undefined) throw error;
    context.streams.error(`${state.name}: line ${state.line}: ${why}\n`);
    return 1;
  }
}

const systemErrors: Readonly<Record<string, string>> = {
  EROFS: 'Read-only file system',
  ENOSPC: 'No space left on device',
  EACCES: 'Permission denied',
};

/** Returns the error text of a failed command; undefined if the shell must handle the error. */
function failureOf(error: unknown): string | undefined {
  if (error instanceof PatternError) return error.message;
  return error instanceof Error && 'code' in error ? systemErrors[String(error.code)] : undefined;
}

async function runAnyCommand(state: ShellState, command: Command, context: Context): Promise<number> {
  if (command.kind === 'simple') return runSimple(state, command, context);
  if (command.kind === 'function') {
    if (state.functions.size >= shellLimits.functions) throw new ShellLimitError('cannot allocate memory');
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
      return contained(true, () => nested(state, () => runStatements(subshell(state), command.body, context)));
    case 'if':
      for (const { test, body } of command.branches) {
        if ((await runStatements(state, test, tested)) === 0) return runStatements(state, body, context);
      }
      return command.otherwise ? runStatements(state, command.otherwise, context) : 0;
    case 'loop':
      return turns(async () => {
        const isGoing = ((await runStatements(state, command.test, tested)) === 0) !== command.isUntil;
        if (!isGoing) return undefined;
        // An empty loop must also yield to others.
        state.use.spend(1);
        await state.use.breathe(state.host);
        return () => runStatements(state, command.body, context);
      });
    case 'for': {
      const items = command.words ? await expandWords(state, command.words, substitute, report) : [...state.arguments];
      return turns(async (turn) => {
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
          if (!new Glob(await expandPattern(state, pattern, substitute, report)).test(value)) continue;
          return runStatements(state, body, context);
        }
      }
      return 0;
    }
  }
}

/** Runs the iterations of a loop, and handles `break` and `continue`. */
async function turns(next: (turn: number) => Promise<(() => Promise<number>) | undefined>): Promise<number> {
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

/** An assignment has the status of its last command substitution. */
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

/** File content that represents a program: its name and version. */
export function simulatedBinary(name: string, version: string): string {
  return `#!simulated ${name} ${version}\n`;
}

function binaryName(text: string): string | undefined {
  return /^#!simulated (\S+)/.exec(text)?.[1];
}

/** Finds a program installed on the disk. */
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
    return await nested(state, () => runCommand(state, body, context));
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
  const child = childProcess(state, name, args);
  if (interpreter?.[2]?.startsWith('-')) child.options.stopsAtErrors = interpreter[2].includes('e');
  return nested(child, () => runScript(child, text, streams));
}

function helpers(state: ShellState, context: Context): { substitute: Substitute; report: (message: string) => void } {
  return {
    async substitute(script) {
      const written = new Gathered();
      const streams: Streams = { ...context.streams, out: (text) => written.add(text) };
      const own = subshell(state);
      state.status = await contained(true, () =>
        nested(own, () => runStatements(own, script, { streams, isTested: true })),
      );
      return written.text();
    },
    report: (message) => context.streams.error(`${state.name}: line ${state.line}: ${message}\n`),
  };
}

/** Applies the redirections of a command. Returns undefined if a file does not exist. */
async function redirect(
  state: ShellState,
  redirects: readonly Redirect[],
  context: Context,
): Promise<{ streams: Streams; close: () => void } | undefined> {
  if (redirects.length === 0) return { streams: context.streams, close: () => {} };
  const { substitute, report } = helpers(state, context);
  const { disk } = state.host;
  const files = new Map<string, Gathered>();
  let { input, out, error } = context.streams;
  const toFile = (path: string, isAppended: boolean): ((text: string) => void) => {
    if (path === '/dev/null') return () => {};
    if (path === '/dev/console' || path === '/dev/tty' || path === '/dev/stdout') return context.streams.out;
    if (path === '/dev/stderr') return context.streams.error;
    const content = new Gathered(isAppended ? (disk.read(path) ?? '') : '');
    files.set(path, content);
    return (text) => content.add(text);
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
      for (const [path, content] of files) disk.write(path, content.text());
    },
  };
}
