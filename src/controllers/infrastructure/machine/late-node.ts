import type { ObjectKey } from '../../../client/index.ts';
import { parseRfc3339 } from '../../../machinery/index.ts';
import { isOpenStackError } from '../../../openstack/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import { conditionOf, nodeStartupCondition } from '../../shared/index.ts';
import { findOnConsole } from './console-findings.ts';
import { instanceReadyCondition } from './names.ts';
import { judge, type WholeScope } from './scope.ts';

/** Time without a Node after which the console of a running server is read. */
const lateAfterMs = 5 * 60_000;
/** Upper limit of the retry delay, which is half the time waited so far. */
const longestPauseMs = 3_600_000;
const consoleLines = 400;
const nothingFound = {
  reason: 'NothingOnConsole',
  message:
    'the console shows nothing that is known to keep a machine from joining; read it with: openstack console log show',
};

/** Last console read by machine; kept in memory only. */
export type ConsoleReads = Map<string, number>;

export const consoleKey = ({ namespace = '', name }: ObjectKey): string => `${namespace}/${name}`;

/**
 * Reads the console of a machine whose Node does not appear, and reports a known cause. Machines with a Node cost no
 * request. The result schedules the next read.
 */
export async function explainLateNode(scope: WholeScope, reads: ConsoleReads): Promise<Result | undefined> {
  const { machine, owner, server, context } = scope;
  const id = consoleKey(scope.key);
  const instanceId = server?.status?.instanceID;
  if (owner.status?.nodeRef !== undefined || instanceId === undefined) {
    reads.delete(id);
    dropCondition(scope);
    return undefined;
  }
  const now = context.clock.now();
  const since = parseRfc3339(conditionOf(machine, instanceReadyCondition)?.lastTransitionTime ?? '') ?? now;
  const lateBy = now - since - lateAfterMs;
  if (lateBy < 0) return after(-lateBy, 'until the Node of the machine would be late');
  const pause = Math.min(Math.max(lateAfterMs, lateBy / 2), longestPauseMs);
  const readAt = reads.get(id);
  if (readAt !== undefined && now - readAt < pause)
    return after(pause - (now - readAt), 'until the console is read again');
  reads.set(id, now);
  const text = await consoleOf(scope, instanceId);
  if (text !== undefined) {
    const finding = findOnConsole(text) ?? nothingFound;
    judge(scope, nodeStartupCondition, { status: 'False', ...finding });
  }
  return after(pause, 'until the console is read again');
}

/** Returns undefined if the cloud does not provide console output, which is not an error. */
async function consoleOf(scope: WholeScope, instanceId: string): Promise<string | undefined> {
  const { openstack } = await scope.cloud();
  try {
    return await openstack.compute.servers.consoleOutput(instanceId, {
      lines: consoleLines,
      signal: scope.context.signal,
    });
  } catch (error) {
    if (isOpenStackError(error)) return undefined;
    throw error;
  }
}

function dropCondition({ machine }: WholeScope): void {
  const { status } = machine;
  if (!status?.conditions?.some(({ type }) => type === nodeStartupCondition)) return;
  status.conditions = status.conditions.filter(({ type }) => type !== nodeStartupCondition);
}
