import type { Machine } from '../../../api/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import type { EtcdMember } from '../etcd-client/types.ts';
import { judgeRemoval, labelOf } from './decisions/quorum.ts';
import { membersOf, removeMember } from './etcd/operations.ts';
import { unknownMembersOf } from './health/machine-health.ts';
import { type ControlPlaneScope, nameOf, waitBecause } from './scope.ts';

/**
 * Whether a machine that has no member yet could be the one that announced this: a member has no name before it starts, and
 * then only an address tells whose it is; a machine whose address is not known yet may be anybody.
 */
export function mayBeItsMember({ status }: Machine, { name }: EtcdMember): boolean {
  const hasAddress = (status?.addresses ?? []).length > 0;
  return !hasAddress && (name === '' || !status?.nodeRef);
}

/**
 * The member of a machine that leaves. One that joined a moment ago has neither Node nor address yet: a member that nobody else
 * can have is its own, and must be out of etcd before it goes. 'unsure' where somebody else can.
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
 * Members without a machine count in every vote and never give one. They are taken out, one at a time, before anything
 * else happens: also one that was announced by a machine that died before it started.
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
