import { CapstanError, type Clock } from '../../machinery/index.ts';

/**
 * Guards every request to clouds and every API write on behalf of clusters. It is open while the lease was renewed
 * recently enough that no other process can consider it expired, measured by the monotonic clock. A closed fence never
 * reopens: after a pause, all pending work of the process is refused, and it starts again with a new fence.
 */
export interface Fence {
  /** throws before anything is sent, unless the lease is certain */
  check(): void;
  readonly isOpen: boolean;
  /** Reports a successful renewal with its start on the monotonic clock. Returns false if it came too late. */
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
        hint: 'another process continues with the work; check the connection to the API server if this repeats',
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
