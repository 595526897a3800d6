import { errorMessage, sleep } from '../../machinery/index.ts';
import type { SimulatedProcess, SimulatedProgram } from '../process.ts';
import type { PortService } from '../types.ts';
import { LogBuffer } from './log-buffer.ts';
import { onScreen, textOf, typedLines } from './terminal.ts';
import type { ContainerExit, ExecResult, ExecSession, RunningContainer } from './types.ts';

type Surroundings = Omit<SimulatedProcess, 'signal' | 'log' | 'listen' | 'pass'>;

export interface ContainerParts {
  readonly program: SimulatedProgram;
  readonly process: Surroundings;
  /** programs of commands that are executed beside the main program */
  readonly commands: (argv: readonly string[]) => SimulatedProgram | undefined;
  readonly execMs: number;
  listen(port: number, service: PortService): () => void;
  ended(): void;
}

/** Runs a program until it exits or is stopped. */
export function startContainer(parts: ContainerParts): RunningContainer {
  const { clock } = parts.process;
  const log = new LogBuffer();
  const stop = new AbortController();
  const closers = new Set<() => void>();
  let finish = (_exit: ContainerExit): void => {};
  const exited = new Promise<ContainerExit>((resolve) => {
    finish = (exit) => {
      // Open resources are closed when the program exits, like files and sockets of a process.
      for (const close of closers) close();
      closers.clear();
      parts.ended();
      finish = () => {};
      resolve(exit);
    };
  });
  const process: SimulatedProcess = {
    ...parts.process,
    signal: stop.signal,
    log: (line) => log.add(clock.now(), line),
    listen(port, service) {
      const close = parts.listen(port, service);
      closers.add(close);
      return () => {
        closers.delete(close);
        close();
      };
    },
    pass: (ms) => sleep(clock, ms, stop.signal),
  };
  run(parts.program, process).then(
    (code) => finish(exitOf(code)),
    (error: unknown) => {
      // A program that was interrupted while waiting exits successfully.
      if (stop.signal.aborted) return finish(exitOf(0));
      log.add(clock.now(), `panic: ${errorMessage(error)}`);
      finish(exitOf(2));
    },
  );
  return {
    exited,
    logs: () => log.lines(),
    onLine: (callback) => log.onLine(callback),
    readFile: (path) => parts.process.files.read(path),
    exec: (command, signal, session) =>
      session ? converse(parts, command, signal, session) : execute(parts, command, signal),
    async stop(graceMs) {
      stop.abort(new Error('terminated'));
      if (graceMs <= 0) finish({ exitCode: 137, signal: 9, reason: 'Error' });
      const cancel = clock.after(graceMs, () => finish({ exitCode: 137, signal: 9, reason: 'Error' }));
      await exited;
      cancel();
    },
  };
}

/** Converts a synchronous exception to a rejection. */
async function run(program: SimulatedProgram, process: SimulatedProcess): Promise<number> {
  return program(process);
}

function exitOf(exitCode: number): ContainerExit {
  return { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error' };
}

const maxOutput = 64 * 1024;

async function execute(parts: ContainerParts, command: readonly string[], signal: AbortSignal): Promise<ExecResult> {
  const { clock } = parts.process;
  await sleep(clock, parts.execMs, signal);
  const program = parts.commands(command);
  if (!program) return { exitCode: 0, stdout: '', stderr: '' };
  const lines: string[] = [];
  let length = 0;
  const exitCode = await run(program, {
    ...parts.process,
    argv: command,
    signal,
    log(line) {
      // Non-interactive callers such as probes and hooks need only the start of the output.
      length += line.length + 1;
      if (length <= maxOutput) lines.push(line);
    },
    listen: parts.listen,
    pass: (ms) => sleep(clock, ms, signal),
  });
  return { exitCode, stdout: lines.map((line) => `${line}\n`).join(''), stderr: '' };
}

/** Runs a command interactively. A command that is not a program is a shell command, or does not exist. */
async function converse(
  parts: ContainerParts,
  command: readonly string[],
  signal: AbortSignal,
  { stdin, tty, out }: ExecSession,
): Promise<ExecResult> {
  const { clock } = parts.process;
  const show = tty ? (text: string) => out(onScreen(text)) : out;
  await sleep(clock, parts.execMs, signal);
  // `kubectl cp` runs tar. Without this error, files would only appear to be copied.
  if (command[0] === 'tar') {
    show('tar: files cannot be copied into or out of simulated containers\n');
    return { exitCode: 1, stdout: '', stderr: '' };
  }
  const argv = parts.commands(command) ? command : ['sh', '-c', '"$@"', 'sh', ...command];
  const program = parts.commands(argv);
  if (!program) throw new Error(`exec: "${command[0]}": executable file not found in $PATH`);
  const input = stdin && (tty ? typedLines(textOf(stdin), out) : textOf(stdin));
  const exitCode = await run(program, {
    ...parts.process,
    argv,
    signal,
    ...(input && { input }),
    ...(tty && { screen: show }),
    log: (line) => show(`${line}\n`),
    listen: parts.listen,
    pass: (ms) => sleep(clock, ms, signal),
  });
  return { exitCode, stdout: '', stderr: '' };
}
