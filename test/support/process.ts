import { type ChildProcess, spawn } from 'node:child_process';

/** Result of a finished process. */
export interface Outcome {
  /** command line, for messages */
  command: string;
  /** exit code; undefined after a signal */
  code: number | undefined;
  stdout: string;
  stderr: string;
}

export interface ProcessOptions {
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  /** text for standard input, which is then closed */
  input?: string;
  /** called with each piece of standard output */
  onStdout?: (text: string) => void;
}

/** A running process with its output so far. */
export interface RunningProcess {
  readonly command: string;
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  /** resolves once standard output satisfies the predicate; rejects if the process exits or the time is up first */
  until(predicate: (stdout: string) => boolean, what: string, timeoutMs?: number): Promise<void>;
  ended: Promise<Outcome>;
  /** sends the signal and waits for the exit; sends SIGKILL if the process does not exit */
  stop(signal?: NodeJS.Signals): Promise<Outcome>;
}

const patienceMs = 30_000;
const graceMs = 15_000;

/** Starts a program directly, without a shell. */
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
    // A program may exit before it reads its input.
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

/** Runs a program to its end. A non-zero exit code is a result, a missing program is an error. */
export function runProcess(file: string, args: readonly string[], options: ProcessOptions = {}): Promise<Outcome> {
  return startProcess(file, args, options).ended;
}

/** Reports whether a program exists and runs. */
export async function isInstalled(file: string, ...args: string[]): Promise<boolean> {
  try {
    return (await runProcess(file, args)).code === 0;
  } catch {
    return false;
  }
}

/** Formats an outcome: command line, exit code and output. */
export function describeOutcome({ command, code, stdout, stderr }: Outcome): string {
  return `${command}\nexit code ${code ?? 'none (signal)'}\nstdout:\n${stdout}\nstderr:\n${stderr}`;
}

/** Builds the error for an unexpected outcome. Its first line has the cause. */
export function unexpectedOutcome(expected: string, outcome: Outcome): Error {
  const words = outcome.stderr.trim().split('\n')[0] || 'it said nothing';
  return new Error(`expected ${expected}: ${words}\n${describeOutcome(outcome)}`);
}
