/** Limits the number of concurrent tasks. Others wait in a queue. */
export interface Limiter {
  /** resolves when there is capacity; the caller must call the returned function when done */
  enter(signal?: AbortSignal): Promise<() => void>;
  /** number of waiting tasks */
  readonly waiting: number;
}

interface Waiter {
  admit(): void;
}

export function createLimiter(limit: number): Limiter {
  let running = 0;
  const queue = new Set<Waiter>();
  const leave = (): void => {
    const next = queue.values().next();
    if (next.done) {
      running--;
      return;
    }
    queue.delete(next.value);
    next.value.admit();
  };
  const once = (): (() => void) => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      leave();
    };
  };
  return {
    get waiting() {
      return queue.size;
    },
    enter(signal) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (running < limit) {
        running++;
        return Promise.resolve(once());
      }
      return new Promise((resolve, reject) => {
        const onAbort = (): void => {
          queue.delete(waiter);
          reject(signal?.reason);
        };
        const waiter: Waiter = {
          admit() {
            signal?.removeEventListener('abort', onAbort);
            resolve(once());
          },
        };
        queue.add(waiter);
        signal?.addEventListener('abort', onAbort, { once: true });
      });
    },
  };
}
