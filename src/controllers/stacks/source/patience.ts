import { CapstanError, type Clock, sleep } from '../../../machinery/index.ts';

/** A reconcile waits this long for a source; whoever comes later finds what arrived meanwhile. */
const patienceMs = 5_000;

/** A source is still at it: what was asked of it goes on, and nobody is held up by it. */
export class SourcePendingError extends CapstanError {
  constructor(what: string) {
    super('CAP_STACK_SOURCE', `${what} is still being fetched`, {
      hint: 'it goes on by itself; when it never ends, check the source and the network on the way to it',
    });
    this.name = 'SourcePendingError';
  }
}

/** What a source answers, or SourcePendingError when that takes longer than a reconcile may wait. */
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
