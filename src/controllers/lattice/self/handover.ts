import {
  Clusters,
  type LatticeCluster,
  LatticeClusters,
  latticeNamespace,
  type Namespace,
  Namespaces,
  Secrets,
} from '../../../api/index.ts';
import type { Client, ObjectKey } from '../../../client/index.ts';
import { type Clock, deepEqual, ignoreNotFound, isAlreadyExists, type Random } from '../../../machinery/index.ts';
import {
  conditionOf,
  type MoveOptions,
  MoveWaitsError,
  moveNamespace,
  pausedAnnotation,
  readRecord,
} from '../../shared/index.ts';
import { latticeFieldManager } from '../names.ts';
import { handedOver, objectInside, refuseOtherParent } from './inside.ts';

/** The two APIs of a handover. */
export interface Sides {
  readonly parent: Client;
  readonly child: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

const by = { fieldManager: latticeFieldManager };
const heldBack = 'unpivot';

/**
 * Takes one step of a handover to the cluster. Returns what it waits for; undefined when done. Safe to interrupt: the
 * next call continues from the state of both sides. Neither side becomes active before the other is seen paused.
 */
export async function handOver(
  sides: Sides,
  cluster: LatticeCluster,
  credentials: ObjectKey,
): Promise<string | undefined> {
  const { parent, child, signal } = sides;
  const inside = await claim(sides, cluster);
  if (inside.metadata.annotations?.[pausedAnnotation] === handedOver) {
    await copyCredentials(sides, credentials);
    if (conditionOf(inside, 'Paused')?.status !== 'True') return 'the controllers in the cluster have not seen it yet';
    const owners = new Map([[cluster.metadata.uid ?? '', inside.metadata.uid ?? '']]);
    const waiting = await moveUnlessThere(moveOptions(sides, cluster, { source: parent, target: child, owners }));
    if (waiting !== undefined) return waiting;
    await setPaused(child, inside, null, signal);
    return 'the controllers in the cluster have everything, and begin';
  }
  // done only once the controllers there have observed it
  return conditionOf(inside, 'Paused')?.status === 'False' ? undefined : 'the controllers in the cluster begin';
}

/**
 * Takes one step to move the objects of a cluster back for deletion. Returns what it waits for; undefined when all are
 * here.
 */
export async function takeBack(sides: Sides, cluster: LatticeCluster): Promise<string | undefined> {
  const { parent, child, signal } = sides;
  const { name = '', uid = '' } = cluster.metadata;
  const inside = await child.get(LatticeClusters, { name }, { signal }).catch(ignoreNotFound);
  const owners = new Map<string, string>();
  if (inside) {
    await refuseOtherParent(parent, inside, signal);
    if (inside.metadata.annotations?.[pausedAnnotation] === undefined) {
      await setPaused(child, inside, heldBack, signal);
      return 'the controllers in the cluster are asked to release the objects';
    }
    if (conditionOf(inside, 'Paused')?.status !== 'True') return 'the controllers in the cluster have not let go yet';
    owners.set(inside.metadata.uid ?? '', uid);
  }
  return await moveUnlessThere({
    ...moveOptions(sides, cluster, { source: child, target: parent, owners }),
    isForDeletion: true,
  });
}

/** Builds the options of a move as a reconcile step, which never waits. */
export function moveOptions(
  { clock, random, signal }: Sides,
  cluster: LatticeCluster,
  between: Pick<MoveOptions, 'source' | 'target' | 'owners'>,
): MoveOptions {
  return {
    ...between,
    namespace: latticeNamespace(cluster.metadata.name ?? ''),
    clock,
    signal,
    newId: () => random.uuid(),
    patienceMs: 0,
    onProgress: () => {},
  };
}

/** Skips a finished move: it leaves no record, and no cluster in the source. */
async function moveUnlessThere(options: MoveOptions): Promise<string | undefined> {
  const { source, namespace, signal } = options;
  const isUnderWay = (await readRecord(source, namespace, signal)) !== undefined;
  if (!isUnderWay && (await source.list(Clusters, { namespace, limit: 1, signal })).items.length === 0)
    return undefined;
  try {
    await moveNamespace(options);
    return undefined;
  } catch (error) {
    if (error instanceof MoveWaitsError) return error.message;
    throw error;
  }
}

/**
 * Creates the LatticeCluster inside its own cluster, paused until all objects are there, with the uid of its parent.
 */
async function claim(sides: Sides, cluster: LatticeCluster): Promise<LatticeCluster> {
  const { parent, child, signal } = sides;
  const { name = '' } = cluster.metadata;
  const found = await child.get(LatticeClusters, { name }, { signal }).catch(ignoreNotFound);
  if (!found) {
    return await child.create(LatticeClusters, await objectInside(parent, cluster, signal), { ...by, signal });
  }
  await refuseOtherParent(parent, found, signal);
  const isResting = found.metadata.annotations?.[pausedAnnotation] === handedOver;
  if (!isResting || deepEqual(found.spec, cluster.spec)) return found;
  // the spec here changed before the copy became active
  return await child.update(LatticeClusters, { ...found, spec: cluster.spec }, { ...by, signal });
}

/** Copies the Secret a LatticeCluster refers to; an existing one in the cluster is kept. */
async function copyCredentials({ parent, child, signal }: Sides, key: ObjectKey): Promise<void> {
  const { namespace = '', name } = key;
  if (await child.get(Secrets, key, { signal }).catch(ignoreNotFound)) return;
  const original = await parent.get(Secrets, key, { signal });
  const home: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
  const unlessThere = (error: unknown): void => {
    if (!isAlreadyExists(error)) throw error;
  };
  if (!(await child.get(Namespaces, { name: namespace }, { signal }).catch(ignoreNotFound))) {
    await child.create(Namespaces, home, { ...by, signal }).catch(unlessThere);
  }
  const copy = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name },
    ...(original.type !== undefined && { type: original.type }),
    data: original.data ?? {},
  };
  await child.create(Secrets, copy, { ...by, signal }).catch(unlessThere);
}

async function setPaused(
  child: Client,
  { metadata: { name = '' } }: LatticeCluster,
  value: string | null,
  signal: AbortSignal,
): Promise<void> {
  const metadata = { annotations: { [pausedAnnotation]: value } };
  await child.patch(LatticeClusters, { name }, 'merge', { metadata }, { ...by, signal });
}
