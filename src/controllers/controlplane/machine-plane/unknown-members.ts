import type { Machine } from '../../../api/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import type { EtcdMember } from '../etcd-client/types.ts';
import { judgeRemoval, labelOf } from './decisions/quorum.ts';
import { membersOf, removeMember } from './etcd/operations.ts';
import { unknownMembersOf } from './health/machine-health.ts';
import { type ControlPlaneScope, nameOf, waitBecause } from './scope.ts';

/**
 * Tells whether an announced member may belong to a machine. A member has no name before it starts, so only its address
 * identifies it; a machine without known addresses may be the owner.
 */
export function mayBeItsMember({ status }: Machine, { name }: EtcdMember): boolean {
  const hasAddress = (status?.addresses ?? []).length > 0;
  return !hasAddress && (name === '' || !status?.nodeRef);
}

/**
 * Finds the member of a machine being deleted. A machine that just joined has neither Node nor address, so a member
 * that no other machine can own is taken as its own. Returns 'unsure' if another machine might own it.
 */
export function memberOfLeaving(
  machine: Machine,
  all: readonly Machine[],
  members: { readonly of: (machine: Machine) => EtcdMember | undefined; readonly unknown: readonly EtcdMember[] },
): EtcdMember | 'unsure' | undefined {
  const own = members.of(machine);
  if (own) return own;
  const announced = members.unknown.find((stranger) => mayBeItsMember(machine, stranger));
  if (!announced) return undefined;
  const others = all.filter((other) => other !== machine && !members.of(other));
  return others.some((other) => mayBeItsMember(other, announced)) ? 'unsure' : announced;
}

/**
 * Removes members without a machine, one at a time, before any other change. They count towards quorum but never vote.
 * Includes members announced by a machine that died before etcd started.
 */
export async function removeStrangers(scope: ControlPlaneScope): Promise<Result | undefined> {
  const { context, controlPlane, health, inspection, machines } = scope;
  const members = membersOf(scope);
  if (!members) return undefined;
  const unknownMembers = unknownMembersOf(inspection?.etcd, health).sort((a, b) => (a.name < b.name ? -1 : 1));
  const [stranger] = unknownMembers;
  if (!stranger) return undefined;
  if (machines.some((machine) => !health.get(nameOf(machine))?.member && mayBeItsMember(machine, stranger))) {
    return undefined;
  }
  const judgement = judgeRemoval(members, stranger.id);
  if (!judgement.safe) {
    const detail = `etcd member ${labelOf(stranger)} does not have a corresponding Machine and cannot be removed: ${judgement.problem}`;
    waitBecause(scope, ['waiting for etcd cluster to become healthy'], [detail]);
    return undefined;
  }
  await removeMember(scope, stranger);
  context.events.event(
    controlPlane,
    'Normal',
    'EtcdMemberRemoved',
    `Removed etcd member ${labelOf(stranger)}, which had no corresponding Machine`,
  );
  return after(0, 'an etcd member was removed');
}
