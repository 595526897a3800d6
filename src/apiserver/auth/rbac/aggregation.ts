import { deepEqual, labelSelectorFromObject } from '../../../machinery/index.ts';
import type { ClusterRole, PolicyRule } from './types.ts';

/** Tells whether a ClusterRole has an aggregation rule. */
export function isAggregated(clusterRole: ClusterRole): boolean {
  return (clusterRole.aggregationRule?.clusterRoleSelectors?.length ?? 0) > 0;
}

/**
 * Computes the rules of an aggregated ClusterRole from all other roles that its selectors match, ordered by selector
 * and role name, without duplicates. Other roles keep their own rules.
 */
export function aggregate(clusterRole: ClusterRole, all: Iterable<ClusterRole>): PolicyRule[] {
  if (!isAggregated(clusterRole)) return clusterRole.rules ?? [];
  const others = [...all]
    .filter((role) => role.metadata.name !== clusterRole.metadata.name)
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  const rules: PolicyRule[] = [];
  for (const selector of clusterRole.aggregationRule?.clusterRoleSelectors ?? []) {
    const matcher = labelSelectorFromObject(selector);
    for (const role of others) {
      if (!matcher.matches(role.metadata.labels)) continue;
      for (const rule of role.rules ?? []) if (!rules.some((known) => deepEqual(known, rule))) rules.push(rule);
    }
  }
  return rules;
}
