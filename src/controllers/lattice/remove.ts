import {
  type Cluster,
  Clusters,
  type LatticeCluster,
  LatticeClusters,
  latticeNamespace,
  Namespaces,
} from '../../api/index.ts';
import { ignoreNotFound } from '../../machinery/index.ts';
import { after, done, type ReconcileContext, type Result } from '../../runtime/index.ts';
import {
  conditionOf,
  draftOf,
  isDeleting,
  isOwnedBy,
  setVerdict,
  withoutFinalizer,
  writeObject,
} from '../shared/index.ts';
import { latticeConditions as types } from './conditions.ts';
import type { LatticeDependencies } from './dependencies.ts';
import { latticeFinalizer } from './names.ts';
import { isInside } from './self/stage.ts';

const namespaceRetryMs = 10_000;

/**
 * Deletes a LatticeCluster. Its Cluster with all machines and cloud resources goes first, while the credentials exist;
 * owner references cover the rest, including a namespace created for it.
 */
export async function removeCluster(
  context: ReconcileContext,
  cluster: LatticeCluster,
  { memory, self }: LatticeDependencies,
): Promise<Result> {
  if (cluster.metadata.finalizers?.includes(latticeFinalizer) !== true) return done();
  const draft = draftOf(cluster);
  // a process inside the cluster cannot finish deleting it
  const waiting = isInside(cluster)
    ? parentDeletes
    : ((await deleteCluster(context, cluster)) ?? (await othersAreGone(context, cluster)));
  if (waiting !== undefined) {
    const { message } = waiting;
    draft.status = { ...draft.status, phase: 'Deleting', message };
    setVerdict(draft, types.deleting, { status: 'True', reason: 'Deleting', message }, context.clock.now());
    setVerdict(draft, types.ready, { status: 'False', reason: 'Deleting', message }, context.clock.now());
    await writeObject(context, LatticeClusters, cluster, draft, { observed: true });
    return waiting.retryMs === undefined ? done() : after(waiting.retryMs, 'others are in the namespace');
  }
  // before the finalizer is removed; nobody else deletes the endpoints
  await self?.cell?.release(context, cluster.metadata.name ?? '');
  draft.metadata.finalizers = withoutFinalizer(draft.metadata.finalizers, latticeFinalizer);
  await writeObject(context, LatticeClusters, cluster, draft, { observed: false }).catch(ignoreNotFound);
  memory.forget(cluster.metadata.uid ?? '');
  await self?.access.forget(context, cluster);
  return done();
}

interface Waiting {
  readonly message: string;
  readonly retryMs?: number;
}

const parentDeletes: Waiting = {
  message:
    'waits for the parent, which takes the cluster back and deletes it; where there is no parent any more, `capstan move` brings it to another',
};

async function deleteCluster(
  { client, signal }: ReconcileContext,
  owner: LatticeCluster,
): Promise<Waiting | undefined> {
  const { name = '' } = owner.metadata;
  const key = { namespace: latticeNamespace(name), name };
  const live: Cluster | undefined = await client.get(Clusters, key, { signal }).catch(ignoreNotFound);
  if (!live || !isOwnedBy(live, owner)) return undefined;
  if (!isDeleting(live)) {
    const { uid } = live.metadata;
    const left = await client
      .delete(Clusters, key, { signal, ...(uid !== undefined && { preconditions: { uid } }) })
      .catch(ignoreNotFound);
    if (left === undefined) return undefined;
  }
  const why = conditionOf(live, 'Deleting')?.message;
  return { message: `waits until Cluster ${key.namespace}/${name} is gone${why ? `: ${why}` : ''}` };
}

/**
 * Checks that no foreign objects are left in a namespace created for the cluster, because the namespace is deleted with
 * everything in it.
 */
async function othersAreGone(
  { client, signal }: ReconcileContext,
  owner: LatticeCluster,
): Promise<Waiting | undefined> {
  const name = latticeNamespace(owner.metadata.name ?? '');
  const live = await client.get(Namespaces, { name }, { signal }).catch(ignoreNotFound);
  if (!live || !isOwnedBy(live, owner)) return undefined;
  const [other] = (await client.list(Clusters, { namespace: name, limit: 1, signal })).items;
  if (!other) return undefined;
  const message = `Cluster ${name}/${other.metadata.name} would go with the namespace; move or delete it, or take the owner off namespace ${name}`;
  return { message, retryMs: namespaceRetryMs };
}
