import type { Logger } from '../../runtime/index.ts';

const nothing = (): void => {};

/** For clouds nobody listens to. The runtime's own comes with a logging library that a test has no use for. */
export const silentLog: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  with: () => silentLog,
  isEnabled: () => false,
};
