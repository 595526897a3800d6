import { CapstanError, sentenceEnd, trimTrailing } from '../../../machinery/index.ts';
import { CloudConfigError, OpenStackError } from '../../../openstack/index.ts';
import { openStackErrorReason } from './conditions.ts';

/** Waiting without a fault. An event ends it; `ms` is the fallback for a lost event. */
export interface Wait {
  readonly ms: number;
  /** CamelCase, for a condition */
  readonly reason: string;
  /** names what is waited for */
  readonly message: string;
}

/** A cloud error for users: what was attempted, the cloud's reason, and the remedy. */
export class CloudFault extends CapstanError {
  /** CamelCase, for a condition */
  readonly reason: string;
  /** retry delay requested by the cloud; without it, the queue's back-off applies */
  readonly retryMs: number | undefined;

  constructor(reason: string, message: string, options: { retryMs?: number | undefined; cause?: unknown } = {}) {
    super('CAP_CLOUD_FAULT', message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Fault';
    this.reason = reason;
    this.retryMs = options.retryMs;
  }
}

/** Invalid input; waits until the object changes, or until the cloud has the named resource. */
export class UnusableInput extends CloudFault {
  constructor(message: string, options: { reason?: string; cause?: unknown } = {}) {
    super(options.reason ?? openStackErrorReason, message, options);
    this.name = 'UnusableInput';
  }
}

/** Retry delay for a resource that is busy with an earlier change. */
export const busyMs = 2_000;

/**
 * Converts an error to a condition message. Request ids only go to the log: a message that changes on every retry would
 * cause a write on every retry.
 */
export function cloudFaultOf(error: unknown, doing: string, reason: string = openStackErrorReason): CloudFault {
  if (error instanceof CloudFault) return error;
  return new CloudFault(reason, `${doing}: ${causeOf(error)}`, { retryMs: retryMsOf(error), cause: error });
}

/** Runs a cloud call; errors are reported with the attempted action. */
export async function attempt<T>(doing: string, reason: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw cloudFaultOf(error, doing, reason);
  }
}

/** Returns cause and remedy in a text that is the same on every retry. */
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

/** Tells whether a failed call may have taken effect, so that its result must be looked up. */
export function mayHaveHappened(error: unknown): boolean {
  if (!(error instanceof OpenStackError)) return true;
  return (
    ['network', 'timeout', 'unavailable', 'internal', 'notOpenStack', 'unexpected'].includes(error.kind) &&
    !error.notSent
  );
}

/** Tells whether the user's input is at fault, so that a retry does not help. */
export function isInputFault(error: unknown): boolean {
  const cause = error instanceof CloudFault ? (error.cause ?? error) : error;
  return (
    cause instanceof UnusableInput ||
    cause instanceof CloudConfigError ||
    (cause instanceof OpenStackError && ['badRequest', 'ambiguous', 'noService', 'unsupported'].includes(cause.kind))
  );
}
