import { wasMovedHere } from '../../../api/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import { withoutFinalizer } from '../../shared/index.ts';
import { notReady } from '../common/conditions.ts';
import { openStackServerFinalizer } from '../common/names.ts';
import { attempt } from '../common/outcomes.ts';
import { isBegunByUpstream } from '../common/upstream.ts';
import { instanceDeletedReason, instanceDeleteFailedReason, instanceReadyCondition } from './conditions.ts';
import { findInstances, isGone, recallInstance } from './instance.ts';
import { releaseClaim } from './pool-address.ts';
import { findPorts, namedPort } from './ports.ts';
import { judge, type ServerScope, save, updateStatus } from './scope.ts';
import { deleteTrunk } from './trunks.ts';
import { deleteVolumes } from './volumes.ts';

/** Interval for repeating the delete request, and fallback for a lost event. */
const repeatMs = 60_000;
/** Time limit of a `deleting` task state; a host that was down may have lost the request. */
const stuckMs = 300_000;
const volumesMs = 10_000;

/** Tells whether any cloud resource can belong to this server. */
export function mayOwnResources(server: ServerScope['server']): boolean {
  const { status } = server;
  if (status?.resolved !== undefined || status?.instanceID !== undefined) return true;
  return isBegunByUpstream(server, openStackServerFinalizer) || wasMovedHere(server);
}

/**
 * Deletes everything in order: server, trunks and ports, volumes, claim. Uses only verified state, and never deletes
 * anything that is neither recorded nor has this owner's mark.
 */
export async function reconcileDelete(scope: ServerScope): Promise<Result | undefined> {
  const waiting = (await deleteInstances(scope)) ?? (await deletePorts(scope)) ?? (await volumes(scope));
  if (waiting) return waiting;
  await releaseClaim(scope);
  drop(scope.server);
  scope.context.log.info('Server deleted', { server: scope.server.metadata.name });
  return undefined;
}

/** Removes the finalizer. */
export function drop(server: ServerScope['server']): void {
  server.metadata.finalizers = withoutFinalizer(server.metadata.finalizers, openStackServerFinalizer);
}

async function deleteInstances(scope: ServerScope): Promise<Result | undefined> {
  const { server, observedState, cloud, context, memory } = scope;
  const { name } = server.metadata;
  if (recallInstance(scope)) await save(scope);
  let { instanceID: id } = server.status ?? {};
  if (id === undefined) {
    // a server whose creation response was lost is found by its mark; further ones are found in later reconciles
    id = (await findInstances(scope))[0]?.id;
    if (id === undefined) return undefined;
    updateStatus(server, { instanceID: id });
    await save(scope);
  }
  scope.follows.push({ type: 'server', id, closely: true });
  const seen = cloud.view.current('server', id);
  if (observedState.isGone('server', id) || (seen !== undefined && isGone(seen))) return await afterInstance(scope, id);
  const now = context.clock.now();
  const asked = memory.deletionAskedAt;
  const patience = seen?.taskState === 'deleting' ? stuckMs : repeatMs;
  if (asked === undefined || now - asked >= patience) {
    const existed = await attempt(`Server ${name} (${id}) cannot be deleted`, instanceDeleteFailedReason, () =>
      cloud.openstack.compute.servers.delete(id, { signal: context.signal }),
    );
    if (!existed) return await afterInstance(scope, id);
    memory.deletionAskedAt = now;
  }
  const fault = seen?.status === 'ERROR' && seen.fault ? `; nova says: ${seen.fault.message}` : '';
  const message = `Server ${name} (${id}) is being deleted${fault}`;
  judge(scope, instanceReadyCondition, notReady(instanceDeletedReason, message));
  return after(repeatMs, 'the server is being deleted');
}

/**
 * Runs after a server is gone. If a creation response was lost earlier, another server with our mark may exist; it is
 * deleted next.
 */
async function afterInstance(scope: ServerScope, id: string): Promise<Result | undefined> {
  const { server, context, memory } = scope;
  const { name = '' } = server.metadata;
  if (server.status?.instanceState !== 'DELETED') {
    context.events.event(server, 'Normal', 'Successfuldeleteserver', `Deleted server ${name} with id ${id}`);
  }
  judge(scope, instanceReadyCondition, notReady(instanceDeletedReason, `Server ${name} (${id}) is deleted`));
  updateStatus(server, { instanceState: 'DELETED', ready: false });
  const other = (await findInstances(scope)).find((found) => found.id !== id);
  if (!other) return undefined;
  delete memory.deletionAskedAt;
  updateStatus(server, { instanceID: other.id, instanceState: other.status });
  return after(0, `server ${other.id} carries the same mark`);
}

async function deletePorts(scope: ServerScope): Promise<undefined> {
  const { server, cloud, context } = scope;
  const { resolved, resources } = server.status ?? {};
  const wanted = resolved?.ports ?? server.spec.ports.map((port, index) => namedPort(server, port, index));
  const recorded = resources?.ports?.map(({ id }) => id) ?? [];
  const ids = recorded.length > 0 ? recorded : (await findPorts(scope, wanted)).map(({ id }) => id);
  const hasTrunks = server.spec.trunk === true || server.spec.ports.some(({ trunk }) => trunk === true);
  await Promise.all(
    ids.map(async (id) => {
      if (hasTrunks) await deleteTrunk(scope, id);
      await attempt(`Port ${id} cannot be deleted`, instanceDeleteFailedReason, () =>
        cloud.openstack.network.ports.delete(id, { signal: context.signal }),
      );
    }),
  );
  return undefined;
}

async function volumes(scope: ServerScope): Promise<Result | undefined> {
  return (await deleteVolumes(scope)) ? undefined : after(volumesMs, 'volumes are being deleted');
}
