import { systemClock } from '../machinery/index.ts';
import { jsonLogger, type Logger, type LogLevel, terminalLogger } from '../runtime/index.ts';

/** What a command may touch of the outside world. */
export interface CommandContext {
  env: Readonly<Record<string, string | undefined>>;
  /** data: what the command is for */
  stdout(text: string): void;
  /** talk: progress, logs, errors */
  stderr(text: string): void;
  log: Logger;
  /** aborts when the user asks to stop */
  signal: AbortSignal;
  /** resolves at that moment */
  stopped: Promise<void>;
}

/** The context of a real process: SIGINT and SIGTERM stop, a second one ends at once. */
export function processContext(level: LogLevel): CommandContext {
  const stop = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    let asked = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (asked) process.exit(signal === 'SIGINT' ? 130 : 143);
      asked = true;
      stop.abort();
      resolve();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
  return {
    env: process.env,
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    log: chooseLogger(level),
    signal: stop.signal,
    stopped,
  };
}

/** Lines for people on a terminal, JSON for everything else. */
function chooseLogger(level: LogLevel): Logger {
  const { env } = process;
  if (!process.stderr.isTTY) return jsonLogger({ level, destination: process.stderr });
  const colour = env['NO_COLOR'] === undefined && env['TERM'] !== 'dumb';
  return terminalLogger({ write: (line) => process.stderr.write(line), now: () => systemClock.now(), level, colour });
}
