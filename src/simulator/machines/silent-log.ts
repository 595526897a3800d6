import type { Logger } from '../../runtime/index.ts';

const nothing = (): void => {};

/** Logger that discards everything. It avoids loading the runtime's logging library. */
export const silentLog: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  with: () => silentLog,
  isEnabled: () => false,
};
