import { ConfigMaps, Namespaces, OpenStackClusterIdentities, Secrets } from '../../../api/index.ts';
import { type Client, type ObjectKey, objectKey } from '../../../client/index.ts';
import {
  asJson,
  CapstanError,
  type Clock,
  ignoreNotFound,
  inParallel,
  isAlreadyExists,
  isNotFound,
  type KubeObject,
  type Resource,
  sleep,
} from '../../../machinery/index.ts';
import { pausedAnnotation } from '../names.ts';
import { copyFor } from './copy.ts';
import { type Inventory, listOf, takeInventory } from './inventory.ts';
import { movableKinds } from './movable-kinds.ts';
import { blockMoveAnnotation, deleteForMoveAnnotation, moveAnnotation } from './names.ts';
import { type MovedObject, ownershipLevels } from './ownership-levels.ts';
import { clusterId, deleteRecord, type MoveRecord, readRecord, writeRecord } from './record.ts';
import { isStillWorkedOn, refusals, titleOf } from './refusals.ts';

export interface MoveOptions {
  readonly source: Client;
  readonly target: Client;
  readonly namespace: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** of a new move; one under way keeps its own */
  readonly newId: () => string;
  /** how long controllers may take to see that they are paused; default a minute. Whoever must not wait says 0, and calls again. */
  readonly patienceMs?: number;
  /** owners outside of the namespace: their uids here, and those of the same objects in the target */
  readonly owners?: ReadonlyMap<string, string>;
  /** what moves is to be deleted in the target: it needs not be complete, nor resumed by the one who paused it */
  readonly isForDeletion?: boolean;
  /** of a call-off alone: the target is gone for good, and its copies with it */
  readonly isTargetLost?: boolean;
  onProgress(line: string): void;
}

/** Nothing is wrong: somebody has to see first that it is paused. */
export class MoveWaitsError extends CapstanError {}

const by = { fieldManager: 'capstan-move' };
const usualPatienceMs = 60_000;
const pollMs = 250;

/** Every kind that can be in a target, Secrets and ConfigMaps included. */
const allKinds: readonly Resource<KubeObject>[] = [
  ...movableKinds,
  Secrets as Resource<KubeObject>,
  ConfigMaps as Resource<KubeObject>,
];

/** What a move would do, or why it would be refused; nothing is changed. */
export async function planMove(options: MoveOptions): Promise<MovedObject[]> {
  const { source, namespace, signal } = options;
  const inventory = await takeInventory(source, namespace, signal);
  const record = await readRecord(source, namespace, signal);
  if (record?.phase !== 'handing-over') await refuse(options, inventory, record);
  return ownershipLevels(inventory.objects).flat();
}

/**
 * Moves all clusters of a namespace to another management API. At every moment at most one side works on them: both are paused from the
 * first copy to the last deletion. Ended at any step, the same call goes on where it was.
 */
export async function moveNamespace(options: MoveOptions): Promise<void> {
  const { source, namespace, signal } = options;
  const record = (await openRecord(options)) ?? (await begin(options));
  if (record.phase === 'preparing') {
    // a record that somebody else wrote makes nothing right that a move would refuse
    await refuse(options, await takeInventory(source, namespace, signal), record);
    await pauseSource(options, record);
    await copyToTarget(options, record);
    await writeRecord(source, namespace, { ...record, phase: 'handing-over' }, signal);
  }
  await deleteFromSource(options, record);
  await resumeTarget(options, record);
  await deleteRecord(source, namespace, signal);
}

/** Calls off a move that has not been handed over: the source works on, and the target has nothing of it. */
export async function cancelMove(options: MoveOptions): Promise<void> {
  const { source, target, namespace, signal, onProgress } = options;
  const record = await openRecord(options);
  if (!record) throw new CapstanError('CAP_MOVE', `no move of the namespace ${namespace} is under way`);
  if (record.phase === 'handing-over' && !options.isTargetLost) {
    throw new CapstanError('CAP_MOVE', `the move of the namespace ${namespace} is already being handed over`, {
      hint: 'run it again without --cancel to finish it',
    });
  }
  const copies = options.isTargetLost ? [] : await copiesIn(target, namespace, record, signal);
  for (const level of ownershipLevels(copies).reverse()) {
    await inParallel(level, (copy) => forget(target, copy, signal));
  }
  const { objects } = await takeInventory(source, namespace, signal);
  await inParallel(objects, ({ resource, object }) => resume(source, resource, object, record, signal));
  await deleteRecord(source, namespace, signal);
  onProgress(`called off: ${copies.length} copies deleted, the source works on`);
}

async function openRecord(options: MoveOptions): Promise<MoveRecord | undefined> {
  const { source, target, namespace, signal } = options;
  const record = await readRecord(source, namespace, signal);
  if (!record || options.isTargetLost || record.target === (await clusterId(target, signal))) return record;
  throw new CapstanError('CAP_MOVE', `a move of the namespace ${namespace} to another target is under way`, {
    hint: 'finish it with that target, or call it off with --cancel',
  });
}

async function begin(options: MoveOptions): Promise<MoveRecord> {
  const { source, target, namespace, signal, newId } = options;
  await refuse(options, await takeInventory(source, namespace, signal), undefined);
  const record: MoveRecord = { id: newId(), target: await clusterId(target, signal), phase: 'preparing' };
  await writeRecord(source, namespace, record, signal);
  return record;
}

/** `record`: the move goes on. Then what changes by itself does not count, and what the move has done so far is its own. */
async function refuse(options: MoveOptions, inventory: Inventory, record: MoveRecord | undefined): Promise<void> {
  const { source, target, namespace, signal, isForDeletion = false } = options;
  const { objects, hostedPlanes, used } = inventory;
  if ((await clusterId(source, signal)) === (await clusterId(target, signal))) {
    throw new CapstanError('CAP_MOVE', 'source and target are the same Kubernetes');
  }
  if (!objects.some(({ object }) => object.kind === 'Cluster')) {
    throw new CapstanError('CAP_MOVE', `the namespace ${namespace} has no Cluster to move`, {
      hint: '--namespace names another one',
    });
  }
  const judged = isForDeletion ? [] : objects.map(({ object }) => object);
  const against = refusals(judged, hostedPlanes, { continues: record !== undefined });
  for (const name of used.identities) {
    if (await exists(target, OpenStackClusterIdentities as Resource<KubeObject>, { name }, signal)) continue;
    against.push(`OpenStackClusterIdentity ${name} is not in the target: create it there first`);
  }
  await inParallel(objects, async ({ resource, object, isCopied }) => {
    const found = isCopied ? undefined : await find(target, resource, objectKey(object), signal);
    const isOwn = record !== undefined && found?.metadata.annotations?.[moveAnnotation] === record.id;
    if (found && !isOwn) against.push(`${titleOf(object)} is already in the target: delete it in one of the two`);
  });
  const kinds = new Map(objects.map(({ resource }) => [`${resource.plural}.${resource.group}`, resource]));
  for (const [name, resource] of kinds) {
    const isServed = await target.list(resource, { namespace, limit: 1, signal }).then(
      () => true,
      (error: unknown) => {
        if (isNotFound(error)) return false;
        throw error;
      },
    );
    if (!isServed) against.push(`the target does not serve ${name}: install the same version of Capstan there first`);
  }
  if (against.length === 0) return;
  throw new CapstanError('CAP_MOVE', `the namespace ${namespace} cannot be moved: ${against.sort().join('; ')}`, {
    hint: record ? 'call it off with --cancel, or run it again when that is cured' : 'nothing was changed',
  });
}

async function pauseSource(options: MoveOptions, record: MoveRecord): Promise<void> {
  const { source, namespace, clock, signal, onProgress, patienceMs = usualPatienceMs } = options;
  const deadline = clock.now() + patienceMs;
  onProgress('pausing the source');
  for (;;) {
    const { objects } = await takeInventory(source, namespace, signal);
    const ours = objects.filter(({ isCopied, resource }) => !isCopied && resource.group !== '');
    const running = ours.filter(({ object }) => object.metadata.annotations?.[pausedAnnotation] === undefined);
    await inParallel(running, async ({ resource, object }) => {
      const metadata = { annotations: { [pausedAnnotation]: record.id } };
      await source.patch(resource, objectKey(object), 'merge', { metadata }, { ...by, signal }).catch(ignoreNotFound);
    });
    // what was just paused, and what somebody made meanwhile, is looked at again at once
    if (running.length > 0) continue;
    const blocking = ours.find(({ object }) => object.metadata.annotations?.[blockMoveAnnotation] !== undefined);
    const working = ours.find(({ object }) => isStillWorkedOn(object));
    if (!blocking && !working) return;
    if (clock.now() >= deadline) {
      const what = blocking
        ? `${titleOf(blocking.object)} carries ${blockMoveAnnotation}`
        : `the controller of ${working ? titleOf(working.object) : namespace} has not seen that it is paused`;
      throw new MoveWaitsError('CAP_MOVE', `${what} after ${patienceMs / 1000} seconds`, {
        hint: 'run the move again to go on, or with --cancel to call it off',
      });
    }
    await sleep(clock, pollMs, signal);
  }
}

async function copyToTarget(options: MoveOptions, record: MoveRecord): Promise<void> {
  const { source, target, namespace, signal, onProgress } = options;
  const { objects } = await takeInventory(source, namespace, signal);
  await ensureNamespace(source, target, namespace, signal);
  const uids = new Map<string, string>(options.owners);
  let made = 0;
  for (const level of ownershipLevels(objects)) {
    await inParallel(level, async (moved) => {
      const uid = await copyOne(target, moved, record, { newUid: (old) => uids.get(old), signal });
      uids.set(moved.object.metadata.uid ?? '', uid);
    });
    made += level.length;
    onProgress(`copied ${made} of ${objects.length} objects`);
  }
}

/** Creates the copy where it is missing, with the status and the owners of fields of the original. Resolves with its uid. */
async function copyOne(
  target: Client,
  { resource, object, isCopied }: MovedObject,
  record: MoveRecord,
  { newUid, signal }: { newUid(uid: string): string | undefined; signal: AbortSignal },
): Promise<string> {
  const key = objectKey(object);
  const copy = copyFor(object, { move: record.id, newUid });
  const { status } = asJson(copy);
  // a server takes no status from whoever creates
  const created = await target.create(resource, copy, { ...by, signal }).catch(async (error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
    const found = await target.get(resource, key, { signal });
    if (isCopied || found.metadata.annotations?.[moveAnnotation] === record.id) return found;
    throw new CapstanError('CAP_MOVE', `${titleOf(object)} is in the target and was not put there by this move`);
  });
  if (created.metadata.annotations?.[moveAnnotation] !== record.id) return created.metadata.uid ?? '';
  if (status !== undefined) {
    await target.patch(resource, key, 'merge', { status }, { ...by, subresource: 'status', signal });
  }
  const { managedFields } = asJson(object.metadata);
  if (managedFields !== undefined) {
    await target.patch(resource, key, 'merge', { metadata: { managedFields } }, { ...by, signal });
  }
  return created.metadata.uid ?? '';
}

async function deleteFromSource(options: MoveOptions, record: MoveRecord): Promise<void> {
  const { source, target, namespace, signal, onProgress } = options;
  onProgress('handing over');
  const { objects } = await takeInventory(source, namespace, signal);
  // only what the target has: somebody may have made something since, and a record may have been tampered with
  const arrived = new Set((await copiesIn(target, namespace, record, signal)).map(({ object }) => titleOf(object)));
  const ours = objects.filter(({ object, isCopied }) => !isCopied && arrived.has(titleOf(object)));
  // clusters last: what is left of them after a crash is still known by them
  const isCluster = ({ object }: MovedObject): boolean => object.kind === 'Cluster';
  for (const level of ownershipLevels(ours).reverse()) {
    await inParallel(
      level.filter((moved) => !isCluster(moved)),
      (moved) => forget(source, moved, signal),
    );
  }
  await inParallel(ours.filter(isCluster), (moved) => forget(source, moved, signal));
}

/** Takes an object away without anything being done about what it stands for. */
async function forget(client: Client, { resource, object }: MovedObject, signal: AbortSignal): Promise<void> {
  const key = objectKey(object);
  const metadata = { annotations: { [deleteForMoveAnnotation]: '' } };
  try {
    await client.patch(resource, key, 'merge', { metadata }, { ...by, signal });
    await client.delete(resource, key, { signal });
    await client.patch(resource, key, 'merge', { metadata: { finalizers: [] } }, { ...by, signal });
  } catch (error) {
    ignoreNotFound(error);
  }
}

async function resumeTarget(options: MoveOptions, record: MoveRecord): Promise<void> {
  const { target, namespace, signal, onProgress } = options;
  const copies = await copiesIn(target, namespace, record, signal);
  // clusters last: what belongs to them is complete by then
  for (const level of ownershipLevels(copies).reverse()) {
    await inParallel(level, ({ resource, object }) => resume(target, resource, object, record, signal));
  }
  onProgress(`moved ${copies.length} objects`);
}

async function copiesIn(
  target: Client,
  namespace: string,
  { id }: MoveRecord,
  signal: AbortSignal,
): Promise<MovedObject[]> {
  const found = await Promise.all(
    allKinds.map(async (resource) =>
      (await listOf(target, resource, namespace, signal))
        .filter(({ metadata }) => metadata.annotations?.[moveAnnotation] === id)
        .map((object) => ({ resource, object, isCopied: false })),
    ),
  );
  return found.flat();
}

async function resume(
  client: Client,
  resource: Resource<KubeObject>,
  object: KubeObject,
  { id }: MoveRecord,
  signal: AbortSignal,
): Promise<void> {
  const { annotations } = object.metadata;
  const isOurs = annotations?.[pausedAnnotation] === id || annotations?.[moveAnnotation] === id;
  if (!isOurs) return;
  const metadata = { annotations: { [pausedAnnotation]: null, [moveAnnotation]: null } };
  await client.patch(resource, objectKey(object), 'merge', { metadata }, { ...by, signal }).catch(ignoreNotFound);
}

async function ensureNamespace(source: Client, target: Client, name: string, signal: AbortSignal): Promise<void> {
  if (await exists(target, Namespaces as Resource<KubeObject>, { name }, signal)) return;
  const { metadata } = await source.get(Namespaces, { name }, { signal });
  const labels = Object.fromEntries(Object.entries(metadata.labels ?? {}).filter(([key]) => !isServersOwn(key)));
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
  await target.create(Namespaces, namespace, { ...by, signal }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

const isServersOwn = (label: string): boolean => label.startsWith('kubernetes.io/');

async function exists(
  client: Client,
  resource: Resource<KubeObject>,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<boolean> {
  return (await find(client, resource, key, signal)) !== undefined;
}

async function find(
  client: Client,
  resource: Resource<KubeObject>,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  return await client.get(resource, key, { signal }).catch(ignoreNotFound);
}
