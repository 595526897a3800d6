import { type ContractReference, type Machine, machines } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { isNotFound, type UnstructuredObject } from '../../../machinery/index.ts';
import { fieldManager, isControlledBy, isDeleting } from '../../shared/index.ts';
import { deletionPatch, desiredMachine, machineAnnotations, machineLabels } from './desired-machine.ts';
import type { MachineSetScope } from './scope.ts';

interface Clone {
  reference: ContractReference;
  object: UnstructuredObject;
}

/** Brings what may change without a new machine to the living ones, and to their bootstrap config and infrastructure. */
export async function syncMachines(scope: MachineSetScope): Promise<undefined> {
  const { set, context, applies } = scope;
  const synced: Machine[] = [];
  for (const machine of scope.machines) {
    if (isDeleting(machine)) {
      synced.push(await syncDeleting(scope, machine));
      continue;
    }
    if (isDeleting(set)) {
      synced.push(machine);
      continue;
    }
    const wish = desiredMachine(set, machine.metadata.name ?? '', machine.spec, machine);
    try {
      synced.push(await applies.machine.apply(context.client, machines, wish, machine, context.signal));
    } catch (error) {
      // deleted meanwhile: an apply must never bring it back
      if (!isNotFound(error) && !isGone(error)) throw error;
      continue;
    }
    await syncClones(scope, machine);
  }
  scope.machines = synced;
}

/** A wish with the uid of an object that is gone is refused as a conflict of identities. */
function isGone(error: unknown): boolean {
  return error instanceof Error && /uid mismatch|UID in precondition/i.test(error.message);
}

async function syncDeleting(scope: MachineSetScope, machine: Machine): Promise<Machine> {
  const { set, context, applies } = scope;
  applies.machine.forget(machine.metadata.uid ?? '');
  for (const { object } of await clonesOf(scope, machine)) applies.metadata.forget(object.metadata.uid ?? '');
  const patch = deletionPatch(set, machine);
  if (!patch) return machine;
  return await context.client
    .patch(machines, objectKey(machine), 'merge', patch, { fieldManager, signal: context.signal })
    .catch((error: unknown) => {
      if (isNotFound(error)) return machine;
      throw error;
    });
}

/** The machine's bootstrap config and infrastructure, as far as they are there. */
async function clonesOf({ context, follower }: MachineSetScope, machine: Machine): Promise<Clone[]> {
  const { client, signal } = context;
  const clones: Clone[] = [];
  for (const reference of [machine.spec.bootstrap.configRef, machine.spec.infrastructureRef]) {
    const found = reference && (await follower.get(reference, machine.metadata.namespace ?? '', { client, signal }));
    if (found) clones.push({ reference, object: found.object });
  }
  return clones;
}

async function syncClones(scope: MachineSetScope, machine: Machine): Promise<void> {
  const { set, context, follower, applies } = scope;
  const { client, signal } = context;
  const labels = machineLabels(set);
  const annotations = machineAnnotations(set);
  for (const { reference, object } of await clonesOf(scope, machine)) {
    if (isDeleting(object)) continue;
    // one of a user's own, or of another machine, is not ours to label
    if (!isControlledBy(object, machine) && !isControlledBy(object, set)) continue;
    const { resource } = await follower.kindOf(reference, signal);
    const { name = '', namespace = '', uid } = object.metadata;
    const wish = {
      apiVersion: object.apiVersion,
      kind: object.kind,
      metadata: { name, namespace, ...(uid !== undefined && { uid }), labels, annotations },
    };
    await applies.metadata.apply(client, resource, wish, object, signal);
  }
}
