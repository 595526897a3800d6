import type { CancelTimer, Clock } from '../../../machinery/index.ts';
import type { EtcdClient } from './types.ts';

/** Looks at a control plane that is being built come every few seconds; those at a calm one find a new connection. */
const idleMs = 30_000;

interface Idle<C> {
  readonly client: C;
  readonly cancel: CancelTimer;
}

/**
 * Keeps connections to members for a while after their use: agreeing on TLS costs more than everything said over it.
 * `keyOf` tells one member, and one way to it, from others.
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
      // whatever went wrong, the next one begins with a connection of its own
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

/** The same object, whose calls, also those of the objects in it, tell of failures. */
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
