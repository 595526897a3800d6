import { ApiStatusError } from '../errors/status.ts';

export type PatchErrorStatus = 400 | 413 | 422 | 500;

const reasons: Readonly<Record<PatchErrorStatus, string>> = {
  400: 'BadRequest',
  413: 'RequestEntityTooLarge',
  422: 'Invalid',
  500: '',
};

/** What kube-apiserver says for every operation of a JSON patch that does not apply, whatever the cause. */
export const rejectedPatchMessage = 'the server rejected our request due to an error in our request';

/**
 * A patch that cannot be decoded (400), is too long (413), does not apply to the document (422), or is a strategic
 * merge patch that contradicts itself (500, as kube-apiserver answers).
 */
export class PatchError extends Error {
  readonly status: PatchErrorStatus;
  /** the cause in words; kube-apiserver keeps it to itself for 422, logs and debuggers want it */
  readonly detail: string;

  constructor(status: PatchErrorStatus, message: string, detail: string = message) {
    super(message);
    this.name = 'PatchError';
    this.status = status;
    this.detail = detail;
  }

  /** The reason of the Status object: empty for 500, as kube-apiserver leaves it out there. */
  get reason(): string {
    return reasons[this.status];
  }

  /** The answer kube-apiserver gives for this failure. */
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

/** The operation is well formed but does not fit the document. */
export function doesNotApply(detail: string): PatchError {
  return new PatchError(422, rejectedPatchMessage, detail);
}

/** How Go's JSON decoder names a value of the wrong type. */
export function goJsonKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return value === null ? 'null' : typeof value;
}
