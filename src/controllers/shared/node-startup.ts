import { conditionOf } from './conditions.ts';

/** On an infrastructure machine whose Node is late: what its console says of the cause. */
export const nodeStartupCondition = 'NodeStartup';

/** Why the Node of a machine does not come, as its infrastructure machine knows it. */
export function nodeStartupFinding(infrastructure: object): string | undefined {
  const condition = conditionOf(infrastructure, nodeStartupCondition);
  return condition?.status === 'False' ? condition.message : undefined;
}
