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

// Machines that can be updated in place change from the set of an old revision to that of the current one. The deployment tells
// both; the old set hands machines over instead of deleting them, the deployment counts them in the new set, and that begins the
// update. Each step is a note on an object, so that a crash at any point leaves nothing out.

const namesIn = (text: string | undefined): string[] => (text ?? '').split(',').filter((name) => name !== '');

/** Machines that were handed over and that the deployment has not counted in this set yet. */
export function isUncounted({ metadata }: MachineSet, machine: Machine): boolean {
  if (machine.metadata.annotations?.[pendingAcknowledgeMoveAnnotation] === undefined) return false;
  const counted = namesIn(metadata.annotations?.[acknowledgedMoveAnnotation]);
  return !counted.includes(machine.metadata.name ?? '');
}

/** The set that takes machines of this one, and how many more; 'later' while it does not say that it does. */
export function receiverOf({
  set,
  context,
}: MachineSetScope): { receiver: MachineSet; room: number } | 'later' | undefined {
  const { namespace = '', name: own = '', annotations } = set.metadata;
  const name = annotations?.[moveMachinesToAnnotation];
  if (name === undefined) return undefined;
  const receiver = context.cache.lister(MachineSets).get({ namespace, name });
  // the deployment writes the receiver first, but a cache may be late: a machine that is deleted for that cannot be had back
  if (!receiver || isDeleting(receiver) || !isOfSameDeployment(set, receiver)) return 'later';
  if (!namesIn(receiver.metadata.annotations?.[receiveMachinesFromAnnotation]).includes(own)) return 'later';
  const wanted = Number(receiver.metadata.annotations?.[desiredReplicasAnnotation] ?? 0);
  const there = context.cache.lister(Machines).byIndex(byController, receiver.metadata.uid ?? '').length;
  return { receiver, room: Math.max(wanted - Math.max(there, receiver.spec.replicas ?? 0), 0) };
}

/** Whoever may write a set could otherwise make it take machines of others. */
const isOfSameDeployment = (one: MachineSet, other: MachineSet): boolean =>
  one.spec.clusterName === other.spec.clusterName &&
  one.metadata.labels?.[deploymentNameLabel] !== undefined &&
  one.metadata.labels[deploymentNameLabel] === other.metadata.labels?.[deploymentNameLabel];

/** Machines that are well, and that nobody asked to delete. */
export const mayMove = (machine: Machine): boolean =>
  !isDeleting(machine) &&
  isHealthy(machine) &&
  !isUpdatingInPlace(machine) &&
  machine.metadata.annotations?.[deleteMachineAnnotation] === undefined;

/** Hands a machine over. It counts for nobody until the deployment says so. */
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

/** Begins the update of machines that were moved here, once they are counted. */
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

/** What has to change in the parts of a machine of one template for it to be one of the set's. */
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
