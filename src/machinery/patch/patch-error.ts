import { ApiStatusError } from '../errors/status.ts';

export type PatchErrorStatus = 400 | 413 | 422 | 500;

const reasons: Readonly<Record<PatchErrorStatus, string>> = {
  400: 'BadRequest',
  413: 'RequestEntityTooLarge',
  422: 'Invalid',
  500: '',
};

/** Message of kube-apiserver for every JSON patch operation that does not apply, whatever the cause. */
export const rejectedPatchMessage = 'the server rejected our request due to an error in our request';

/**
 * A patch that cannot be decoded (400), is too long (413), does not apply (422), or is a contradictory strategic merge
 * patch (500, as kube-apiserver answers).
 */
export class PatchError extends Error {
  readonly status: PatchErrorStatus;
  /** cause in words, for logs; kube-apiserver does not return it for 422 */
  readonly detail: string;

  constructor(status: PatchErrorStatus, message: string, detail: string = message) {
    super(message);
    this.name = 'PatchError';
    this.status = status;
    this.detail = detail;
  }

  /** Reason of the Status object; empty for 500, as upstream. */
  get reason(): string {
    return reasons[this.status];
  }

  /** Builds the same API status as kube-apiserver. */
  toApiStatusError(): ApiStatusError {
    const reason = this.reason;
    return new ApiStatusError(
      {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: this.message,
        ...(reason !== '' && { reason }),
        ...(this.status === 422 && { details: {} }),
        code: this.status,
      },
      { cause: this },
    );
  }
}

/** Builds the error for a well-formed operation that does not fit the document. */
export function doesNotApply(detail: string): PatchError {
  return new PatchError(422, rejectedPatchMessage, detail);
}

/** Names a value's type as Go's JSON decoder does. */
export function goJsonKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return value === null ? 'null' : typeof value;
}
