import { type Client, createInformer } from '../client/index.ts';
import type { Clock, Random } from '../machinery/index.ts';
import { type Lease, Leases } from './lease.ts';
import type { Logger } from './log.ts';

/** What others write to a lease, while this process waits for it. */
export interface LeaseFollower {
  /** false if changes may be missed */
  isLive(): boolean;
  /** resolves after a change, when the time is up, or after the signal aborted */
  untilChanged(timeoutMs: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Watches one lease. `onSeen` gets every version, undefined if the lease was deleted. */
export function followLease(
  {
    client,
    clock,
    random,
    log,
    namespace,
    name,
  }: { client: Client; clock: Clock; random: Random; log: Logger; namespace: string; name: string },
  onSeen: (lease: Lease | undefined) => void,
): LeaseFollower {
  const stop = new AbortController();
  const waiters = new Set<() => void>();
  const informer = createInformer({
    client,
    resource: Leases,
    clock,
    random,
    namespace,
    fieldSelector: `metadata.name=${name}`,
    onError: (error) => log.debug('The leader lease cannot be watched', { error }),
  });
  const changed = (lease: Lease | undefined): void => {
    onSeen(lease);
    for (const resolve of [...waiters]) resolve();
  };
  informer.addHandler({
    onAdd: changed,
    onUpdate: changed,
    onDelete: () => changed(undefined),
  });
  const running = informer.run(stop.signal);
  return {
    isLive: () => informer.hasSynced() && informer.lastError() === undefined,
    untilChanged: (timeoutMs, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const settle = (): void => {
          cancel();
          waiters.delete(settle);
          signal.removeEventListener('abort', settle);
          resolve();
        };
        const cancel = clock.after(timeoutMs, settle);
        waiters.add(settle);
        signal.addEventListener('abort', settle, { once: true });
      }),
    async close() {
      stop.abort();
      await running;
    },
  };
}
