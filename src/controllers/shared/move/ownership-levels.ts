import type { KubeObject, Resource } from '../../../machinery/index.ts';

export interface MovedObject {
  readonly resource: Resource<KubeObject>;
  readonly object: KubeObject;
  /** stays in the source, too: a moved object only refers to it */
  readonly isCopied: boolean;
}

/**
 * Sorts owners before owned objects, so that the new uid of every owner is known when needed. Owners outside of the set
 * do not count.
 */
export function ownershipLevels(objects: readonly MovedObject[]): MovedObject[][] {
  const byUid = new Map(objects.map((moved) => [moved.object.metadata.uid ?? '', moved]));
  const levels = new Map<MovedObject, number>();
  const levelOf = (moved: MovedObject, below: ReadonlySet<MovedObject>): number => {
    const known = levels.get(moved);
    if (known !== undefined) return known;
    const owners = (moved.object.metadata.ownerReferences ?? [])
      .map(({ uid }) => byUid.get(uid))
      // objects in an ownership cycle are created in any order; the owner reference is added once both exist
      .filter((owner): owner is MovedObject => owner !== undefined && !below.has(owner));
    const inside = new Set([...below, moved]);
    const level = owners.reduce((highest, owner) => Math.max(highest, levelOf(owner, inside) + 1), 0);
    levels.set(moved, level);
    return level;
  };
  const ordered: MovedObject[][] = [];
  for (const moved of objects) {
    const level = levelOf(moved, new Set());
    while (ordered.length <= level) ordered.push([]);
    ordered[level]?.push(moved);
  }
  return ordered;
}
