import { type KubeObject, must, type OwnerReference, parseApiVersion, type Resource } from '../../machinery/index.ts';

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/** State of one object in the ownership graph. */
export interface GraphNode {
  readonly uid: string;
  readonly resource: Resource<KubeObject>;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly owners: readonly OwnerReference[];
  readonly terminating: boolean;
  /** being deleted in the foreground: only after its dependents */
  readonly waitsForDependents: boolean;
  /** being deleted with orphan propagation: owner references of dependents are removed first */
  readonly orphansDependents: boolean;
}

export function nodeOf(resource: Resource<KubeObject>, object: KubeObject): GraphNode {
  const { uid = '', name = '', namespace, ownerReferences, deletionTimestamp, finalizers } = object.metadata;
  const terminating = deletionTimestamp !== undefined;
  return {
    uid,
    resource,
    namespace,
    name,
    owners: ownerReferences ?? [],
    terminating,
    waitsForDependents: terminating && finalizers?.includes(foregroundFinalizer) === true,
    orphansDependents: terminating && finalizers?.includes(orphanFinalizer) === true,
  };
}

/** Graph of owners and dependents by uid. Dependents may refer to owners that are not in the graph. */
export class OwnershipGraph {
  readonly #nodes = new Map<string, GraphNode>();
  readonly #dependents = new Map<string, Set<string>>();

  get size(): number {
    return this.#nodes.size;
  }

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  nodes(): IterableIterator<GraphNode> {
    return this.#nodes.values();
  }

  dependentsOf(uid: string): GraphNode[] {
    const found: GraphNode[] = [];
    for (const dependent of this.#dependents.get(uid) ?? [])
      found.push(must(this.#nodes.get(dependent), 'the node of a dependent'));
    return found;
  }

  /** Returns the node it replaced. */
  put(node: GraphNode): GraphNode | undefined {
    const old = this.#nodes.get(node.uid);
    if (old) this.#unlink(old);
    this.#nodes.set(node.uid, node);
    for (const { uid } of node.owners) {
      const dependents = this.#dependents.get(uid);
      if (dependents) dependents.add(node.uid);
      else this.#dependents.set(uid, new Set([node.uid]));
    }
    return old;
  }

  remove(uid: string): GraphNode | undefined {
    const node = this.#nodes.get(uid);
    if (!node) return undefined;
    this.#unlink(node);
    this.#nodes.delete(uid);
    return node;
  }

  #unlink(node: GraphNode): void {
    for (const { uid } of node.owners) {
      const dependents = this.#dependents.get(uid);
      if (!dependents) continue;
      dependents.delete(node.uid);
      if (dependents.size === 0) this.#dependents.delete(uid);
    }
  }
}

/**
 * Reports whether the reference matches this node in every field. A uid alone could be copied between kinds, names and
 * namespaces.
 */
export function refersTo(dependent: GraphNode, reference: OwnerReference, owner: GraphNode): boolean {
  return (
    reference.uid === owner.uid &&
    reference.name === owner.name &&
    reference.kind === owner.resource.kind &&
    parseApiVersion(reference.apiVersion).group === owner.resource.group &&
    (owner.namespace === undefined || owner.namespace === dependent.namespace)
  );
}

/** Reports whether the dependent blocks the deletion of the owner. */
export function blocks(dependent: GraphNode, ownerUid: string): boolean {
  return dependent.owners.some(({ uid, blockOwnerDeletion }) => uid === ownerUid && blockOwnerDeletion === true);
}
