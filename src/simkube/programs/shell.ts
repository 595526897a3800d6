import { must, sleep } from '../../machinery/index.ts';
import type { ProcessFiles, SimulatedProcess, SimulatedProgram } from '../process.ts';
import { normalPath, type ShellDisk, type ShellHost } from '../shell/host.ts';
import { runLine, runScript } from '../shell/run.ts';
import { freshState, type ShellState, type Streams, type Tool } from '../shell/state.ts';
import { ProgramFailure } from './failure.ts';
import type { SimulatedKubernetes } from './kubernetes.ts';
import { program, untilStopped } from './running.ts';

/** Names of the shell. */
export const shellNames: ReadonlySet<string> = new Set(['sh', 'bash', 'ash', 'dash']);

/** Exit code of a shell that SIGTERM interrupted. */
const terminated = 143;

/** Finds the program for a command name. */
export type ProgramFinder = (name: string) => ((kubernetes: SimulatedKubernetes) => SimulatedProgram) | undefined;

/** The shell of an image: runs scripts that use the programs of the image. */
export function shellProgram(kubernetes: SimulatedKubernetes, find: ProgramFinder): SimulatedProgram {
  return program(async (process) => {
    try {
      return await run(process);
    } catch (error) {
      // Deleting the Pod of a Job must not count as success.
      if (process.signal.aborted) return terminated;
      throw error;
    }
  });

  async function run(process: SimulatedProcess): Promise<number> {
    const { script, name, args, stopsAtErrors } = scriptOf(process);
    const output = process.screen ? { write: process.screen, end: () => {} } : lineWriter((line) => process.log(line));
    const state = freshState(hostOf(process, kubernetes, find), name, process.env);
    state.arguments = args;
    state.options.stopsAtErrors = stopsAtErrors;
    const write = { out: output.write, error: output.write };
    const status =
      script === undefined
        ? await runCommands(process, state, write)
        : await runScript(state, script, { input: { text: await whatIsGiven(process) }, ...write });
    await Promise.all(state.background);
    output.end();
    return status;
  }
}

interface Script {
  /** undefined: commands come from standard input */
  readonly script: string | undefined;
  readonly name: string;
  readonly args: readonly string[];
  readonly stopsAtErrors: boolean;
}

function scriptOf({ argv, files }: SimulatedProcess): Script {
  const [shell = 'sh', ...rest] = argv;
  let stopsAtErrors = false;
  for (let index = 0; index < rest.length; index++) {
    const word = must(rest[index], 'rest[index]');
    if (/^[-+][a-z]+$/.test(word)) {
      stopsAtErrors ||= word.startsWith('-') && word.includes('e');
      if (!word.includes('c')) continue;
      // `--` may end the options before the commands: bash -c -- COMMANDS
      const at = rest[index + 1] === '--' ? index + 2 : index + 1;
      const script = rest[at];
      if (script === undefined) throw new ProgramFailure(`${shell}: -c requires an argument`, 2);
      return { script, name: rest[at + 1] ?? shell, args: rest.slice(at + 2), stopsAtErrors };
    }
    const script = files.read(word);
    if (script === undefined)
      throw new ProgramFailure(`${shell}: can't open '${word}': No such file or directory`, 127);
    return { script, name: word, args: rest.slice(index + 1), stopsAtErrors };
  }
  return { script: undefined, name: shell, args: [], stopsAtErrors };
}

const prompt = '/ # ';
/** Time to wait for input. Most commands read none and must not block on it. */
const inputMs = 250;
const maxInput = 1024 * 1024;

/** Runs commands as they are typed, or as they arrive from a file or pipe. */
async function runCommands(
  process: SimulatedProcess,
  state: ShellState,
  write: Pick<Streams, 'out' | 'error'>,
): Promise<number> {
  const { input, screen } = process;
  if (!input) {
    if (process.hasOpenInput) await untilStopped(process);
    return 0;
  }
  if (!screen) {
    let script = '';
    for await (const text of input) {
      script += text;
      if (script.length > maxInput) throw new ProgramFailure('sh: cannot allocate memory', 2);
    }
    return runScript(state, script, { input: { text: '' }, ...write });
  }
  screen(prompt);
  for await (const line of input) {
    const { isOver } = await runLine(state, line, { input: { text: '' }, ...write });
    if (isOver) return state.status;
    screen(prompt);
  }
  return state.status;
}

/** Reads the input of a script until it ends or pauses. */
async function whatIsGiven({ input, screen, clock }: SimulatedProcess): Promise<string> {
  if (!input || screen) return '';
  const pieces = input[Symbol.asyncIterator]();
  let given = '';
  while (given.length < maxInput) {
    const pause = new AbortController();
    const next = await Promise.race([pieces.next(), sleep(clock, inputMs, pause.signal).catch(() => undefined)]);
    pause.abort();
    if (!next || next.done) break;
    given += next.value;
  }
  return given;
}

function hostOf(process: SimulatedProcess, kubernetes: SimulatedKubernetes, find: ProgramFinder): ShellHost {
  return {
    disk: diskOf(process.files),
    hostname: process.hostname,
    random: process.random,
    signal: process.signal,
    pace: kubernetes.shellPace,
    timeScale: 1,
    now: () => process.clock.now(),
    pass: (ms) => process.pass(ms),
    resolve: (name) => process.resolve(name),
    command(name) {
      // A nested shell runs inside this one, which limits the nesting depth.
      const make = shellNames.has(name) ? undefined : find(name);
      return make && toolOf(process, name, make(kubernetes));
    },
  };
}

/** Wraps a program as a shell command: it gets the shell's environment and output streams. */
function toolOf(process: SimulatedProcess, name: string, started: SimulatedProgram): Tool {
  return ({ state, streams }, args) => {
    const env: Record<string, string> = {};
    for (const key of state.exported) env[key] = state.variables.get(key) ?? '';
    const given = streams.input.text;
    return started({
      ...process,
      argv: [name, ...args],
      env,
      ...(given !== '' && { input: pieces(given) }),
      log: (line) => streams.out(`${line}\n`),
    });
  };
}

async function* pieces(text: string): AsyncGenerator<string> {
  yield text;
}

const usualDirectories: ReadonlySet<string> = new Set([
  '/',
  '/bin',
  '/etc',
  '/run',
  '/tmp',
  '/usr',
  '/var',
  '/var/lib',
]);

/** Containers have only files. A directory exists if it contains something, or while the shell remembers it. */
function diskOf(files: ProcessFiles): ShellDisk {
  const made = new Set<string>();
  const below = (path: string): string => `${path === '/' ? '' : path}/`;
  return {
    read: (path) => files.read(normalPath(path)),
    write: (path, content, mode) => files.write(normalPath(path), content, mode),
    remove: (path) => files.remove(normalPath(path)),
    list: (prefix) => files.list(prefix),
    // Mounted files have the mode of their volume. The shell runs as superuser and executes them in any case.
    mode: () => undefined,
    changeMode: () => {},
    makeDirectory: (path) => void made.add(normalPath(path)),
    isDirectory(given) {
      const path = normalPath(given);
      return made.has(path) || usualDirectories.has(path) || files.list(below(path)).length > 0;
    },
    removeTree(given) {
      const path = normalPath(given);
      const paths = files.list(below(path));
      if (files.read(path) !== undefined) paths.push(path);
      for (const each of paths) files.remove(each);
      return made.delete(path) || paths.length > 0;
    },
  };
}

const maxLine = 16 * 1024;

/** Converts partial output to lines. */
function lineWriter(log: (line: string) => void): { write(text: string): void; end(): void } {
  let rest = '';
  const end = (): void => {
    if (rest !== '') log(rest);
    rest = '';
  };
  return {
    write(text) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) log(line);
      // Overlong lines are logged in parts, as container runtimes do.
      if (rest.length > maxLine) end();
    },
    end,
  };
}
