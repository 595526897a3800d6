import { must } from '../../../machinery/index.ts';
import { ArithmeticError, evaluate } from '../arithmetic.ts';
import { normalPath } from '../host.ts';
import { childProcess, Leave, pathIn, type ShellState, type Tool } from '../state.ts';
import { unescapeC } from '../word-reader.ts';
import { tools } from './table.ts';

const leave =
  (what: Leave['what'], usual: (state: ShellState) => number): Tool =>
  ({ state }, [value]) => {
    throw new Leave(what, value === undefined ? usual(state) : Number(value) & 0xff);
  };

const optionNames: Readonly<Record<string, keyof ShellState['options']>> = {
  e: 'stopsAtErrors',
  errexit: 'stopsAtErrors',
  x: 'traces',
  xtrace: 'traces',
  pipefail: 'failsInPipes',
  u: 'refusesUnset',
  nounset: 'refusesUnset',
};

const set: Tool = ({ state }, args) => {
  for (let i = 0; i < args.length; i++) {
    const arg = must(args[i], 'args[i]');
    if (arg === '--') {
      state.arguments = args.slice(i + 1);
      return 0;
    }
    const isOn = arg.startsWith('-');
    if (!isOn && !arg.startsWith('+')) {
      state.arguments = args.slice(i);
      return 0;
    }
    for (const letter of arg.slice(1)) {
      const option = optionNames[letter === 'o' ? (args[++i] ?? '') : letter];
      if (option) state.options[option] = isOn;
    }
  }
  return 0;
};

const assignVariable =
  (isExported: boolean): Tool =>
  ({ state }, args) => {
    for (const arg of args) {
      if (arg.startsWith('-')) continue;
      const equals = arg.indexOf('=');
      const name = equals < 0 ? arg : arg.slice(0, equals);
      if (equals >= 0) state.variables.set(name, arg.slice(equals + 1));
      if (isExported) state.exported.add(name);
    }
    return 0;
  };

const echo: Tool = ({ streams }, args) => {
  let at = 0;
  let isLine = true;
  let isEscaped = false;
  for (; /^-[neE]+$/.test(args[at] ?? ''); at++) {
    if (must(args[at], 'args[at]').includes('n')) isLine = false;
    if (must(args[at], 'args[at]').includes('e')) isEscaped = true;
  }
  const text = args.slice(at).join(' ');
  streams.out((isEscaped ? unescapeC(text) : text) + (isLine ? '\n' : ''));
  return 0;
};

const maxWidth = 10_000;

const printf: Tool = ({ state, streams }, [format = '', ...args]) => {
  const template = unescapeC(format);
  let used = 0;
  do {
    const before = used;
    streams.out(
      template.replace(
        /%(-?\d*)(?:\.(\d+))?([sdiqbxo%])/g,
        (_, width: string, precision: string | undefined, kind: string) => {
          if (kind === '%') return '%';
          const value = args[used++] ?? (kind === 'd' || kind === 'i' ? '0' : '');
          const whole = kind === 'b' ? unescapeC(value) : kind === 'x' ? Number(value).toString(16) : value;
          const text =
            precision === undefined || kind === 'd' || kind === 'i' ? whole : whole.slice(0, Number(precision));
          const columns = Math.min(Math.abs(Number(width)), maxWidth);
          return width.startsWith('-') ? text.padEnd(columns) : text.padStart(columns);
        },
      ),
    );
    state.use.spendText(template.length + 100);
    // A format that consumes no arguments is printed once.
    if (used === before) break;
  } while (used < args.length);
  return 0;
};

const change: Tool = ({ state, streams }, [target = '~']) => {
  const path = normalPath(pathIn(state, target));
  if (!state.host.disk.isDirectory(path)) {
    streams.error(`${state.name}: line ${state.line}: cd: ${target}: No such file or directory\n`);
    return 1;
  }
  state.directory = path;
  return 0;
};

const readLine: Tool = ({ state, streams }, args) => {
  const names = args.filter((arg) => !arg.startsWith('-'));
  const { input } = streams;
  if (input.text === '') return 1;
  const end = input.text.indexOf('\n');
  const line = end < 0 ? input.text : input.text.slice(0, end);
  input.text = end < 0 ? '' : input.text.slice(end + 1);
  const words = line.trim().split(/\s+/);
  for (const [index, name] of names.entries()) {
    state.variables.set(name, index === names.length - 1 ? words.slice(index).join(' ') : (words[index] ?? ''));
  }
  if (names.length === 0) state.variables.set('REPLY', line);
  return 0;
};

const source: Tool = async ({ state, streams, runner }, [file = '', ...args]) => {
  const text = state.host.disk.read(pathIn(state, file));
  if (text === undefined) {
    streams.error(`${state.name}: line ${state.line}: ${file}: No such file or directory\n`);
    return 1;
  }
  const outer = state.arguments;
  if (args.length > 0) state.arguments = args;
  try {
    return await runner.source(state, text, streams);
  } catch (error) {
    if (error instanceof Leave && error.what === 'return') return error.value;
    throw error;
  } finally {
    state.arguments = outer;
  }
};

/** Returns the location of a command; undefined if it does not exist. */
function whereIs({ functions, host }: ShellState, name: string): string | undefined {
  if (functions.has(name)) return name;
  if (name.includes('/')) return host.disk.read(name) === undefined ? undefined : name;
  for (const directory of ['/usr/local/bin', '/usr/bin', '/usr/sbin', '/opt/bin']) {
    if (host.disk.read(`${directory}/${name}`) !== undefined) return `${directory}/${name}`;
  }
  return host.command(name) || tools.has(name) ? `/usr/bin/${name}` : undefined;
}

const which: Tool = ({ state, streams }, args) => {
  let status = 0;
  for (const name of args.filter((arg) => !arg.startsWith('-'))) {
    const where = whereIs(state, name);
    if (where === undefined) status = 1;
    else streams.out(`${where}\n`);
  }
  return status;
};

/** `sh -c …`, `bash script …`, or a script from standard input. */
const shell: Tool = async ({ state, streams, runner }, args) => {
  const child = childProcess(state, 'sh', []);
  let at = 0;
  let command: string | undefined;
  for (; args[at]?.startsWith('-') && args[at] !== '-'; at++) {
    const letters = must(args[at], 'args[at]');
    if (letters === '--') continue;
    if (letters.includes('e')) child.options.stopsAtErrors = true;
    if (letters.includes('x')) child.options.traces = true;
    if (letters.includes('u')) child.options.refusesUnset = true;
    if (letters.endsWith('o') && args[at + 1] === 'pipefail') {
      child.options.failsInPipes = true;
      at++;
    } else if (letters.endsWith('c')) command = args[++at] ?? '';
  }
  const rest = args.slice(at);
  let text = command;
  if (text !== undefined) {
    child.name = rest[0] ?? 'sh';
    child.arguments = rest.slice(1);
  } else if (rest[0] !== undefined && rest[0] !== '-') {
    text = state.host.disk.read(pathIn(state, rest[0]));
    if (text === undefined) {
      streams.error(`sh: 0: cannot open ${rest[0]}: No such file\n`);
      return 127;
    }
    child.name = rest[0];
    child.arguments = rest.slice(1);
  } else {
    text = streams.input.text;
    child.arguments = rest.slice(1);
  }
  try {
    return await runner.source(child, text, streams);
  } catch (error) {
    if (error instanceof Leave) return error.value;
    throw error;
  }
};

/** Runs the remaining words as a command, after its own options. */
const prefix =
  (skip: (args: readonly string[]) => number): Tool =>
  ({ state, streams, runner }, args) => {
    const words = args.slice(skip(args));
    return words.length === 0 ? 0 : runner.run(state, words, streams);
  };

const flagsOnly = (args: readonly string[]): number => {
  const first = args.findIndex((arg) => !arg.startsWith('-'));
  return first < 0 ? args.length : first;
};

const environment: Tool = async ({ state, streams, runner }, args) => {
  const child = childProcess(state, state.name, state.arguments);
  let at = 0;
  for (; at < args.length; at++) {
    const arg = must(args[at], 'args[at]');
    const equals = arg.indexOf('=');
    if (equals > 0) {
      child.variables.set(arg.slice(0, equals), arg.slice(equals + 1));
      child.exported.add(arg.slice(0, equals));
    } else if (arg === '-u') child.variables.delete(args[++at] ?? '');
    else if (arg === '-i') child.variables.clear();
    else if (!arg.startsWith('-')) break;
  }
  if (at < args.length) return runner.run(child, args.slice(at), streams);
  for (const name of [...child.exported].sort()) streams.out(`${name}=${child.variables.get(name) ?? ''}\n`);
  return 0;
};

/** Maximum duration of one timer. */
const longestMs = 86_400_000;

async function passAll({ host }: ShellState, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= longestMs) await host.pass(Math.min(left, longestMs));
}

/** Builtins of the shell. */
export const builtins: Readonly<Record<string, Tool>> = {
  ':': () => 0,
  true: () => 0,
  false: () => 1,
  exit: leave('exit', ({ status }) => status),
  return: leave('return', ({ status }) => status),
  break: leave('break', () => 1),
  continue: leave('continue', () => 1),
  set,
  echo,
  printf,
  cd: change,
  pwd: ({ state, streams }) => {
    streams.out(`${state.directory}\n`);
    return 0;
  },
  export: assignVariable(true),
  local: assignVariable(false),
  declare: assignVariable(false),
  typeset: assignVariable(false),
  readonly: assignVariable(false),
  unset: ({ state }, args) => {
    for (const name of args) {
      state.variables.delete(name);
      state.exported.delete(name);
    }
    return 0;
  },
  shift: ({ state }, [by = '1']) => {
    state.arguments = state.arguments.slice(Number(by));
    return 0;
  },
  read: readLine,
  source,
  '.': source,
  eval: ({ state, streams, runner }, args) => runner.source(state, args.join(' '), streams),
  exec: async ({ state, streams, runner }, args) => {
    if (args.length === 0) return 0;
    throw new Leave('exit', await runner.run(state, args, streams));
  },
  let: ({ state, streams }, args) => {
    try {
      return evaluate(args.join(' ').replace(/^0\+/, ''), state.variables) === 0 ? 1 : 0;
    } catch (error) {
      if (!(error instanceof ArithmeticError)) throw error;
      streams.error(`${state.name}: line ${state.line}: ${error.message}\n`);
      return 1;
    }
  },
  wait: async ({ state }) => {
    await Promise.all(state.background);
    return 0;
  },
  trap: () => 0,
  umask: () => 0,
  ulimit: () => 0,
  alias: () => 0,
  shopt: () => 0,
  hash: () => 0,
  jobs: () => 0,
  type: which,
  which,
  command: (context, args) => (args[0]?.startsWith('-') ? which(context, args) : prefix(() => 0)(context, args)),
  sh: shell,
  bash: shell,
  dash: shell,
  ash: shell,
  env: environment,
  sudo: prefix((args) => (args[0] === '-u' ? 2 : flagsOnly(args))),
  nohup: prefix(flagsOnly),
  time: prefix(flagsOnly),
  nice: prefix((args) => (args[0] === '-n' ? 2 : flagsOnly(args))),
  ionice: prefix((args) => flagsOnly(args) + (args[0] === '-c' ? 1 : 0)),
  timeout: prefix((args) => {
    let at = 0;
    while (args[at]?.startsWith('-')) at += args[at] === '-k' || args[at] === '-s' ? 2 : 1;
    return at + 1;
  }),
  sleep: async ({ state, streams }, args) => {
    const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
    let seconds = 0;
    for (const arg of args) {
      if (arg === 'infinity' || arg === 'inf') {
        seconds = Number.POSITIVE_INFINITY;
        continue;
      }
      const match = /^(\d{1,12}(?:\.\d{0,9})?|\.\d{1,9})([smhd]?)$/.exec(arg);
      if (!match) {
        streams.error(`sleep: invalid time interval '${arg}'\n`);
        return 1;
      }
      seconds += Number(match[1]) * (units[match[2] || 's'] ?? 1);
    }
    await passAll(state, seconds * 1000 * state.host.timeScale);
    return 0;
  },
};
