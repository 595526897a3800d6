import { type Clock, errorMessage } from '../machinery/index.ts';
import type { LogFields, Logger } from './log.ts';

/** Logs a fault that every attempt of an endless retry loop may hit. */
export interface RepeatedFault {
  /** logs a warning for a new fault, and once a minute for the same one */
  seen(error: unknown, fields?: LogFields): void;
  /** an attempt succeeded, so the next fault is logged at once */
  over(): void;
}

const repeatMs = 60_000;

export function createRepeatedFault(log: Logger, clock: Clock, message: string): RepeatedFault {
  let told: { text: string; at: number } | undefined;
  return {
    seen(error, fields = {}) {
      // numbers such as durations do not make it a new fault
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
