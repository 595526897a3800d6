import { type KubeObject, must, type OwnerReference, parseApiVersion, type Resource } from '../../machinery/index.ts';

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/** What the collector knows of one object. */
export interface GraphNode {
  readonly uid: string;
  readonly resource: Resource<KubeObject>;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly owners: readonly OwnerReference[];
  /** being deleted */
  readonly terminating: boolean;
  /** being deleted, and only after its dependents */
  readonly waitsForDependents: boolean;
  /** being deleted, and its dependents are to be set free first */
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

/** Who owns whom, by uid. Owners need not be known to have dependents. */
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

  /** Returns the node replaced. */
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

/** The reference really means this node: uids alone could be copied between kinds, names and namespaces. */
export function refersTo(dependent: GraphNode, reference: OwnerReference, owner: GraphNode): boolean {
  return (
    reference.uid === owner.uid &&
    reference.name === owner.name &&
    reference.kind === owner.resource.kind &&
    parseApiVersion(reference.apiVersion).group === owner.resource.group &&
    (owner.namespace === undefined || owner.namespace === dependent.namespace)
  );
}

/** The owner may not go before this dependent does. */
export function blocks(dependent: GraphNode, ownerUid: string): boolean {
  return dependent.owners.some(({ uid, blockOwnerDeletion }) => uid === ownerUid && blockOwnerDeletion === true);
}
