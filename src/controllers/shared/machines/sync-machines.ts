import { type Machine, Machines } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { isObjectGone, type JsonObject, parseApiVersion, type UnstructuredObject } from '../../../machinery/index.ts';
import { isControlledBy, isDeleting } from '../ownership.ts';
import { fieldManager } from '../write-object.ts';
import { type MachineOwner, machineLabels } from './machine-owner.ts';

export interface MachineSync {
  desired(machine: Machine): Machine;
  /** returns existing bootstrap config and infrastructure of the Machine */
  parts(machine: Machine): readonly UnstructuredObject[] | Promise<readonly UnstructuredObject[]>;
}

/**
 * Propagates mutable fields to existing Machines, their bootstrap configs and infrastructure. Returns the Machines that
 * still exist.
 */
export async function syncMachines(
  owner: MachineOwner,
  existing: readonly Machine[],
  sync: MachineSync,
): Promise<Machine[]> {
  const { context, applies, object } = owner;
  const synced: Machine[] = [];
  for (const machine of existing) {
    if (isDeleting(machine)) {
      synced.push(await syncDeleting(owner, machine, await sync.parts(machine)));
      continue;
    }
    if (isDeleting(object)) {
      synced.push(machine);
      continue;
    }
    try {
      synced.push(
        await applies.machine.apply(context.client, Machines, sync.desired(machine), machine, context.signal),
      );
    } catch (error) {
      // deleted meanwhile: an apply must not recreate it
      if (!isObjectGone(error)) throw error;
      continue;
    }
    for (const part of await sync.parts(machine)) await syncPart(owner, machine, part);
  }
  return synced;
}

async function syncDeleting(
  { context, applies, template }: MachineOwner,
  machine: Machine,
  parts: readonly UnstructuredObject[],
): Promise<Machine> {
  applies.machine.forget(machine.metadata.uid ?? '');
  for (const part of parts) applies.metadata.forget(part.metadata.uid ?? '');
  const patch = deletionPatch(template.deletion, machine);
  if (!patch) return machine;
  return await context.client
    .patch(Machines, objectKey(machine), 'merge', patch, { fieldManager, signal: context.signal })
    .catch((error: unknown) => {
      if (isObjectGone(error)) return machine;
      throw error;
    });
}

const deletionFields = [
  'nodeDrainTimeoutSeconds',
  'nodeVolumeDetachTimeoutSeconds',
  'nodeDeletionTimeoutSeconds',
] as const;

/** Builds a patch for a Machine being deleted, where only the deletion settings matter. */
function deletionPatch(desired: Machine['spec']['deletion'], machine: Machine): JsonObject | undefined {
  const current = machine.spec.deletion ?? {};
  const patch: JsonObject = {};
  for (const field of deletionFields) {
    const value = desired?.[field];
    if (value !== undefined && value !== current[field]) patch[field] = value;
  }
  return Object.keys(patch).length > 0 ? { spec: { deletion: patch } } : undefined;
}

async function syncPart(owner: MachineOwner, machine: Machine, part: UnstructuredObject): Promise<void> {
  const { context, follower, applies, template } = owner;
  if (isDeleting(part)) return;
  // a user's object, or one of another machine, is not labeled
  if (!isControlledBy(part, machine) && !isControlledBy(part, owner.object)) return;
  const { name = '', namespace = '', uid } = part.metadata;
  const apiGroup = parseApiVersion(part.apiVersion).group;
  const { resource } = await follower.kindOf({ apiGroup, kind: part.kind }, context.signal);
  const desired = {
    apiVersion: part.apiVersion,
    kind: part.kind,
    metadata: {
      name,
      namespace,
      ...(uid !== undefined && { uid }),
      labels: machineLabels(owner),
      annotations: { ...template.annotations },
    },
  };
  await applies.metadata.apply(context.client, resource, desired, part, context.signal);
}
