/** Where the client tells what it does. Any structured logger fits. */
export interface Log {
  debug(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
}

export const silentLog: Log = { debug: () => {}, warn: () => {} };
