import type { KubeObject, Resource } from '../../../machinery/index.ts';

export interface MovedObject {
  readonly resource: Resource<KubeObject>;
  readonly object: KubeObject;
  /** the source keeps it, too: it was only used by what moves */
  readonly isCopied: boolean;
}

/** Owners before what they own, so that each owner has its new uid by the time it is named. Owners outside do not count. */
export function ownershipLevels(objects: readonly MovedObject[]): MovedObject[][] {
  const byUid = new Map(objects.map((moved) => [moved.object.metadata.uid ?? '', moved]));
  const levels = new Map<MovedObject, number>();
  const levelOf = (moved: MovedObject, below: ReadonlySet<MovedObject>): number => {
    const known = levels.get(moved);
    if (known !== undefined) return known;
    const owners = (moved.object.metadata.ownerReferences ?? [])
      .map(({ uid }) => byUid.get(uid))
      // objects that own each other are made in any order; the second writes its owner in once both are there
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
