import { after, type Result } from '../../../runtime/index.ts';
import { judgeRemoval, labelOf } from './decisions/quorum.ts';
import { membersOf, removeMember } from './etcd-operations.ts';
import { strangersOf } from './health/machine-health.ts';
import { type ControlPlaneScope, waitBecause } from './scope.ts';

/**
 * Members without a machine count in every vote and never give one. They are taken out, one at a time, before anything
 * else happens: also one that was announced by a machine that died before it started.
 */
export async function removeStrangers(scope: ControlPlaneScope): Promise<Result | undefined> {
  const { context, controlPlane, health, inspection, machines } = scope;
  const members = membersOf(scope);
  if (!members) return undefined;
  const strangers = strangersOf(inspection?.etcd, health).sort((a, b) => (a.name < b.name ? -1 : 1));
  const [stranger] = strangers;
  if (!stranger) return undefined;
  // a machine that has no address yet may be the one that announced it
  const unborn = machines.filter(({ status }) => !status?.nodeRef && (status?.addresses ?? []).length === 0);
  if (unborn.length > 0) return undefined;
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
