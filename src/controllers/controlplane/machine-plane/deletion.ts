import { Machines } from '../../../api/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import { deletingText, explain, isDeleting, legacyFalse, setLegacy, withoutFinalizer } from '../../shared/index.ts';
import { inspectWorkload } from './inspect.ts';
import { hasHook, release } from './pre-terminate.ts';
import { deleteMachine } from './scale.ts';
import { type ControlPlaneScope, isInitialized, nameOf } from './scope.ts';

const workersRetryMs = 30_000;
const maxNames = 5;

/** Deletes the control plane: after the workers, all machines at once, without protecting etcd. */
export async function deleteControlPlane(scope: ControlPlaneScope): Promise<Result | undefined> {
  const { context, provider, controlPlane } = scope;
  const now = context.clock.now();
  if (scope.machines.length === 0) {
    scope.deletion = { reason: 'DeletionCompleted', message: 'Deletion completed' };
    controlPlane.metadata.finalizers = withoutFinalizer(controlPlane.metadata.finalizers, provider.finalizer);
    return undefined;
  }
  const workers = otherMachines(scope);
  if (workers.length > 0) {
    const more = workers.length > maxNames ? `, ... (${workers.length - maxNames} more)` : '';
    scope.deletion = {
      reason: 'WaitingForWorkersDeletion',
      message: `${provider.resource.kind} deletion blocked because following objects still exist:\n* Machines: ${workers.slice(0, maxNames).join(', ')}${more}`,
    };
    setLegacy(
      controlPlane,
      'Resized',
      legacyFalse('Deleting', 'Info', 'Waiting for worker nodes to be deleted first'),
      now,
    );
    await look(scope);
    return after(workersRetryMs, 'workers are still there');
  }
  for (const machine of scope.machines) {
    // no member can take over, so members are not removed from etcd
    if (hasHook(scope, machine)) await release(scope, machine);
    if (!isDeleting(machine)) await deleteMachine(scope, machine);
  }
  scope.deletion = { reason: 'WaitingForMachineDeletion', message: deletingText(scope.machines, now) };
  setLegacy(controlPlane, 'Resized', legacyFalse('Deleting', 'Info'), now);
  return undefined;
}

/** Keeps the conditions up to date while workers are drained. */
async function look(scope: ControlPlaneScope): Promise<void> {
  if (!isInitialized(scope.controlPlane)) return;
  try {
    await inspectWorkload(scope);
  } catch (error) {
    if (scope.context.signal.aborted) throw error;
    scope.context.log.debug('The control plane cannot be looked at', { error: explain(error) });
  }
}

function otherMachines({ context, cluster, machines: own }: ControlPlaneScope): string[] {
  const { namespace, name } = cluster.metadata;
  const ours = new Set(own.map(nameOf));
  return context.cache
    .lister(Machines)
    .list({
      ...(namespace !== undefined && { namespace }),
      filter: (machine) => machine.spec.clusterName === name && !ours.has(nameOf(machine)),
    })
    .map(nameOf)
    .sort();
}
