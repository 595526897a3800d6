import {
  type ContractReference,
  deploymentNameLabel,
  labelValueOf,
  type Machine,
  type MachineSet,
  MachineSets,
  Machines,
  setNameLabel,
} from '../../../api/index.ts';
import { objectKey, withOptimisticLock } from '../../../client/index.ts';
import { asJson } from '../../../machinery/index.ts';
import {
  acknowledgedMoveAnnotation,
  beginInPlaceUpdate,
  cloneChange,
  deleteMachineAnnotation,
  desiredReplicasAnnotation,
  fieldManager,
  isBeginningInPlace,
  isDeleting,
  isUpdatingInPlace,
  machineTemplateHashLabel,
  moveMachinesToAnnotation,
  ownerReference,
  type PartChange,
  pendingAcknowledgeMoveAnnotation,
  receiveMachinesFromAnnotation,
  updateInProgressAnnotation,
} from '../../shared/index.ts';
import { byController } from '../common/indexes.ts';
import { isHealthy } from './deletion-order.ts';
import type { MachineSetScope } from './scope.ts';

// Moves machines from an old set to the current one for an in-place update. The deployment annotates both sets; the old
// set hands over machines instead of deleting them; the deployment adds them to the replicas of the new set, which then
// starts the update. Every step is recorded in an annotation, so a crash at any point loses nothing.

const namesIn = (text: string | undefined): string[] => (text ?? '').split(',').filter((name) => name !== '');

/** Tells whether a machine was moved to this set and is not yet acknowledged by the deployment. */
export function isUncounted({ metadata }: MachineSet, machine: Machine): boolean {
  if (machine.metadata.annotations?.[pendingAcknowledgeMoveAnnotation] === undefined) return false;
  const counted = namesIn(metadata.annotations?.[acknowledgedMoveAnnotation]);
  return !counted.includes(machine.metadata.name ?? '');
}

/** Returns the set that receives machines of this one and its free capacity; 'later' until the receiver confirms. */
export function receiverOf({
  set,
  context,
}: MachineSetScope): { receiver: MachineSet; room: number } | 'later' | undefined {
  const { namespace = '', name: own = '', annotations } = set.metadata;
  const name = annotations?.[moveMachinesToAnnotation];
  if (name === undefined) return undefined;
  const receiver = context.cache.lister(MachineSets).get({ namespace, name });
  // the deployment annotates the receiver first, but the cache may be stale; wait, because a deleted machine cannot be
  // restored
  if (!receiver || isDeleting(receiver) || !isOfSameDeployment(set, receiver)) return 'later';
  if (!namesIn(receiver.metadata.annotations?.[receiveMachinesFromAnnotation]).includes(own)) return 'later';
  const wanted = Number(receiver.metadata.annotations?.[desiredReplicasAnnotation] ?? 0);
  const there = context.cache.lister(Machines).byIndex(byController, receiver.metadata.uid ?? '').length;
  return { receiver, room: Math.max(wanted - Math.max(there, receiver.spec.replicas ?? 0), 0) };
}

/** Security: without this check, anyone allowed to write a set could pull in machines of another deployment. */
const isOfSameDeployment = (one: MachineSet, other: MachineSet): boolean =>
  one.spec.clusterName === other.spec.clusterName &&
  one.metadata.labels?.[deploymentNameLabel] !== undefined &&
  one.metadata.labels[deploymentNameLabel] === other.metadata.labels?.[deploymentNameLabel];

/** Tells whether a machine is healthy and not marked for deletion. */
export const mayMove = (machine: Machine): boolean =>
  !isDeleting(machine) &&
  isHealthy(machine) &&
  !isUpdatingInPlace(machine) &&
  machine.metadata.annotations?.[deleteMachineAnnotation] === undefined;

/** Hands over a machine. Neither set counts it until the deployment acknowledges it. */
export async function moveMachine(
  { context, set }: MachineSetScope,
  machine: Machine,
  receiver: MachineSet,
): Promise<void> {
  const owners = (machine.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== set.metadata.uid);
  const patch = {
    metadata: {
      ownerReferences: asJson([...owners, ownerReference(receiver, MachineSets, { controller: true })]),
      labels: {
        [machineTemplateHashLabel]: receiver.metadata.labels?.[machineTemplateHashLabel] ?? '',
        [setNameLabel]: labelValueOf(receiver.metadata.name ?? ''),
      },
      annotations: { [pendingAcknowledgeMoveAnnotation]: '', [updateInProgressAnnotation]: '' },
    },
  };
  await context.client.patch(Machines, objectKey(machine), 'merge', withOptimisticLock(patch, machine), {
    fieldManager,
    signal: context.signal,
  });
  const text = `Moved Machine "${machine.metadata.name}" to MachineSet "${receiver.metadata.name}" to update it in place`;
  context.events.event(set, 'Normal', 'InPlaceUpdate', text);
}

/** Starts the update of received machines once they are acknowledged. */
export async function beginUpdates(scope: MachineSetScope): Promise<undefined> {
  const { set, context } = scope;
  if (isDeleting(set)) return;
  const { client, signal } = context;
  for (const [index, machine] of scope.machines.entries()) {
    if (isDeleting(machine) || isUncounted(set, machine)) continue;
    let moved = machine;
    if (machine.metadata.annotations?.[pendingAcknowledgeMoveAnnotation] !== undefined) {
      const patch = { metadata: { annotations: { [pendingAcknowledgeMoveAnnotation]: null } } };
      moved = await client.patch(Machines, objectKey(machine), 'merge', withOptimisticLock(patch, machine), {
        fieldManager,
        signal,
      });
    }
    if (!isBeginningInPlace(moved)) continue;
    scope.machines[index] = await beginInPlaceUpdate(
      scope,
      moved,
      await partChanges(scope, moved),
      set.spec.template.spec,
    );
  }
}

/** Computes the changes to infrastructure and bootstrap objects of a machine that bring it to the set's template. */
export async function partChanges(
  { set, context, follower }: Pick<MachineSetScope, 'set' | 'context' | 'follower'>,
  { metadata, spec }: Machine,
): Promise<PartChange[]> {
  const { client, signal } = context;
  const template = set.spec.template.spec;
  const pairs: [ContractReference | undefined, ContractReference | undefined][] = [
    [spec.infrastructureRef, template.infrastructureRef],
    [spec.bootstrap.configRef, template.bootstrap.configRef],
  ];
  const changes: PartChange[] = [];
  for (const [reference, from] of pairs) {
    const live = reference && from && (await follower.get(reference, metadata.namespace ?? '', { client, signal }));
    if (live) changes.push(await cloneChange({ context, follower }, live.object, from));
  }
  return changes;
}
