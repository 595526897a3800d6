import type { CancelTimer, Clock } from '../../../machinery/index.ts';
import type { EtcdClient } from './types.ts';

/**
 * Reconciles of a starting control plane are a few seconds apart and reuse the connection; those of a stable one open a
 * new connection.
 */
const idleMs = 30_000;

interface Idle<C> {
  readonly client: C;
  readonly cancel: CancelTimer;
}

/**
 * Keeps idle connections to members for a while, because a TLS handshake costs more than the calls. `keyOf` identifies
 * the member and the route to it.
 */
export function pooledEtcd<T, C extends EtcdClient>(
  open: (target: T, signal: AbortSignal) => Promise<C>,
  keyOf: (target: T) => string,
  clock: Clock,
): (target: T, signal: AbortSignal) => Promise<C> {
  const idle = new Map<string, Idle<C>>();

  const release = (key: string, client: C): void => {
    if (client.isClosed() || idle.has(key)) {
      client.close();
      return;
    }
    const cancel = clock.after(idleMs, () => {
      idle.delete(key);
      client.close();
    });
    idle.set(key, { client, cancel });
  };

  const take = (key: string): C | undefined => {
    const found = idle.get(key);
    if (!found) return undefined;
    idle.delete(key);
    found.cancel();
    return found.client.isClosed() ? undefined : found.client;
  };

  return async (target, signal) => {
    const key = keyOf(target);
    const client = take(key) ?? (await open(target, signal));
    let isReleased = false;
    let hasFailed = false;
    const watched = guarded(client, () => {
      // after a failure the next use opens a new connection
      hasFailed = true;
    });
    return {
      ...watched,
      isClosed: () => isReleased || client.isClosed(),
      close() {
        if (isReleased) return;
        isReleased = true;
        if (hasFailed) client.close();
        else release(key, client);
      },
    };
  };
}

/** Wraps a client, including nested objects, so that failed calls are reported. */
function guarded<C extends object>(client: C, failed: () => void): C {
  const entries = Object.entries(client as Record<string, unknown>).map(([name, member]): [string, unknown] => {
    if (typeof member === 'object' && member !== null) return [name, guarded(member, failed)];
    if (typeof member !== 'function') return [name, member];
    const call = async (...args: unknown[]): Promise<unknown> => {
      try {
        return await (member as (...args: unknown[]) => unknown).apply(client, args);
      } catch (error) {
        failed();
        throw error;
      }
    };
    return [name, call];
  });
  return Object.fromEntries(entries) as C;
}
