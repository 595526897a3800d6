import { type Cluster, Clusters, type ConfigMap, ConfigMaps, clusterNameLabel, Machines } from '../../../api/index.ts';
import type { ObjectKey } from '../../../client/index.ts';
import { ignoreNotFound, isAlreadyExists, isConflict, isNotFound } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { fieldManager, ownerReference } from '../../shared/index.ts';

type Access = Pick<ReconcileContext, 'client' | 'signal'>;

/** Whether this machine holds the init lock, or which machine does. */
export type LockOutcome = { held: true } | { held: false; by: string };

const informationKey = 'lock-information';

const lockKey = (cluster: Cluster): ObjectKey => ({
  namespace: cluster.metadata.namespace ?? '',
  name: `${cluster.metadata.name}-lock`,
});

/**
 * Takes the init lock, so that one machine runs init and all others join. A lock whose machine no longer exists is
 * released to the next caller.
 */
export async function takeInitLock(access: Access, cluster: Cluster, machine: string): Promise<LockOutcome> {
  const { client, signal } = access;
  const key = lockKey(cluster);
  const lock = await client.get(ConfigMaps, key, { signal }).catch(ignoreNotFound);
  if (lock) {
    const holder = holderOf(lock);
    if (holder === machine) return { held: true };
    if (holder !== undefined && (await machineExists(access, cluster, holder))) return { held: false, by: holder };
    await removeLock(access, lock);
  }
  const desired: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      ...key,
      labels: { [clusterNameLabel]: cluster.metadata.name ?? '' },
      ownerReferences: [ownerReference(cluster, Clusters)],
    },
    data: { [informationKey]: JSON.stringify({ machineName: machine }) },
  };
  try {
    await client.create(ConfigMaps, desired, { fieldManager, signal });
    return { held: true };
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const winner = await client.get(ConfigMaps, key, { signal }).catch(ignoreNotFound);
    const holder = winner && holderOf(winner);
    return holder === machine ? { held: true } : { held: false, by: holder ?? 'another machine' };
  }
}

/** Releases the lock; without `machine`, whoever holds it. */
export async function releaseInitLock(access: Access, cluster: Cluster, machine?: string): Promise<void> {
  const lock = await access.client.get(ConfigMaps, lockKey(cluster), { signal: access.signal }).catch(ignoreNotFound);
  if (lock && (machine === undefined || holderOf(lock) === machine)) await removeLock(access, lock);
}

/** Deletes exactly the observed lock, not one taken since then. */
async function removeLock({ client, signal }: Access, lock: ConfigMap): Promise<void> {
  const { name = '', namespace = '', uid, resourceVersion } = lock.metadata;
  try {
    await client.delete(
      ConfigMaps,
      { namespace, name },
      {
        signal,
        preconditions: { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) },
      },
    );
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

/** Reads from the API, not a cache: a stale answer could let two machines init two clusters. */
async function machineExists({ client, signal }: Access, cluster: Cluster, name: string): Promise<boolean> {
  const key = { namespace: cluster.metadata.namespace ?? '', name };
  return (await client.get(Machines, key, { signal }).catch(ignoreNotFound)) !== undefined;
}

function holderOf(lock: ConfigMap): string | undefined {
  try {
    const information = JSON.parse(lock.data?.[informationKey] ?? '') as { machineName?: unknown };
    return typeof information.machineName === 'string' ? information.machineName : undefined;
  } catch {
    return undefined;
  }
}
