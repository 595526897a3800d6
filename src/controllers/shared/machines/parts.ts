import type { ContractReference, Machine } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { ignoreNotFound, isAlreadyExists, must, type UnstructuredObject } from '../../../machinery/index.ts';
import { cloneOf, isCloneOf, kindWithoutTemplate } from '../clone-template.ts';
import { isControlledBy, isDeleting, ownerReference } from '../ownership.ts';
import { listMachines, type MachineOwner } from './machine-owner.ts';

type PartKind = Pick<ContractReference, 'apiGroup' | 'kind'>;

/** An object that the owner creates for a Machine: bootstrap config or infrastructure. */
export interface MachinePart {
  readonly step: 'bootstrap' | 'infrastructure';
  readonly kind: PartKind;
  /** builds the object for a Machine with this name */
  build(name: string): UnstructuredObject | Promise<UnstructuredObject>;
  /** whether an object of an interrupted creation equals what would be created now */
  matches(object: UnstructuredObject): boolean;
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
    matches: (object) => isCloneOf(object, reference),
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
        owner: ownerReference(owner.object, owner.resource, { controller: true }),
      });
    },
  };
}

/** Creates a part, or finds it from an earlier reconcile. */
export async function ensurePart(owner: MachineOwner, part: MachinePart, name: string): Promise<ContractReference> {
  const { client, signal } = owner.context;
  const object = await part.build(name);
  const { resource } = await owner.follower.kindOf(part.kind, signal);
  try {
    const { metadata } = await client.create(resource, object, { fieldManager: owner.partManager, signal });
    owner.applies.metadata.noteBirth(must(metadata.uid, 'metadata.uid'));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const existing = await client.get(resource, objectKey(object), { signal });
    if (!isControlledBy(existing, owner.object)) throw error;
  }
  return { ...part.kind, name };
}

interface Leftover {
  part: MachinePart;
  object: UnstructuredObject;
}

/** Lists objects without a Machine, left over from interrupted creations. */
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

/** Lists names of interrupted creations that match the current spec and can be completed. */
export async function unfinishedNames(
  owner: MachineOwner,
  parts: readonly MachinePart[],
  known: readonly Machine[],
): Promise<string[]> {
  const usable = new Map<string, boolean>();
  for (const { part, object } of await leftovers(owner, parts, known)) {
    const { name = '' } = object.metadata;
    usable.set(name, (usable.get(name) ?? true) && part.matches(object));
  }
  return [...usable].flatMap(([name, isUsable]) => (isUsable ? [name] : [])).sort();
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
    const { uid, resourceVersion } = object.metadata;
    const preconditions = {
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    };
    await client.delete(resource, objectKey(object), { signal, preconditions }).catch(ignoreNotFound);
  }
}
