import { conditionOf } from './conditions.ts';

/** Condition of an infrastructure machine whose Node is late: the cause found on its console. */
export const nodeStartupCondition = 'NodeStartup';

/** Returns from the infrastructure machine why its Node does not appear. */
export function nodeStartupFinding(infrastructure: object): string | undefined {
  const condition = conditionOf(infrastructure, nodeStartupCondition);
  return condition?.status === 'False' ? condition.message : undefined;
}
