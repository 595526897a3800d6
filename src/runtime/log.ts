import { type Logger as PinoLogger, pino } from 'pino';
import { errorMessage, printable, printableLine } from '../machinery/index.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Fields of a log entry. Errors are under `error`. */
export type LogFields = Record<string, unknown>;

/** Structured logging: the message is constant, everything that varies is a field. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** returns a logger that adds `fields` to every entry */
  with(fields: LogFields): Logger;
  isEnabled(level: LogLevel): boolean;
}

const levelOrder: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** Names of fields that are never logged, at any depth. This is the only list of secret fields. */
export const redactedFields: ReadonlySet<string> = new Set(
  [
    'token',
    'accessToken',
    'refreshToken',
    'idToken',
    'authorization',
    'x-auth-token',
    'x-subject-token',
    'password',
    'adminPass',
    'secret',
    'secretData',
    'stringData',
    'applicationCredentialSecret',
    'application_credential_secret',
    'userData',
    'user_data',
    'kubeconfig',
    'privateKey',
    'clientKey',
    'client-key-data',
    'clientKeyData',
    'tls.key',
    'cookie',
    'set-cookie',
  ].map((name) => name.toLowerCase()),
);

const redacted = '[redacted]';
const maxDepth = 6;

/** Returns a copy of `fields` for a log: secrets are replaced, errors become messages, deep values are cut. */
export function redact(fields: LogFields): LogFields {
  return redactObject(fields, 0);
}

function redactObject(fields: object, depth: number): LogFields {
  const copy: LogFields = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    copy[name] = redactedFields.has(name.toLowerCase()) ? redacted : redactValue(value, depth + 1);
  }
  return copy;
}

function redactValue(value: unknown, depth: number): unknown {
  if (value instanceof Error) return describeError(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'string') {
    return value.includes('PRIVATE KEY-----') ? redacted : value;
  }
  if (typeof value !== 'object' || value === null) return typeof value === 'function' ? '[function]' : value;
  if (depth > maxDepth) return '[…]';
  if (Array.isArray(value)) return value.map((item) => redactValue(item, depth + 1));
  if (value instanceof Date) return value.toISOString();
  return redactObject(value, depth);
}

/** Joins the messages of an error and its causes on one line. */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  let current: unknown = error;
  for (let i = 0; current !== undefined && i < 5; i++) {
    const text = errorMessage(current);
    // Wrapping errors usually repeat the message of their cause.
    if (text !== '' && !parts.some((part) => part.includes(text))) parts.push(text);
    current = current instanceof Error ? current.cause : undefined;
  }
  return parts.join(': ');
}

type Write = (level: LogLevel, message: string, fields: LogFields) => void;

function loggerOver(write: Write, minimum: LogLevel, bound: LogFields): Logger {
  const at =
    (level: LogLevel) =>
    (message: string, fields?: LogFields): void => {
      if (levelOrder[level] < levelOrder[minimum]) return;
      write(level, message, fields ? { ...bound, ...fields } : bound);
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => loggerOver(write, minimum, { ...bound, ...fields }),
    isEnabled: (level) => levelOrder[level] >= levelOrder[minimum],
  };
}

/** Writes one JSON object per line. */
export function jsonLogger(options: { level?: LogLevel; destination?: { write(line: string): void } } = {}): Logger {
  const level = options.level ?? 'info';
  const settings = {
    level,
    base: null,
    messageKey: 'message',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const target: PinoLogger = options.destination ? pino(settings, options.destination) : pino(settings);
  return loggerOver((at, message, fields) => target[at](redact(fields), message), level, {});
}

const marks: Readonly<Record<LogLevel, { mark: string; colour: string }>> = {
  debug: { mark: '·', colour: '\u001b[90m' },
  info: { mark: '•', colour: '\u001b[36m' },
  warn: { mark: '▲', colour: '\u001b[33m' },
  error: { mark: '✗', colour: '\u001b[31m' },
};

/** Writes one readable line per entry: time, mark, message, key=value. */
export function terminalLogger(options: {
  write: (line: string) => void;
  now: () => number;
  level?: LogLevel;
  colour?: boolean;
}): Logger {
  const paint = (code: string, text: string): string => (options.colour === true ? `${code}${text}\u001b[0m` : text);
  return loggerOver(
    (level, message, fields) => {
      const { mark, colour } = marks[level];
      const time = new Date(options.now()).toISOString().slice(11, 19);
      let line = `${paint('\u001b[90m', time)} ${paint(colour, mark)} ${printableLine(message)}`;
      for (const [name, value] of Object.entries(redact(fields))) {
        line += ` ${paint('\u001b[90m', `${name}=`)}${fieldText(value)}`;
      }
      options.write(`${line}\n`);
    },
    options.level ?? 'info',
    {},
  );
}

function fieldText(value: unknown): string {
  if (typeof value !== 'string') return printableLine(JSON.stringify(value) ?? '');
  // Errors contain text of clouds and other servers, which a terminal must not interpret.
  const text = printable(value);
  return text === '' || /[\s"=]/.test(text) ? JSON.stringify(text) : text;
}

export const nullLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => nullLogger,
  isEnabled: () => false,
};

export interface LogEntry {
  level: LogLevel;
  message: string;
  fields: LogFields;
}

/** Collects log entries, for tests. */
export function memoryLogger(level: LogLevel = 'debug'): { logger: Logger; entries: LogEntry[] } {
  const entries: LogEntry[] = [];
  const logger = loggerOver(
    (at, message, fields) => entries.push({ level: at, message, fields: redact(fields) }),
    level,
    {},
  );
  return { logger, entries };
}
