import { CapstanError } from '../../../machinery/index.ts';

/** A release is unusable as it is; a retry does not help until the source has another one. */
export class StackReleaseError extends CapstanError {
  constructor(message: string, options?: { hint?: string; cause?: unknown }) {
    super('CAP_STACK_RELEASE', message, options);
    this.name = 'StackReleaseError';
  }
}
