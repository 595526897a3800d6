import { type Machine, machines } from '../../../../api/index.ts';
import { objectKey } from '../../../../client/index.ts';
import { isNotFound, type UnstructuredObject } from '../../../../machinery/index.ts';
import { fieldManager, isControlledBy, isDeleting } from '../../../shared/index.ts';
import { type ControlPlaneScope, nameOf } from '../scope.ts';
import { deletionPatch, desiredMachine, machineAnnotations, machineLabels } from './desired-machine.ts';

/** Brings what may change without a new machine to the living ones, and to their config and infrastructure. */
export async function syncMachines(scope: ControlPlaneScope): Promise<undefined> {
  const { context, controlPlane, cluster, applies } = scope;
  const synced: Machine[] = [];
  for (const machine of scope.machines) {
    if (isDeleting(machine)) {
      synced.push(await syncLeaving(scope, machine));
      continue;
    }
    const name = nameOf(machine);
    const clusterName = cluster.metadata.name ?? '';
    const wish = desiredMachine({ controlPlane, clusterName, name, born: machine.spec, existing: machine });
    try {
      synced.push(await applies.machine.apply(context.client, machines, wish, machine, context.signal));
    } catch (error) {
      // deleted meanwhile: an apply must never bring it back
      if (!isGone(error)) throw error;
      continue;
    }
    await syncPart(scope, machine, scope.configs.get(name) as unknown as UnstructuredObject | undefined);
    await syncPart(scope, machine, scope.infrastructure.get(name));
  }
  scope.machines = synced;
}

/** A wish with the uid of an object that is gone is refused as a conflict of identities. */
function isGone(error: unknown): boolean {
  return isNotFound(error) || (error instanceof Error && /uid mismatch|UID in precondition/i.test(error.message));
}

async function syncLeaving(scope: ControlPlaneScope, machine: Machine): Promise<Machine> {
  const { controlPlane, context, applies } = scope;
  applies.machine.forget(machine.metadata.uid ?? '');
  const name = nameOf(machine);
  for (const part of [scope.configs.get(name), scope.infrastructure.get(name)]) {
    applies.metadata.forget(part?.metadata.uid ?? '');
  }
  const patch = deletionPatch(controlPlane, machine);
  if (!patch) return machine;
  return await context.client
    .patch(machines, objectKey(machine), 'merge', patch, { fieldManager, signal: context.signal })
    .catch((error: unknown) => {
      if (isNotFound(error)) return machine;
      throw error;
    });
}

async function syncPart(
  { controlPlane, cluster, context, follower, applies }: ControlPlaneScope,
  machine: Machine,
  part: UnstructuredObject | undefined,
): Promise<void> {
  if (!part || isDeleting(part)) return;
  // one of a user's own, or of another machine, is not ours to label
  if (!isControlledBy(part, machine) && !isControlledBy(part, controlPlane)) return;
  const { name = '', namespace = '', uid } = part.metadata;
  const group = part.apiVersion.slice(0, part.apiVersion.indexOf('/'));
  const { resource } = await follower.kindOf({ apiGroup: group, kind: part.kind }, context.signal);
  const wish = {
    apiVersion: part.apiVersion,
    kind: part.kind,
    metadata: {
      name,
      namespace,
      ...(uid !== undefined && { uid }),
      labels: machineLabels(controlPlane, cluster.metadata.name ?? ''),
      annotations: machineAnnotations(controlPlane),
    },
  };
  await applies.metadata.apply(context.client, resource, wish, part, context.signal);
}
