import type { OpenStackServer } from '../../../api/index.ts';
import { sentenceEnd, trimTrailing } from '../../../machinery/index.ts';
import { isOpenStackError, type Server } from '../../../openstack/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import { notReady } from '../common/conditions.ts';
import { attempt } from '../common/outcomes.ts';
import { instanceBuildFailedReason, instanceReadyCondition } from './conditions.ts';
import { judge, type ServerScope, save, updateStatus } from './scope.ts';

/** The first try comes soon: most builds fail for want of room on one host, and the next host is another. */
const firstPauseMs = 10_000;
const longestPauseMs = 10 * 60_000;
/** Should the event get lost that says a failed server is gone. */
const repeatMs = 60_000;

/** Whether nova gave up on a server before it ran for the first time: nothing of anybody's is on it. */
export function failedToBuild({ status, launchedAt }: Pick<Server, 'status' | 'launchedAt'>): boolean {
  return status === 'ERROR' && launchedAt === undefined;
}

/** Whether the server that is recorded is on its way out because it failed to build; kept in the object, for crashes. */
export function isBeingReplaced({ status }: OpenStackServer): boolean {
  return status?.conditions?.some(isBuildFailure) === true;
}

const isBuildFailure = ({ type, reason }: { type: string; reason?: string }): boolean =>
  type === instanceReadyCondition && reason === instanceBuildFailedReason;

/**
 * Takes a server away that failed to build, after a pause that grows from one failure to the next. Its ports and volumes stay
 * for the one that follows.
 */
export async function removeFailedBuild(scope: ServerScope, seen: Server): Promise<Result> {
  const { server, cloud, context, memory } = scope;
  const { name } = server.metadata;
  const now = context.clock.now();
  const words = trimTrailing(seen.fault?.message ?? '', sentenceEnd);
  judge(
    scope,
    instanceReadyCondition,
    notReady(
      instanceBuildFailedReason,
      `Server ${name} (${seen.id}) could not be built${words === '' ? '' : `: ${words}`}; it is built anew, and that until it works`,
    ),
  );
  updateStatus(server, { ready: false, instanceState: seen.status });
  if (memory.failedBuild?.id !== seen.id) {
    const count = (memory.failedBuild?.count ?? 0) + 1;
    const pause = Math.min(longestPauseMs, firstPauseMs * 2 ** (count - 1));
    memory.failedBuild = { id: seen.id, count, removeAt: now + pause * (1 + context.random.next() / 5) };
    context.events.event(server, 'Warning', 'Failedcreateserver', `Server ${name} could not be built: ${words}`);
  }
  const left = memory.failedBuild.removeAt - now;
  if (left > 0) return after(left, 'the server failed to build');
  // what is about to go is written down first: a server that vanishes otherwise is a loss to be told
  await save(scope);
  scope.follows.push({ type: 'server', id: seen.id, closely: true });
  await attempt(`Server ${name} (${seen.id}) cannot be deleted`, instanceBuildFailedReason, () =>
    cloud.openstack.compute.servers.delete(seen.id, { signal: context.signal }),
  ).catch((error: unknown) => {
    if (!isOpenStackError((error as Error).cause, 'notFound')) throw error;
  });
  memory.failedBuild = { ...memory.failedBuild, removeAt: now + repeatMs };
  return after(repeatMs, 'a server that failed to build is being deleted');
}

/** The failed one is gone: the next is made as if it were the first. */
export async function forgetFailedBuild(scope: ServerScope): Promise<Result> {
  const { instanceID: _, ...status } = scope.server.status ?? { ready: false };
  scope.server.status = status;
  // some volumes go with their server: those that are left are looked for
  for (const id of scope.memory.volumes.values()) scope.cloud.view.forget('volume', id);
  scope.memory.volumes.clear();
  await save(scope);
  return after(0, 'the server is built anew');
}
