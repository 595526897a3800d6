import { CapstanError } from '../../../machinery/index.ts';

/** A release cannot be used as it is: trying again does not help until its source has another one. */
export class StackReleaseError extends CapstanError {
  constructor(message: string, options?: { hint?: string; cause?: unknown }) {
    super('CAP_STACK_RELEASE', message, options);
    this.name = 'StackReleaseError';
  }
}
