import type { OpenStackServer } from '../../../api/index.ts';
import { sentenceEnd, trimTrailing } from '../../../machinery/index.ts';
import { isOpenStackError, type Server } from '../../../openstack/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import { notReady } from '../common/conditions.ts';
import { attempt } from '../common/outcomes.ts';
import { instanceBuildFailedReason, instanceReadyCondition } from './conditions.ts';
import { judge, type ServerScope, save, updateStatus } from './scope.ts';

/** Short first delay: most builds fail because one host is full, and the scheduler then picks another. */
const firstPauseMs = 10_000;
const longestPauseMs = 10 * 60_000;
/** Fallback for a lost event about the deletion of a failed server. */
const repeatMs = 60_000;

/** Tells whether a server failed before it ever ran, so that it holds no user data. */
export function failedToBuild({ status, launchedAt }: Pick<Server, 'status' | 'launchedAt'>): boolean {
  return status === 'ERROR' && launchedAt === undefined;
}

/**
 * Tells whether the recorded server is being deleted because it failed to build; derived from the status, so that it
 * survives a crash.
 */
export function isBeingReplaced({ status }: OpenStackServer): boolean {
  return status?.conditions?.some(isBuildFailure) === true;
}

const isBuildFailure = ({ type, reason }: { type: string; reason?: string }): boolean =>
  type === instanceReadyCondition && reason === instanceBuildFailedReason;

/**
 * Deletes a server that failed to build, after a delay that grows with each failure. Its ports and volumes stay for the
 * next one.
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
      `Server ${name} (${seen.id}) could not be built${words === '' ? '' : `: ${words}`}; it is built again until it works`,
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
  // record the reason before the deletion; otherwise the missing server would count as lost
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

/** Resets the status once the failed server is gone, so that the next one is created like the first. */
export async function forgetFailedBuild(scope: ServerScope): Promise<Result> {
  const { instanceID: _, ...status } = scope.server.status ?? { ready: false };
  scope.server.status = status;
  delete scope.memory.created;
  // some volumes are deleted with their server, so look them up again
  for (const id of scope.memory.volumes.values()) scope.cloud.view.forget('volume', id);
  scope.memory.volumes.clear();
  await save(scope);
  return after(0, 'the server is rebuilt');
}
