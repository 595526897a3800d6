import type { InformerFactory } from '../../client/index.ts';
import { type KubeObject, must, type Resource } from '../../machinery/index.ts';
import { type ControllerDefinition, defineController } from '../../runtime/index.ts';
import { type DynamicInformers, followAllKinds, isEventKind, type ServedResources } from '../served-resources.ts';
import { collect } from './collect.ts';
import { blocks, type GraphNode, nodeOf, OwnershipGraph, refersTo } from './graph.ts';

export interface GarbageCollectorOptions {
  served: ServedResources;
  /** maximum concurrent reconciles; default 20 as upstream */
  concurrency?: number;
}

const maxGone = 5_000;

/**
 * Deletes objects whose owners are gone. Makes owners wait for their dependents (foreground) or removes the owner
 * references of dependents (orphan). Keys are uids, because an object that is deleted and created again under the same
 * name is a different object.
 */
export function garbageCollector(options: GarbageCollectorOptions): ControllerDefinition {
  const { served } = options;
  const graph = new OwnershipGraph();
  const gone = boundedSet(maxGone);
  const unresolved = new Set<string>();
  let factory: InformerFactory | undefined;
  let informers: DynamicInformers | undefined;
  let enqueue = (_uid: string): void => {};
  /** Before the first sync, an owner may be missing from the graph only because it was not read yet. */
  let filled = false;

  /** Reports whether the state of the object, or of one of its owners, requires a reconcile. */
  const needsAttention = (node: GraphNode): boolean =>
    node.orphansDependents ||
    node.waitsForDependents ||
    (!node.terminating &&
      node.owners.some((reference) => {
        const owner = graph.get(reference.uid);
        return !owner || owner.waitsForDependents || !refersTo(node, reference, owner);
      }));

  const wakeWaitingOwners = (node: GraphNode): void => {
    for (const { uid } of node.owners) if (graph.get(uid)?.waitsForDependents === true) enqueue(uid);
  };

  const observe = (resource: Resource<KubeObject>, object: KubeObject): void => {
    const node = nodeOf(resource, object);
    if (node.uid === '') return;
    const old = graph.put(node);
    if (!filled) return;
    if (needsAttention(node)) enqueue(node.uid);
    if (node.waitsForDependents && old?.waitsForDependents !== true) {
      for (const dependent of graph.dependentsOf(node.uid)) enqueue(dependent.uid);
    }
    if (!old) {
      // Dependents may refer to this uid with another kind or name, so they are checked again.
      for (const dependent of graph.dependentsOf(node.uid)) if (needsAttention(dependent)) enqueue(dependent.uid);
    } else if (old.owners.some(({ uid }) => blocks(old, uid) && !blocks(node, uid))) wakeWaitingOwners(old);
  };

  /** `deleted` is false when the kind is no longer followed. Then only the server knows whether the object exists. */
  const forget = (uid: string, { deleted }: { deleted: boolean }): void => {
    const node = graph.remove(uid);
    if (!node) return;
    const dependents = graph.dependentsOf(uid);
    if (deleted && dependents.length > 0) gone.add(uid);
    if (!filled) return;
    for (const dependent of dependents) enqueue(dependent.uid);
    wakeWaitingOwners(node);
  };

  return defineController({
    name: 'garbage-collector',
    // Only a label for tools; the controller follows every served kind.
    for: { group: '', version: 'v1', kind: 'Object', plural: 'objects', namespaced: false },
    watches: [],
    concurrency: options.concurrency ?? 20,
    setup(cache) {
      factory = cache;
    },
    sources: [
      {
        async start({ enqueue: add, signal }) {
          enqueue = (uid) => add({ name: uid });
          informers = followAllKinds({
            served,
            factory: must(factory, 'factory'),
            skip: isEventKind,
            handlerFor: (resource) => ({
              onAdd: (object) => observe(resource, object),
              onUpdate: (object, old) => {
                if (object !== old) observe(resource, object);
              },
              onDelete: (object) => forget(object.metadata.uid ?? '', { deleted: true }),
            }),
            onRemoved(resource) {
              for (const node of [...graph.nodes()])
                if (node.resource === resource) forget(node.uid, { deleted: false });
            },
            onChange() {
              for (const uid of unresolved) enqueue(uid);
            },
          });
          signal.addEventListener('abort', () => informers?.stop(), { once: true });
          await informers.waitForSync(signal).catch(() => {});
          if (signal.aborted) return;
          filled = true;
          for (const node of graph.nodes()) if (needsAttention(node)) add({ name: node.uid }, 'low');
        },
      },
    ],
    reconcile: (context, key) =>
      collect(key.name, {
        client: context.client,
        served,
        graph,
        log: context.log,
        events: context.events,
        signal: context.signal,
        graphIsComplete: () => filled && informers?.allSynced() === true,
        enqueue,
        gone,
        unresolved,
      }),
  });
}

/** Builds a set that drops its oldest values beyond the limit. It is only a cache, so losing values is safe. */
function boundedSet(limit: number): { has(value: string): boolean; add(value: string): void } {
  const values = new Set<string>();
  return {
    has: (value) => values.has(value),
    add(value) {
      values.add(value);
      if (values.size <= limit) return;
      const oldest = values.values().next().value;
      if (oldest !== undefined) values.delete(oldest);
    },
  };
}
