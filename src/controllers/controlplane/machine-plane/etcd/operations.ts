import type { Machine } from '../../../../api/index.ts';
import { errorMessage } from '../../../../machinery/index.ts';
import { isDeleting } from '../../../shared/index.ts';
import { type EtcdClient, EtcdError, type EtcdMember } from '../../etcd-client/types.ts';
import { judgeRemoval, labelOf, type MemberView } from '../decisions/quorum.ts';
import { leadershipCandidates } from '../decisions/selection.ts';
import { memberViews } from '../health/machine-health.ts';
import { type ControlPlaneScope, clusterKeyOf, nameOf } from '../scope.ts';

/** Returns the members as input for decisions; undefined while unknown. */
export function membersOf({ inspection, health }: ControlPlaneScope): MemberView[] | undefined {
  return memberViews(inspection?.etcd, health);
}

/** Runs a function with the first reachable member. */
async function withMember<T>(
  scope: ControlPlaneScope,
  nodes: readonly string[],
  work: (client: EtcdClient) => Promise<T>,
): Promise<T> {
  const { context, dependencies } = scope;
  const problems: string[] = [];
  for (const node of nodes) {
    let client: EtcdClient;
    try {
      client = await dependencies.etcd({ cluster: clusterKeyOf(scope), node }, context.signal);
    } catch (error) {
      if (context.signal.aborted) throw error;
      problems.push(`${node}: ${errorMessage(error)}`);
      continue;
    }
    try {
      return await work(client);
    } finally {
      client.close();
    }
  }
  throw new EtcdError(`no member of etcd can be reached: ${problems.join('; ') || 'there is no other member'}`);
}

/** Nodes with a healthy member; machines being deleted come last. */
function nodesThatAnswer({ machines, health }: ControlPlaneScope, except: string | undefined): string[] {
  return machines
    .filter((machine) => health.get(nameOf(machine))?.memberHealthy && machine.status?.nodeRef?.name !== except)
    .sort((a, b) => Number(isDeleting(a)) - Number(isDeleting(b)))
    .map((machine) => machine.status?.nodeRef?.name ?? '');
}

/**
 * Removes a member from etcd. Reads the members again (linearizable) right before, because the situation may have
 * changed since the inspection.
 */
export async function removeMember(scope: ControlPlaneScope, member: EtcdMember): Promise<void> {
  const { context, health } = scope;
  await withMember(scope, nodesThatAnswer(scope, member.name === '' ? undefined : member.name), async (client) => {
    const now = await client.members(context.signal);
    if (!now.some(({ id }) => id === member.id)) return;
    const views = memberViews({ members: now, alarms: [], leaderId: undefined, answers: new Map() }, health);
    const judgement = judgeRemoval(views ?? [], member.id);
    if (!judgement.safe) throw new EtcdError(`etcd member ${labelOf(member)} cannot be removed: ${judgement.problem}`);
    await client.removeMember(member.id, context.signal);
  });
  delete scope.memory.inspection;
}

/** Moves leadership away from a machine that is removed: an election would block all writes for a moment. */
export async function moveLeadershipAway(scope: ControlPlaneScope, leaving: Machine): Promise<void> {
  const { context, health, inspection, machines } = scope;
  const node = leaving.status?.nodeRef?.name;
  const member = health.get(nameOf(leaving))?.member;
  if (node === undefined || !member || inspection?.etcd?.leaderId !== member.id) return;
  if (inspection.pods.get(`etcd-${node}`) === undefined) {
    // its Node is deleted and its Pod unreachable; after the removal, the other members elect a leader
    context.log.info('The leader of etcd cannot be asked to step down', { node });
    return;
  }
  const isWell = (machine: Machine): boolean => health.get(nameOf(machine))?.memberHealthy === true;
  const candidates = leadershipCandidates(machines, leaving, isWell);
  const problems: string[] = [];
  for (const candidate of candidates) {
    const target = health.get(nameOf(candidate))?.member;
    if (!target || target.isLearner) continue;
    try {
      await withMember(scope, [node], (client) => client.moveLeader(target.id, context.signal));
      context.log.info('Moved the leadership of etcd', { from: node, to: target.name });
      return;
    } catch (error) {
      if (context.signal.aborted) throw error;
      problems.push(errorMessage(error));
    }
  }
  throw new EtcdError(
    candidates.length === 0
      ? 'unable to move etcd leadership, no candidate machines for etcd leadership found'
      : `failed to move etcd leadership: ${problems.join('; ')}`,
  );
}
