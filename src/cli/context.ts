import { type Clock, printable, printableLine, systemClock } from '../machinery/index.ts';
import { jsonLogger, type Logger, type LogLevel, terminalLogger } from '../runtime/index.ts';
import { confirmOnTerminal } from './confirm.ts';
import { asInvoked } from './invocation.ts';

/** What a command may touch of the outside world. */
export interface CommandContext {
  env: Readonly<Record<string, string | undefined>>;
  /** data: what the command is for */
  stdout(text: string): void;
  /** talk: progress, logs, errors; free of what a terminal would act upon */
  stderr(text: string): void;
  /** shows a line in place of the last one it showed; none clears it. Absent where nobody watches */
  progress?(line: string): void;
  /** asks the person at the terminal; absent where there is none to ask */
  confirm?(question: string): Promise<boolean>;
  /** everything on standard input, for `-f -` */
  readInput(): Promise<string>;
  /** data goes to a person at a terminal, who may be shown it anew */
  interactive: boolean;
  /** data may be coloured */
  colour: boolean;
  clock: Clock;
  log: Logger;
  /** aborts when the user asks to stop */
  signal: AbortSignal;
  /** resolves at that moment */
  stopped: Promise<void>;
  /** the exit code of a command a signal has ended before it was done; undefined while none has */
  interruptedCode?(): number | undefined;
}

/** how long everything may take to stop; whatever hangs then is cut off */
const stopPatienceMs = 20_000;

/** The context of a real process: SIGINT and SIGTERM stop, a second one ends at once, and so does what hangs. */
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
    // Whoever read the output has gone away, as `head` does: they have seen enough.
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

/** Lines for people on a terminal, JSON for everything else. */
function chooseLogger(level: LogLevel): Logger {
  if (!process.stderr.isTTY) return jsonLogger({ level, destination: process.stderr });
  const colour = wantsColour(process.env);
  return terminalLogger({ write: (line) => process.stderr.write(line), now: () => systemClock.now(), level, colour });
}

/** https://no-color.org: any value but the empty one switches colours off. */
function wantsColour(env: NodeJS.ProcessEnv): boolean {
  return (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}

async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString('utf8');
}
