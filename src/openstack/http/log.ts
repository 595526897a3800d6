/** Log interface of the client; compatible with structured loggers. */
export interface Log {
  debug(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
}

export const silentLog: Log = { debug: () => {}, warn: () => {} };
