import { type Clock, printable, printableLine, systemClock } from '../machinery/index.ts';
import { jsonLogger, type Logger, type LogLevel, terminalLogger } from '../runtime/index.ts';
import { confirmOnTerminal } from './confirm.ts';
import { asInvoked } from './invocation.ts';

/** Access of a command to its environment. */
export interface CommandContext {
  env: Readonly<Record<string, string | undefined>>;
  /** data output of the command */
  stdout(text: string): void;
  /** messages: progress, logs, errors; without control characters */
  stderr(text: string): void;
  /** replaces the last progress line; an empty line clears it. Absent without a terminal */
  progress?(line: string): void;
  /** asks the user at the terminal; absent without one */
  confirm?(question: string): Promise<boolean>;
  /** reads all of standard input, for `-f -` */
  readInput(): Promise<string>;
  /** whether stdout is a terminal and can be redrawn */
  interactive: boolean;
  /** whether output may be colored */
  colour: boolean;
  clock: Clock;
  log: Logger;
  /** aborts when the user stops the command */
  signal: AbortSignal;
  /** resolves when the user stops the command */
  stopped: Promise<void>;
  /** exit code of a command that a signal has interrupted, otherwise undefined */
  interruptedCode?(): number | undefined;
}

/** Time limit of the whole shutdown. */
const stopPatienceMs = 20_000;

/**
 * Creates the context of a real process. SIGINT and SIGTERM stop it; a second signal or a hanging shutdown exits at
 * once.
 */
export function processContext(level: LogLevel): CommandContext {
  const stop = new AbortController();
  let interrupted: number | undefined;
  const stopped = new Promise<void>((resolve) => {
    const onSignal = (signal: NodeJS.Signals): void => {
      const code = signal === 'SIGINT' ? 130 : 143;
      if (interrupted !== undefined) process.exit(code);
      interrupted = code;
      setTimeout(() => {
        process.stderr.write('capstan: something does not stop; ending without it\n');
        process.exit(code);
      }, stopPatienceMs).unref();
      stop.abort();
      resolve();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
    // The reader of the output has closed the pipe, as `head` does.
    process.stdout.on('error', () => {
      stop.abort();
      resolve();
    });
  });
  const stderr = (text: string): void => void process.stderr.write(asInvoked(printable(text), process.env));
  return {
    env: process.env,
    stdout: (text) => void process.stdout.write(text),
    stderr,
    ...(process.stderr.isTTY && {
      progress: (line: string) => void process.stderr.write(`\r${printableLine(line)}\u001b[K`),
    }),
    ...(process.stdin.isTTY && process.stderr.isTTY && { confirm: confirmOnTerminal(stderr, stop.signal) }),
    readInput: readStandardInput,
    interactive: process.stdout.isTTY === true,
    colour: process.stdout.isTTY === true && wantsColour(process.env),
    clock: systemClock,
    log: chooseLogger(level),
    signal: stop.signal,
    stopped,
    interruptedCode: () => interrupted,
  };
}

/** Plain lines for a terminal, otherwise JSON. */
function chooseLogger(level: LogLevel): Logger {
  if (!process.stderr.isTTY) return jsonLogger({ level, destination: process.stderr });
  const colour = wantsColour(process.env);
  return terminalLogger({ write: (line) => process.stderr.write(line), now: () => systemClock.now(), level, colour });
}

/** https://no-color.org: any non-empty value disables colors. */
function wantsColour(env: NodeJS.ProcessEnv): boolean {
  return (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}

async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString('utf8');
}
