import type { JsonObject } from '../../machinery/index.ts';
import type { TreeNode } from './tree.ts';

/** Returns the tree as data, with the same lines as fields. */
export function treeValue(node: TreeNode): JsonObject {
  const { object, role, condition, counters, members, shownConditions, children } = node;
  return {
    title: node.title,
    ...(role !== undefined && { role }),
    ...(object && {
      apiVersion: object.apiVersion,
      kind: object.kind,
      ...(object.metadata.namespace !== undefined && { namespace: object.metadata.namespace }),
      name: object.metadata.name ?? '',
    }),
    ...(node.deleting && { deleting: true }),
    ...(condition && { condition: { ...condition } }),
    ...(Object.keys(counters).length > 0 && { counters: { ...counters } }),
    ...(members && { members: [...members] }),
    ...(shownConditions.length > 0 && { conditions: shownConditions.map((shown) => ({ ...shown })) }),
    ...(children.length > 0 && { children: children.map(treeValue) }),
  };
}
