import { CapstanError, type Clock } from '../../machinery/index.ts';

/**
 * Stands before everything a process sends to clouds and writes to APIs on behalf of clusters. It is open while the lease was
 * renewed recently enough that nobody else can believe it ended, by a clock that nobody sets. A fence that was ever
 * closed stays so: whoever was paused and wakes up finds all he had under way refused, and begins anew with another.
 */
export interface Fence {
  /** throws, before anything is sent, unless the lease is certain */
  check(): void;
  readonly isOpen: boolean;
  /** A renewal succeeded that began at this time of the monotonic clock. False: too late. */
  renewed(beganAt: number): boolean;
  close(): void;
}

export function createFence(clock: Clock, limitMs: number): Fence {
  let state: 'new' | 'open' | 'closed' = 'new';
  let until = 0;
  const isOpen = (): boolean => {
    if (state === 'open' && clock.monotonic() >= until) state = 'closed';
    return state === 'open';
  };
  return {
    get isOpen() {
      return isOpen();
    },
    check() {
      if (isOpen()) return;
      throw new CapstanError('CAP_LEASE_NOT_HELD', 'this process does not hold its lease any more: nothing was sent', {
        hint: 'another process goes on with the work; check the connection to the API server if this repeats',
      });
    },
    renewed(beganAt) {
      if (state === 'new') state = 'open';
      else if (!isOpen()) return false;
      until = Math.max(until, beganAt + limitMs);
      return isOpen();
    },
    close() {
      state = 'closed';
    },
  };
}
