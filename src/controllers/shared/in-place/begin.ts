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

/** A bootstrap config or infrastructure machine to be updated. */
export interface PartChange {
  readonly live: UnstructuredObject;
  /** merge patch of its spec; absent if it is as desired */
  readonly spec: JsonObject | undefined;
  /** cloned-from annotations of the new template */
  readonly annotations: Readonly<Record<string, string>>;
}

type Place = Pick<MachineOwner, 'context' | 'follower'>;

/** Tells whether an in-place update is starting, running or just completed. */
export const isUpdatingInPlace = (machine: Machine): boolean =>
  machine.metadata.annotations?.[updateInProgressAnnotation] !== undefined || isHookPending(machine, 'UpdateMachine');

/** Tells whether `beginInPlaceUpdate` was interrupted and must be called again. */
export const isBeginningInPlace = ({ metadata }: Machine): boolean =>
  metadata.annotations?.[updateInProgressAnnotation] !== undefined &&
  metadata.annotations[pendingAcknowledgeMoveAnnotation] === undefined &&
  !isHookPending({ metadata }, 'UpdateMachine');

/**
 * Computes the changes that turn a clone into one of another template. Fields of other writers, such as its id in the
 * cloud, stay.
 */
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

/** Dry-runs the change of a part; returns the API's rejection. */
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
 * Starts an in-place update: writes and marks all desired objects, then marks the hook as pending. An interrupted call
 * is repeated; the machine is not touched before the hook is pending.
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
