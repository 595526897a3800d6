import { CapstanError, sentenceEnd, trimTrailing } from '../../../machinery/index.ts';
import { CloudConfigError, OpenStackError } from '../../../openstack/index.ts';
import { openStackErrorReason } from './conditions.ts';

/** Something takes its time and nothing is wrong. Events tell when it is over; `ms` is for those that get lost. */
export interface Wait {
  readonly ms: number;
  /** CamelCase, for a condition */
  readonly reason: string;
  /** what is waited for, by name */
  readonly message: string;
}

/** A problem with a cloud as a user is told of it: what was tried, why not in the cloud's words, what to do. */
export class CloudFault extends CapstanError {
  /** CamelCase, for a condition */
  readonly reason: string;
  /** the cloud said when to come again; without it the queue's own back-off decides */
  readonly retryMs: number | undefined;

  constructor(reason: string, message: string, options: { retryMs?: number | undefined; cause?: unknown } = {}) {
    super('CAP_CLOUD_FAULT', message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Fault';
    this.reason = reason;
    this.retryMs = options.retryMs;
  }
}

/** Input that no cloud could make sense of; waits for the object to change, or for the cloud to hold what is named. */
export class UnusableInput extends CloudFault {
  constructor(message: string, options: { reason?: string; cause?: unknown } = {}) {
    super(options.reason ?? openStackErrorReason, message, options);
    this.name = 'UnusableInput';
  }
}

/** How long something that is busy with an earlier change is left alone. */
export const busyMs = 2_000;

/**
 * An error of the cloud in the form of a condition. Request ids are left to the log: a message that differs from try to try
 * would be written from try to try.
 */
export function cloudFaultOf(error: unknown, doing: string, reason: string = openStackErrorReason): CloudFault {
  if (error instanceof CloudFault) return error;
  return new CloudFault(reason, `${doing}: ${causeOf(error)}`, { retryMs: retryMsOf(error), cause: error });
}

/** Runs a call of a cloud; what goes wrong is told with what was being done. */
export async function attempt<T>(doing: string, reason: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw cloudFaultOf(error, doing, reason);
  }
}

/** The cause and the cure, in words that stay the same from one try to the next. */
export function causeOf(error: unknown): string {
  if (error instanceof OpenStackError) {
    const detail = trimTrailing(error.detail, sentenceEnd);
    return `${error.service}: ${detail}${error.cure === undefined ? '' : `; ${error.cure}`}`;
  }
  return error instanceof Error ? error.message : String(error);
}

function retryMsOf(error: unknown): number | undefined {
  if (!(error instanceof OpenStackError)) return undefined;
  if (error.retryAfterMs !== undefined && error.retryAfterMs > 0) return error.retryAfterMs;
  return error.kind === 'immutable' ? busyMs : undefined;
}

/** Whether a call may have been carried out although it failed: what it should have made must be looked for. */
export function mayHaveHappened(error: unknown): boolean {
  if (!(error instanceof OpenStackError)) return true;
  return (
    ['network', 'timeout', 'unavailable', 'internal', 'notOpenStack', 'unexpected'].includes(error.kind) &&
    !error.notSent
  );
}

/** The input of the user is at fault, not the moment. */
export function isInputFault(error: unknown): boolean {
  const cause = error instanceof CloudFault ? (error.cause ?? error) : error;
  return (
    cause instanceof UnusableInput ||
    cause instanceof CloudConfigError ||
    (cause instanceof OpenStackError && ['badRequest', 'ambiguous', 'noService', 'unsupported'].includes(cause.kind))
  );
}
