import { type Clock, errorMessage } from '../machinery/index.ts';
import type { LogFields, Logger } from './log.ts';

/** A fault that meets every attempt of something that is tried for ever. */
export interface RepeatedFault {
  /** warns of it when it is another than before, and of the same one once a minute */
  seen(error: unknown, fields?: LogFields): void;
  /** an attempt succeeded: the next fault is told of at once */
  over(): void;
}

const repeatMs = 60_000;

export function createRepeatedFault(log: Logger, clock: Clock, message: string): RepeatedFault {
  let told: { text: string; at: number } | undefined;
  return {
    seen(error, fields = {}) {
      // how long something was waited for is no news
      const text = errorMessage(error).replaceAll(/\d+/g, '');
      const now = clock.monotonic();
      const isNews = told === undefined || told.text !== text || now - told.at >= repeatMs;
      if (isNews) told = { text, at: now };
      log[isNews ? 'warn' : 'debug'](message, { ...fields, error });
    },
    over() {
      told = undefined;
    },
  };
}
