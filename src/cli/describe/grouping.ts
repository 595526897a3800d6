import { must } from '../../machinery/index.ts';
import type { ConditionView } from './conditions.ts';
import { conditionsOf, findCondition } from './conditions.ts';
import type { TreeNode, TreeOptions } from './tree.ts';

/** Groups lines of the same kind and state; single lines stay. */
export function grouped(nodes: readonly TreeNode[], options: TreeOptions): TreeNode[] {
  if (!options.grouping) return [...nodes];
  const byState = new Map<string, TreeNode[]>();
  for (const node of nodes) {
    const key = stateOf(node, options);
    const others = byState.get(key);
    if (others) others.push(node);
    else byState.set(key, [node]);
  }
  return [...byState.values()].map((members) => groupOf(members));
}

function stateOf({ object, condition, deleting, shownConditions, children }: TreeNode, options: TreeOptions): string {
  const kind = object?.kind ?? '';
  if (options.legacyConditions) return [kind, deleting, stateKey(condition)].join('|');
  const conditions = object ? conditionsOf(object, 'modern') : [];
  const states = ['Available', 'Ready', 'UpToDate'].map((type) => stateKey(findCondition(conditions, type)));
  const findings = shownConditions.map(({ type, reason = '' }) => `${type}:${reason}`);
  // Missing parts must stay visible, so such lines are not grouped.
  const below = children.some((child) => !child.object) ? (object?.metadata.name ?? '') : '';
  return [kind, deleting, ...states, ...findings, below].join('|');
}

function stateKey(condition: ConditionView | undefined): string {
  if (!condition) return '';
  return [condition.status, condition.severity ?? '', condition.reason ?? ''].join(':');
}

function groupOf(nodes: readonly TreeNode[]): TreeNode {
  const first = must(nodes[0], 'a member of the group');
  if (nodes.length === 1) return first;
  const members = nodes.map(({ object }) => object?.metadata.name ?? '').sort();
  const title = `${nodes.length} ${first.object?.kind ?? ''}s...`;
  const total = (counter: 'available' | 'ready' | 'upToDate'): number =>
    nodes.reduce((sum, { counters }) => sum + (counters[counter] ?? 0), 0);
  const since = nodes
    .map(({ condition }) => condition?.lastTransitionTime)
    .filter((time) => time !== undefined)
    .sort()[0];
  const { message, lastTransitionTime: _time, ...state } = first.condition ?? { type: '', status: '' };
  // Shows a message only if all members share it.
  const isShared = state.status !== 'True' && nodes.every(({ condition }) => condition?.message === message);
  return {
    title: first.deleting ? `!! DELETED !! ${title}` : title,
    deleting: first.deleting,
    ...(first.condition && {
      condition: {
        ...state,
        ...(isShared && message !== undefined && { message }),
        ...(since !== undefined && { lastTransitionTime: since }),
      },
    }),
    shownConditions: first.shownConditions.map((shown, index) => {
      const isAlike = nodes.every(({ shownConditions }) => shownConditions[index]?.message === shown.message);
      return isAlike ? shown : { ...shown, message: `${shown.message ?? ''} (and others)` };
    }),
    counters: {
      replicas: String(nodes.length),
      available: total('available'),
      ready: total('ready'),
      upToDate: total('upToDate'),
    },
    members,
    rank: first.rank,
    children: [],
  };
}
