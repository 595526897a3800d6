import type { Client, ObjectKey } from '../../client/index.ts';
import {
  asJson,
  isConflict,
  isNotFound,
  type JsonValue,
  type KubeObject,
  type OwnerReference,
  parseApiVersion,
} from '../../machinery/index.ts';
import { after, done, type EventRecorder, type Logger, type Result } from '../../runtime/index.ts';
import { findServed, type ServedResources } from '../served-resources.ts';
import {
  blocks,
  foregroundFinalizer,
  type GraphNode,
  type OwnershipGraph,
  orphanFinalizer,
  refersTo,
} from './graph.ts';

export interface CollectContext {
  client: Client;
  served: ServedResources;
  graph: OwnershipGraph;
  log: Logger;
  events: EventRecorder;
  signal: AbortSignal;
  /** true when all caches are synced: an object missing from the graph does not exist, or its kind has just appeared */
  graphIsComplete: () => boolean;
  enqueue: (uid: string) => void;
  /** owners known to be gone, so that many dependents cause only one lookup */
  gone: { has(uid: string): boolean; add(uid: string): void };
  /** objects whose owner's kind is not served; checked again when the served kinds change */
  unresolved: Set<string>;
}

const writer = { fieldManager: 'garbage-collector' };
const incompleteGraphMs = 1_000;

/** Reconciles one object: handles its finalizers and dependents, and deletes it when all its owners are gone. */
export async function collect(uid: string, context: CollectContext): Promise<Result> {
  const node = context.graph.get(uid);
  context.unresolved.delete(uid);
  if (!node) return done();
  if (node.orphansDependents) return await orphanDependents(node, context);
  if (node.waitsForDependents) return await deleteAfterDependents(node, context);
  // A deletion cannot be undone. Its completion enqueues the dependents.
  if (node.terminating || node.owners.length === 0) return done();
  return await deleteUnlessOwned(node, context);
}

function keyOfNode(node: GraphNode): ObjectKey {
  return node.namespace === undefined ? { name: node.name } : { namespace: node.namespace, name: node.name };
}

/** Reads the object from the server; undefined if it is gone or another object has its name. */
async function current(node: GraphNode, { client, signal }: CollectContext): Promise<KubeObject | undefined> {
  try {
    const object = await client.get(node.resource, keyOfNode(node), { signal });
    return object.metadata.uid === node.uid ? object : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

interface Classified {
  /** the owner exists */
  solid: OwnerReference[];
  dangling: OwnerReference[];
  /** the owner is being deleted and waits for its dependents */
  waiting: OwnerReference[];
  /** undecidable: the owner's kind is not served, or the reference cannot be resolved */
  unknown: OwnerReference[];
}

async function classify(node: GraphNode, object: KubeObject, context: CollectContext): Promise<Classified> {
  const result: Classified = { solid: [], dangling: [], waiting: [], unknown: [] };
  for (const reference of object.metadata.ownerReferences ?? []) {
    result[await classOf(node, object, reference, context)].push(reference);
  }
  return result;
}

async function classOf(
  node: GraphNode,
  object: KubeObject,
  reference: OwnerReference,
  context: CollectContext,
): Promise<keyof Classified> {
  const known = context.graph.get(reference.uid);
  if (known && refersTo(node, reference, known)) return known.waitsForDependents ? 'waiting' : 'solid';
  if (!known && context.gone.has(reference.uid)) return 'dangling';
  // The graph has no owner that matches this reference, so the server is asked.
  const resource = findServed(context.served, {
    group: parseApiVersion(reference.apiVersion).group,
    kind: reference.kind,
  });
  if (!resource) {
    context.unresolved.add(node.uid);
    return 'unknown';
  }
  if (resource.namespaced && node.namespace === undefined) {
    context.events.event(
      object,
      'Warning',
      'OwnerRefInvalidNamespace',
      `owner ${reference.kind} "${reference.name}" lives in a namespace, but a cluster-scoped object can only be owned by cluster-scoped ones`,
    );
    return 'unknown';
  }
  const key: ObjectKey = resource.namespaced
    ? { namespace: node.namespace ?? '', name: reference.name }
    : { name: reference.name };
  try {
    const owner = await context.client.get(resource, key, { signal: context.signal });
    if (owner.metadata.uid === reference.uid) {
      const waits =
        owner.metadata.deletionTimestamp !== undefined && owner.metadata.finalizers?.includes(foregroundFinalizer);
      return waits === true ? 'waiting' : 'solid';
    }
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  if (!known) context.gone.add(reference.uid);
  else {
    context.events.event(
      object,
      'Warning',
      'OwnerRefInvalidNamespace',
      `owner ${reference.kind} "${reference.name}" with uid ${reference.uid} does not exist in namespace "${node.namespace ?? ''}"`,
    );
  }
  return 'dangling';
}

async function deleteUnlessOwned(node: GraphNode, context: CollectContext): Promise<Result> {
  const object = await current(node, context);
  if (!object || (object.metadata.ownerReferences ?? []).length === 0) return done();
  const { solid, dangling, waiting, unknown } = await classify(node, object, context);
  if (solid.length > 0) {
    // References to deleted owners are dropped. References to owners that wait are dropped too, because they would keep
    // these owners waiting for ever.
    const obsolete = [...dangling, ...waiting];
    if (obsolete.length > 0) await dropOwners(node, object, new Set(obsolete.map(({ uid }) => uid)), context);
    return done();
  }
  if (unknown.length > 0) return done();
  const dependents = context.graph.dependentsOf(node.uid);
  if (waiting.length > 0 && dependents.length > 0) {
    const fresh = dependents.some((dependent) => dependent.waitsForDependents)
      ? // A cycle of objects that wait for each other is broken by clearing blockOwnerDeletion.
        await unblockOwners(node, object, context)
      : object;
    await remove(node, fresh, 'Foreground', context);
    return done();
  }
  const { finalizers = [] } = object.metadata;
  const policy = finalizers.includes(orphanFinalizer)
    ? 'Orphan'
    : finalizers.includes(foregroundFinalizer)
      ? 'Foreground'
      : 'Background';
  await remove(node, object, policy, context);
  return done();
}

async function remove(
  node: GraphNode,
  object: KubeObject,
  propagationPolicy: 'Background' | 'Foreground' | 'Orphan',
  { client, log, signal }: CollectContext,
): Promise<void> {
  const { uid, resourceVersion } = object.metadata;
  try {
    await client.delete(node.resource, keyOfNode(node), {
      propagationPolicy,
      // The decision holds only for the version of the object that was read.
      preconditions: { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) },
      signal,
    });
    log.info('Deleted an object whose owners are gone', {
      kind: node.resource.kind,
      namespace: node.namespace,
      name: node.name,
      propagationPolicy,
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function dropOwners(
  node: GraphNode,
  object: KubeObject,
  uids: ReadonlySet<string>,
  context: CollectContext,
): Promise<void> {
  const kept = (object.metadata.ownerReferences ?? []).filter(({ uid }) => !uids.has(uid));
  await patchMetadata(node, object, { ownerReferences: kept.length === 0 ? null : asJson(kept) }, context);
}

async function unblockOwners(node: GraphNode, object: KubeObject, context: CollectContext): Promise<KubeObject> {
  const references = (object.metadata.ownerReferences ?? []).map((reference) => ({
    ...reference,
    blockOwnerDeletion: false,
  }));
  return await patchMetadata(node, object, { ownerReferences: asJson(references) }, context);
}

/** A merge patch replaces whole lists, so it carries the resourceVersion that the lists were computed from. */
function patchMetadata(
  node: GraphNode,
  object: KubeObject,
  change: Record<string, JsonValue>,
  { client, signal }: CollectContext,
): Promise<KubeObject> {
  const { uid, resourceVersion } = object.metadata;
  const metadata = {
    ...change,
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
  return client.patch(node.resource, keyOfNode(node), 'merge', { metadata }, { ...writer, signal });
}

async function removeFinalizer(node: GraphNode, finalizer: string, context: CollectContext): Promise<void> {
  for (let tries = 0; ; tries++) {
    const object = await current(node, context);
    const finalizers = object?.metadata.finalizers ?? [];
    if (!object || !finalizers.includes(finalizer)) return;
    const kept = finalizers.filter((name) => name !== finalizer);
    try {
      await patchMetadata(node, object, { finalizers: kept.length === 0 ? null : kept }, context);
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      // Conflicts are expected: other controllers remove their finalizers at the same time.
      if (!isConflict(error) || tries >= 5) throw error;
    }
  }
}

async function deleteAfterDependents(node: GraphNode, context: CollectContext): Promise<Result> {
  const blocking = context.graph.dependentsOf(node.uid).filter((dependent) => blocks(dependent, node.uid));
  if (blocking.length > 0) {
    for (const dependent of blocking) if (!dependent.waitsForDependents) context.enqueue(dependent.uid);
    return done();
  }
  if (!context.graphIsComplete()) return after(incompleteGraphMs, 'caches are filling');
  await removeFinalizer(node, foregroundFinalizer, context);
  return done();
}

async function orphanDependents(node: GraphNode, context: CollectContext): Promise<Result> {
  if (!context.graphIsComplete()) return after(incompleteGraphMs, 'caches are filling');
  for (const dependent of context.graph.dependentsOf(node.uid)) {
    const object = await current(dependent, context);
    if (!object?.metadata.ownerReferences?.some(({ uid }) => uid === node.uid)) continue;
    try {
      await dropOwners(dependent, object, new Set([node.uid]), context);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  await removeFinalizer(node, orphanFinalizer, context);
  return done();
}
