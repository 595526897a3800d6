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
  /** creates the id of a new move; a continued one keeps its own */
  readonly newId: () => string;
  /** time for controllers to observe the pause; default one minute. With 0, the caller retries instead of waiting. */
  readonly patienceMs?: number;
  /** owners outside of the namespace: their uids here and in the target */
  readonly owners?: ReadonlyMap<string, string>;
  /** the objects will be deleted in the target, so they need not be complete, and may have been paused by the user */
  readonly isForDeletion?: boolean;
  /** only for canceling: the target and its copies are permanently lost */
  readonly isTargetLost?: boolean;
  onProgress(line: string): void;
}

/** Not a fault: a controller has yet to observe the pause. */
export class MoveWaitsError extends CapstanError {}

const by = { fieldManager: 'capstan-move' };
const usualPatienceMs = 60_000;
const pollMs = 250;

/** Every kind that can be in a target, including Secrets and ConfigMaps. */
const allKinds: readonly Resource<KubeObject>[] = [
  ...movableKinds,
  Secrets as Resource<KubeObject>,
  ConfigMaps as Resource<KubeObject>,
];

/** Returns the objects a move would move; throws if it would be refused. Changes nothing. */
export async function planMove(options: MoveOptions): Promise<MovedObject[]> {
  const { source, namespace, signal } = options;
  const inventory = await takeInventory(source, namespace, signal);
  const record = await readRecord(source, namespace, signal);
  if (record?.phase !== 'handing-over') await refuse(options, inventory, record);
  return ownershipLevels(inventory.objects).flat();
}

/**
 * Moves all clusters of a namespace to another management API. At most one side is active at any time: both are paused
 * from the first copy to the last deletion. An interrupted move continues with the same call.
 */
export async function moveNamespace(options: MoveOptions): Promise<void> {
  const { source, namespace, signal } = options;
  const record = (await openRecord(options)) ?? (await begin(options));
  if (record.phase === 'preparing') {
    // check again even with a record: a forged one must not bypass a refusal
    await refuse(options, await takeInventory(source, namespace, signal), record);
    await pauseSource(options, record);
    await copyToTarget(options, record);
    await writeRecord(source, namespace, { ...record, phase: 'handing-over' }, signal);
  }
  await deleteFromSource(options, record);
  await resumeTarget(options, record);
  await deleteRecord(source, namespace, signal);
}

/** Cancels a move that was not handed over yet: the source continues, and the copies in the target are deleted. */
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

/** With `record` a move continues, so transient problems and effects of the move itself do not count. */
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
    // check objects that were just paused or created meanwhile
    if (running.length > 0) continue;
    const blocking = ours.find(({ object }) => object.metadata.annotations?.[blockMoveAnnotation] !== undefined);
    const working = ours.find(({ object }) => isStillWorkedOn(object));
    if (!blocking && !working) return;
    if (clock.now() >= deadline) {
      const what = blocking
        ? `${titleOf(blocking.object)} carries ${blockMoveAnnotation}`
        : `the controller of ${working ? titleOf(working.object) : namespace} has not seen that it is paused`;
      throw new MoveWaitsError('CAP_MOVE', `${what} ${patienceMs > 0 ? `after ${patienceMs / 1000} seconds` : 'yet'}`, {
        hint: 'run the move again to continue, or with --cancel to cancel it',
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

/** Creates a missing copy with the status and field owners of the original. Returns its uid. */
async function copyOne(
  target: Client,
  { resource, object, isCopied }: MovedObject,
  record: MoveRecord,
  { newUid, signal }: { newUid(uid: string): string | undefined; signal: AbortSignal },
): Promise<string> {
  const key = objectKey(object);
  const copy = copyFor(object, { move: record.id, newUid });
  const { status } = asJson(copy);
  // the API ignores the status on creation
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
  // delete only what the target has: objects may be new, and the record may be forged
  const arrived = new Set((await copiesIn(target, namespace, record, signal)).map(({ object }) => titleOf(object)));
  const ours = objects.filter(({ object, isCopied }) => !isCopied && arrived.has(titleOf(object)));
  // clusters last, so that the rest can still be found through them after a crash
  const isCluster = ({ object }: MovedObject): boolean => object.kind === 'Cluster';
  for (const level of ownershipLevels(ours).reverse()) {
    await inParallel(
      level.filter((moved) => !isCluster(moved)),
      (moved) => forget(source, moved, signal),
    );
  }
  await inParallel(ours.filter(isCluster), (moved) => forget(source, moved, signal));
}

/** Deletes an object without side effects on what it represents. */
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
  // clusters last: everything that belongs to them exists by then
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
