import { type ContractReference, type Machine, Machines } from '../../../api/index.ts';
import { objectKey, withOptimisticLock } from '../../../client/index.ts';
import {
  createMergePatch,
  isForbidden,
  isInvalid,
  isJsonObject,
  type JsonObject,
  parseApiVersion,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import { at, groupKindOf } from '../contract.ts';
import type { MachineOwner } from '../machines/machine-owner.ts';
import {
  clonedFromGroupKindAnnotation,
  clonedFromNameAnnotation,
  pendingAcknowledgeMoveAnnotation,
  updateInProgressAnnotation,
} from '../names.ts';
import { isHookPending, pendingHooksAnnotation } from '../pending-hooks.ts';
import { fieldManager } from '../write-object.ts';

/** A bootstrap configuration or infrastructure machine that is to become another. */
export interface PartChange {
  readonly live: UnstructuredObject;
  /** merge patch of its spec; absent: it is as desired */
  readonly spec: JsonObject | undefined;
  /** of the template it then is a clone of */
  readonly annotations: Readonly<Record<string, string>>;
}

type Place = Pick<MachineOwner, 'context' | 'follower'>;

/** An update in place was decided on, is under way, or is just over. */
export const isUpdatingInPlace = (machine: Machine): boolean =>
  machine.metadata.annotations?.[updateInProgressAnnotation] !== undefined || isHookPending(machine, 'UpdateMachine');

/** Decided on, but not all objects are as desired yet: `beginInPlaceUpdate` is to be called again. */
export const isBeginningInPlace = ({ metadata }: Machine): boolean =>
  metadata.annotations?.[updateInProgressAnnotation] !== undefined &&
  metadata.annotations[pendingAcknowledgeMoveAnnotation] === undefined &&
  !isHookPending({ metadata }, 'UpdateMachine');

/** What a clone has to change in to be one of another template. What others wrote into it, such as its id in the cloud, stays. */
export async function cloneChange(
  { context, follower }: Place,
  live: UnstructuredObject,
  reference: ContractReference,
): Promise<PartChange> {
  const { client, signal } = context;
  const namespace = live.metadata.namespace ?? '';
  const read = async (name: string): Promise<JsonObject | undefined> => {
    const template = await follower.get({ ...reference, name }, namespace, { client, signal });
    const spec = template && at(template.object, 'spec', 'template', 'spec');
    return isJsonObject(spec) ? spec : undefined;
  };
  const before = live.metadata.annotations?.[clonedFromNameAnnotation];
  const desired = (await read(reference.name)) ?? {};
  const base = before === undefined ? undefined : await read(before);
  return {
    live,
    spec: createMergePatch(base ?? {}, desired),
    annotations: {
      [clonedFromNameAnnotation]: reference.name,
      [clonedFromGroupKindAnnotation]: groupKindOf(reference),
    },
  };
}

/** Why the API would not take the change of a part; nothing is changed. */
export async function refusalOf(place: Place, change: PartChange): Promise<string | undefined> {
  if (change.spec === undefined) return undefined;
  try {
    await writePart(place, change, { dryRun: true });
    return undefined;
  } catch (error) {
    if (isInvalid(error) || isForbidden(error)) return (error as Error).message;
    throw error;
  }
}

/**
 * Begins an update in place: everything is written as desired and marked, and only then the hook is noted. A pass that is cut
 * short is repeated; nothing happens to the machine before the note is there.
 */
export async function beginInPlaceUpdate(
  place: Place,
  machine: Machine,
  changes: readonly PartChange[],
  spec: Pick<Machine['spec'], 'version' | 'failureDomain'>,
): Promise<Machine> {
  const { client, signal } = place.context;
  const marked = await patchMachine(place, machine, {
    metadata: { annotations: { [updateInProgressAnnotation]: '' } },
  });
  for (const change of changes) await writePart(place, change, {});
  const noted = [...new Set([...pendingNames(marked), 'UpdateMachine'])].sort().join(',');
  const body: JsonObject = {
    metadata: { annotations: { [pendingHooksAnnotation]: noted } },
    spec: { version: spec.version ?? null, failureDomain: spec.failureDomain ?? null },
  };
  return await client.patch(Machines, objectKey(machine), 'merge', withOptimisticLock(body, marked), {
    fieldManager,
    signal,
  });
}

const pendingNames = ({ metadata }: Machine): string[] =>
  (metadata.annotations?.[pendingHooksAnnotation] ?? '').split(',').filter((name) => name !== '');

async function patchMachine({ context }: Place, machine: Machine, patch: JsonObject): Promise<Machine> {
  if (machine.metadata.annotations?.[updateInProgressAnnotation] !== undefined) return machine;
  const { client, signal } = context;
  return await client.patch(Machines, objectKey(machine), 'merge', withOptimisticLock(patch, machine), {
    fieldManager,
    signal,
  });
}

async function writePart(
  { context, follower }: Place,
  { live, spec, annotations }: PartChange,
  options: { dryRun?: boolean },
): Promise<void> {
  const { client, signal } = context;
  const apiGroup = parseApiVersion(live.apiVersion).group;
  const { resource } = await follower.kindOf({ apiGroup, kind: live.kind }, signal);
  const body: JsonObject = {
    metadata: { annotations: { ...annotations, [updateInProgressAnnotation]: '' } },
    ...(spec && { spec }),
  };
  await client.patch(resource, objectKey(live), 'merge', body, { fieldManager, signal, ...options });
}
