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
import { isMadeFor } from './namespace.ts';

const namespaceRetryMs = 10_000;

/**
 * Takes a LatticeCluster away: first its Cluster with all machines and cloud resources, while credentials are still there; then the
 * namespace, if it was made for it and nobody else's cluster is in it. What is left carries an owner and goes with it.
 */
export async function removeCluster(
  context: ReconcileContext,
  cluster: LatticeCluster,
  { memory }: LatticeDependencies,
): Promise<Result> {
  if (cluster.metadata.finalizers?.includes(latticeFinalizer) !== true) return done();
  const draft = draftOf(cluster);
  const waiting = (await deleteCluster(context, cluster)) ?? (await deleteNamespace(context, cluster));
  if (waiting !== undefined) {
    const { message } = waiting;
    draft.status = { ...draft.status, phase: 'Deleting', message };
    setVerdict(draft, types.deleting, { status: 'True', reason: 'Deleting', message }, context.clock.now());
    setVerdict(draft, types.ready, { status: 'False', reason: 'Deleting', message }, context.clock.now());
    await writeObject(context, LatticeClusters, cluster, draft, { observed: true });
    return waiting.retryMs === undefined ? done() : after(waiting.retryMs, 'the namespace is going');
  }
  draft.metadata.finalizers = withoutFinalizer(draft.metadata.finalizers, latticeFinalizer);
  await writeObject(context, LatticeClusters, cluster, draft, { observed: false }).catch(ignoreNotFound);
  memory.forget(cluster.metadata.uid ?? '');
  return done();
}

interface Waiting {
  readonly message: string;
  readonly retryMs?: number;
}

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

async function deleteNamespace(
  { client, signal }: ReconcileContext,
  owner: LatticeCluster,
): Promise<Waiting | undefined> {
  const name = latticeNamespace(owner.metadata.name ?? '');
  const live = await client.get(Namespaces, { name }, { signal }).catch(ignoreNotFound);
  if (!live || !isMadeFor(live, owner)) return undefined;
  if (!isDeleting(live)) {
    const others = await client.list(Clusters, { namespace: name, limit: 1, signal });
    if (others.items.length > 0) return undefined;
    await client.delete(Namespaces, { name }, { signal }).catch(ignoreNotFound);
  }
  return { message: `waits until namespace ${name} is gone`, retryMs: namespaceRetryMs };
}
