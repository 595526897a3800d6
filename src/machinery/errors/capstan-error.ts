import type { ErrorCode } from './error-codes.ts';

/** An error a user can act on: a stable code, a message and a hint. Never contains secrets. */
export class CapstanError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options?: { hint?: string; cause?: unknown }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CapstanError';
    this.code = code;
    this.hint = options?.hint;
  }
}

/** Message of any thrown value. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Message together with the hint, for places that show one text. */
export function errorWithHint(error: unknown): string {
  const message = errorMessage(error);
  const hint = error instanceof CapstanError ? error.hint : undefined;
  return hint === undefined || message.endsWith(hint) ? message : `${message}; ${hint}`;
}
