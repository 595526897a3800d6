import { CapstanError, type Clock, sleep } from '../../../machinery/index.ts';

/** Time a reconcile waits for a source; later reconciles get the result. */
const patienceMs = 5_000;

/** The source is still busy; the operation continues without blocking the reconcile. */
export class SourcePendingError extends CapstanError {
  constructor(what: string) {
    super('CAP_STACK_SOURCE', `${what} is still being fetched`, {
      hint: 'it continues in the background; if it never ends, check the source and the network',
    });
    this.name = 'SourcePendingError';
  }
}

/** Waits briefly for a source; throws SourcePendingError if that takes too long. */
export async function soon<T>(
  work: Promise<T>,
  { clock, signal, what }: { clock: Clock; signal: AbortSignal; what: string },
): Promise<T> {
  const enough = new AbortController();
  const late = sleep(clock, patienceMs, AbortSignal.any([signal, enough.signal])).then((): never => {
    throw new SourcePendingError(what);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    late.catch(() => undefined);
    enough.abort();
  }
}
