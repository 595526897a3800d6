import { type ChildProcess, spawn } from 'node:child_process';

/** How a finished process ended. */
export interface Outcome {
  /** the command line, for messages */
  command: string;
  /** exit code; undefined when a signal ended it */
  code: number | undefined;
  stdout: string;
  stderr: string;
}

export interface ProcessOptions {
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  /** written to standard input, which is then closed */
  input?: string;
  /** called with whatever comes out of standard output */
  onStdout?: (text: string) => void;
}

/** A process that goes on by itself, with everything it has printed so far. */
export interface RunningProcess {
  readonly command: string;
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  /** resolves once standard output satisfies the predicate; rejects when the process ends or the time is up first */
  until(predicate: (stdout: string) => boolean, what: string, timeoutMs?: number): Promise<void>;
  ended: Promise<Outcome>;
  /** sends the signal and waits for the end; SIGKILL follows when it is not heeded */
  stop(signal?: NodeJS.Signals): Promise<Outcome>;
}

const patienceMs = 30_000;
const graceMs = 15_000;

/** Starts a program directly, never through a shell. */
export function startProcess(file: string, args: readonly string[], options: ProcessOptions = {}): RunningProcess {
  const child: ChildProcess = spawn(file, args, {
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    ...(options.env && { env: options.env }),
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  });
  const command = [file, ...args].join(' ');
  let stdout = '';
  let stderr = '';
  const listeners = new Set<() => void>();
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    options.onStdout?.(text);
    for (const listener of listeners) listener();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  if (options.input !== undefined) {
    // A program may refuse its arguments and end before it reads anything.
    child.stdin?.on('error', () => {});
    child.stdin?.end(options.input);
  }

  let finished = false;
  const ended = new Promise<Outcome>((resolve, reject) => {
    child.on('error', (error) => {
      finished = true;
      reject(error);
    });
    child.on('close', (code) => {
      finished = true;
      resolve({ command, code: code ?? undefined, stdout, stderr });
    });
  });
  ended.catch(() => {});

  const until = (predicate: (stdout: string) => boolean, what: string, timeoutMs = patienceMs): Promise<void> =>
    new Promise((resolve, reject) => {
      const settle = (error?: Error): void => {
        clearTimeout(timer);
        listeners.delete(check);
        if (error) reject(error);
        else resolve();
      };
      const failure = (why: string): Error =>
        new Error(`${command}\n${why} while waiting for: ${what}\nstdout:\n${stdout}\nstderr:\n${stderr}`);
      const check = (): void => {
        if (predicate(stdout)) settle();
      };
      const timer = setTimeout(() => settle(failure(`nothing within ${timeoutMs} ms`)), timeoutMs);
      listeners.add(check);
      ended.then(
        () => settle(predicate(stdout) ? undefined : failure('it ended')),
        (error: Error) => settle(error),
      );
      check();
    });

  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<Outcome> => {
    if (!finished) child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
    try {
      return await ended;
    } finally {
      clearTimeout(timer);
    }
  };

  return { command, pid: child.pid ?? -1, stdout: () => stdout, stderr: () => stderr, until, ended, stop };
}

/** Runs a program to its end. A failing exit code is a result, not an error; a missing program is an error. */
export function runProcess(file: string, args: readonly string[], options: ProcessOptions = {}): Promise<Outcome> {
  return startProcess(file, args, options).ended;
}

/** Whether a program is there and runs. */
export async function isInstalled(file: string, ...args: string[]): Promise<boolean> {
  try {
    return (await runProcess(file, args)).code === 0;
  } catch {
    return false;
  }
}

/** An outcome as a message: what was run, how it ended and what it said. */
export function describeOutcome({ command, code, stdout, stderr }: Outcome): string {
  return `${command}\nexit code ${code ?? 'none (signal)'}\nstdout:\n${stdout}\nstderr:\n${stderr}`;
}

/** The failure of a command that should have ended otherwise; its first line says what went wrong. */
export function unexpectedOutcome(expected: string, outcome: Outcome): Error {
  const words = outcome.stderr.trim().split('\n')[0] || 'it said nothing';
  return new Error(`expected ${expected}: ${words}\n${describeOutcome(outcome)}`);
}
