import { type ContractReference, type Machine, Machines } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import {
  ignoreNotFound,
  isAlreadyExists,
  type KubeObject,
  must,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import { cloneOf, kindWithoutTemplate } from '../clone-template.ts';
import { isControlledBy, isDeleting, ownerReference } from '../ownership.ts';
import { listMachines, type MachineOwner } from './machine-owner.ts';

type PartKind = Pick<ContractReference, 'apiGroup' | 'kind'>;

/** An object that the owner creates for a Machine: bootstrap config or infrastructure. */
export interface MachinePart {
  readonly step: 'bootstrap' | 'infrastructure';
  readonly kind: PartKind;
  /** builds the object for a Machine with this name, without an owner */
  build(name: string): UnstructuredObject | Promise<UnstructuredObject>;
}

/** Builds a part that is cloned from a template. */
export function templatePart(
  owner: MachineOwner,
  step: MachinePart['step'],
  reference: ContractReference,
): MachinePart {
  const kind = { apiGroup: reference.apiGroup, kind: kindWithoutTemplate(reference.kind) };
  return {
    step,
    kind,
    async build(name) {
      const { client, signal } = owner.context;
      const namespace = owner.object.metadata.namespace ?? '';
      const template = await owner.follower.get(reference, namespace, { client, signal });
      if (!template) throw new Error(`${reference.kind} ${namespace}/${reference.name} does not exist`);
      return cloneOf({
        template: template.object,
        reference,
        kind: await owner.follower.kindOf(kind, signal),
        name,
        namespace,
        // template labels and annotations are applied by a separate field manager, so that they can be removed later
        labels: owner.labels,
        annotations: {},
      });
    },
  };
}

/** Creates a part of a Machine, which is its owner. Nothing happens if the Machine has it already. */
export async function createPart(
  owner: MachineOwner,
  part: MachinePart,
  draft: UnstructuredObject,
  machine: Machine,
): Promise<void> {
  const { client, signal } = owner.context;
  const { resource } = await owner.follower.kindOf(part.kind, signal);
  const ownerReferences = [ownerReference(machine, Machines, { controller: true })];
  const object = { ...draft, metadata: { ...draft.metadata, ownerReferences } };
  try {
    const { metadata } = await client.create(resource, object, { fieldManager: owner.partManager, signal });
    owner.applies.metadata.noteBirth(must(metadata.uid, 'metadata.uid'));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const existing = await client.get(resource, objectKey(object), { signal });
    if (isControlledBy(existing, machine)) return;
    // the next Machine gets another name
    await client.delete(Machines, objectKey(machine), { signal, preconditions: uidOf(machine) }).catch(ignoreNotFound);
    throw error;
  }
}

/**
 * Tells whether a Machine has no such part although its creation should have made it. The API is asked before, because a
 * part may just be missing in the cache, or the Machine be on its way out with its parts.
 */
export async function isLacking(
  { context, follower, object }: MachineOwner,
  part: MachinePart,
  machine: Machine,
): Promise<boolean> {
  const { bootstrap, infrastructureRef, providerID } = machine.spec;
  const reference = part.step === 'bootstrap' ? bootstrap.configRef : infrastructureRef;
  const isDone = (part.step === 'bootstrap' ? bootstrap.dataSecretName : providerID) !== undefined;
  const { namespace = '', name, uid } = machine.metadata;
  if (isDone || isDeleting(machine) || !reference || reference.name !== name) return false;
  if (reference.kind !== part.kind.kind || reference.apiGroup !== part.kind.apiGroup) return false;
  const { client, signal } = context;
  if (await follower.get(reference, namespace, { client, signal })) return false;
  const live = await client.get(Machines, { namespace, name: reference.name }, { signal }).catch(ignoreNotFound);
  return live !== undefined && live.metadata.uid === uid && !isDeleting(live) && isControlledBy(live, object);
}

interface Leftover {
  part: MachinePart;
  object: UnstructuredObject;
}

/** Lists objects without a Machine: upstream's controllers create them before their Machine, and so did older versions. */
async function leftovers(
  { object: owner, context, follower }: MachineOwner,
  parts: readonly MachinePart[],
  known: readonly Machine[],
): Promise<Leftover[]> {
  const names = new Set(known.map(({ metadata }) => metadata.name));
  const { client, signal } = context;
  const found: Leftover[] = [];
  for (const part of parts) {
    for (const object of await follower.controlledBy(owner, part.kind, { client, signal })) {
      if (!names.has(object.metadata.name) && !isDeleting(object)) found.push({ part, object });
    }
  }
  return found;
}

/** Deletes parts without a Machine. Call only when no creation is to be completed. */
export async function deleteLeftoverParts(
  owner: MachineOwner,
  parts: readonly MachinePart[],
  known: readonly Machine[],
): Promise<void> {
  const found = await leftovers(owner, parts, known);
  if (found.length === 0) return;
  const { client, signal } = owner.context;
  const live = new Set((await listMachines(owner)).map(({ metadata }) => metadata.name));
  for (const { part, object } of found) {
    if (live.has(object.metadata.name)) continue;
    const { resource } = await owner.follower.kindOf(part.kind, signal);
    const { resourceVersion } = object.metadata;
    const preconditions = { ...uidOf(object), ...(resourceVersion !== undefined && { resourceVersion }) };
    await client.delete(resource, objectKey(object), { signal, preconditions }).catch(ignoreNotFound);
  }
}

const uidOf = ({ metadata: { uid } }: KubeObject): { uid?: string } => (uid === undefined ? {} : { uid });
