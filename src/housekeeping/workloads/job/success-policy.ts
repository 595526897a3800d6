import type { Job } from '../../../api/index.ts';
import { IndexSet } from './indexes.ts';

/**
 * Returns the rule of the success policy that is met, in the wording of the Job's condition; undefined if none is met.
 */
export function metSuccessRule({ spec }: Job, completed: IndexSet): string | undefined {
  if (completed.size === 0) return undefined;
  for (const [index, rule] of (spec.successPolicy?.rules ?? []).entries()) {
    const { succeededIndexes, succeededCount } = rule;
    if (isMet(completed, succeededIndexes, succeededCount, spec.completions ?? 0))
      return `Matched rules at index ${index}`;
  }
  return undefined;
}

function isMet(
  completed: IndexSet,
  indexes: string | undefined,
  count: number | undefined,
  completions: number,
): boolean {
  if (indexes === undefined) return count !== undefined && completed.size >= count;
  const required = IndexSet.parse(indexes, completions);
  if (required.size === 0) return false;
  const met = required.countShared(completed);
  return met === required.size || (count !== undefined && met >= count);
}
