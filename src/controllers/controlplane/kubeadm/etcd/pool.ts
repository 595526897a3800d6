import { formatKey } from '../../../../client/index.ts';
import type { CancelTimer, Clock } from '../../../../machinery/index.ts';
import type { EtcdClient, OpenEtcd } from './types.ts';

/** Looks at a control plane that is being built come every few seconds; those at a calm one find a new connection. */
const idleMs = 30_000;

interface Idle {
  readonly client: EtcdClient;
  readonly cancel: CancelTimer;
}

/** Keeps connections to members for a while after their use: agreeing on TLS costs more than everything said over it. */
export function pooledEtcd(open: OpenEtcd, clock: Clock): OpenEtcd {
  const idle = new Map<string, Idle>();

  const release = (key: string, client: EtcdClient): void => {
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

  const take = (key: string): EtcdClient | undefined => {
    const found = idle.get(key);
    if (!found) return undefined;
    idle.delete(key);
    found.cancel();
    return found.client.isClosed() ? undefined : found.client;
  };

  return async (target, signal) => {
    const key = `${formatKey(target.cluster)} ${target.node}`;
    const client = take(key) ?? (await open(target, signal));
    let isReleased = false;
    let hasFailed = false;
    const call = async <T>(work: Promise<T>): Promise<T> => {
      try {
        return await work;
      } catch (error) {
        // whatever went wrong, the next one begins with a connection of its own
        hasFailed = true;
        throw error;
      }
    };
    return {
      members: (using) => call(client.members(using)),
      status: (using) => call(client.status(using)),
      alarms: (using) => call(client.alarms(using)),
      removeMember: (id, using) => call(client.removeMember(id, using)),
      promoteMember: (id, using) => call(client.promoteMember(id, using)),
      moveLeader: (id, using) => call(client.moveLeader(id, using)),
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
