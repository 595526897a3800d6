import { type Machine, Machines } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { ignoreNotFound } from '../../../machinery/index.ts';
import { done, type Result } from '../../../runtime/index.ts';
import { conditionOf, explain, fieldManager, preTerminateHookPrefix } from '../../shared/index.ts';
import { EtcdError } from '../etcd-client/types.ts';
import { preflightProblems } from './decisions/preflight.ts';
import { judgeRemoval } from './decisions/quorum.ts';
import { membersOf, moveLeadershipAway, removeMember } from './etcd/operations.ts';
import { unknownMembersOf } from './health/machine-health.ts';
import { addMachine, preflightInput } from './scale.ts';
import {
  type ControlPlaneScope,
  isEtcdManaged,
  isInitialized,
  leaving,
  nameOf,
  requeueAfter,
  waitBecause,
} from './scope.ts';
import { memberOfLeaving } from './unknown-members.ts';

const retryMs = 15_000;

/**
 * Machines that were deleted, by us or by anybody, wait here until their etcd member has left in peace. One at a time, and
 * only when the rest can carry on.
 */
export async function releaseMachines(scope: ControlPlaneScope): Promise<Result | undefined> {
  const candidates = leaving(scope)
    .filter((machine) => hasHook(scope, machine))
    .sort((a, b) => ((a.metadata.deletionTimestamp ?? '') < (b.metadata.deletionTimestamp ?? '') ? -1 : 1));
  const [machine] = candidates;
  if (!machine) return undefined;
  // drained and detached first; the machine controller tells when it is our turn
  if (!isOurTurn(scope, machine)) return undefined;
  const obstacle = await letGo(scope, machine);
  if (obstacle === undefined) return done();
  if (obstacle.length > 0) {
    const summary = isEtcdManaged(scope)
      ? 'waiting for etcd cluster to become healthy'
      : 'waiting for control plane components to become healthy';
    waitBecause(scope, [summary], [`Machine ${nameOf(machine)} cannot leave: ${obstacle}`]);
    requeueAfter(scope, retryMs, 'a control plane Machine cannot leave yet');
  }
  return undefined;
}

export const hasHook = ({ provider }: ControlPlaneScope, { metadata }: Machine): boolean =>
  metadata.annotations?.[provider.cleanupHook] !== undefined;

function isOurTurn({ provider }: ControlPlaneScope, { metadata, status }: Machine): boolean {
  const deleting = conditionOf({ ...(status && { status }) }, 'Deleting');
  // the kubelet must keep working for hooks of others, so ours is the last
  const others = Object.keys(metadata.annotations ?? {}).some(
    (key) => key.startsWith(preTerminateHookPrefix) && key !== provider.cleanupHook,
  );
  return !others && deleting?.status === 'True' && deleting.reason === 'WaitingForPreTerminateHook';
}

/** Undefined when the machine may go; otherwise why not, empty when something was done about it. */
async function letGo(scope: ControlPlaneScope, machine: Machine): Promise<string | undefined> {
  const { controlPlane, health, inspection } = scope;
  const all = scope.machines;
  // nothing depends on a control plane that never came up
  if (!isInitialized(controlPlane)) return await release(scope, machine);
  if (!inspection) return 'the workload cluster cannot be looked at';
  if (all.length === 1) return await replaceLast(scope, machine);
  const well = all.filter((other) => other !== machine && health.get(nameOf(other))?.componentsHealthy);
  if (well.length === 0) return 'no other control plane Machine has all its components healthy';
  if (!isEtcdManaged(scope)) return await release(scope, machine);
  const members = membersOf(scope);
  if (!members) return `the members of etcd are not known: ${inspection.etcd?.problem ?? 'no answer'}`;
  // those that were let go before must be out of etcd, so that only one is on its way at any time
  const early = leaving(scope).find((other) => !hasHook(scope, other) && health.get(nameOf(other))?.member);
  if (early)
    return `etcd member ${health.get(nameOf(early))?.member?.name} of Machine ${nameOf(early)} has not left yet`;
  const member = memberOfLeaving(machine, all, {
    of: (one) => health.get(nameOf(one))?.member,
    unknown: unknownMembersOf(inspection.etcd, health),
  });
  if (member === 'unsure') return 'a member of etcd that joins may be its own';
  if (!member) {
    // of one member and one that dies while it joins neither is a majority: nobody could take the dead one out again
    if (members.length === 1 && mayBeJoining(scope, machine))
      return 'it may be joining etcd, which has one member only';
    // should a member still appear, it has no machine and is taken out then
    return await release(scope, machine);
  }
  const judgement = judgeRemoval(members, member.id);
  if (!judgement.safe) return judgement.problem;
  try {
    await moveLeadershipAway(scope, machine).catch((error: unknown) => {
      // an election costs the others a moment; a leader that cannot be asked must not cost them the replacement
      if (!(error instanceof EtcdError) || !isLate(scope, machine)) throw error;
    });
    await removeMember(scope, member);
  } catch (error) {
    if (error instanceof EtcdError) return explain(error);
    throw error;
  }
  return await release(scope, machine);
}

/** So long a leader is asked to hand over. */
const leadershipPatienceMs = 120_000;

function isLate({ context }: ControlPlaneScope, { metadata }: Machine): boolean {
  return context.clock.now() - Date.parse(metadata.deletionTimestamp ?? '') > leadershipPatienceMs;
}

/** So long a machine that has what it needs for joining is waited for. */
const joinPatienceMs = 300_000;

function mayBeJoining({ context }: ControlPlaneScope, { metadata, status }: Machine): boolean {
  if (status?.initialization?.bootstrapDataSecretCreated !== true) return false;
  return context.clock.now() - Date.parse(metadata.deletionTimestamp ?? '') < joinPatienceMs;
}

/** The data of the cluster are on this machine alone: another one must have them before it goes. */
async function replaceLast(scope: ControlPlaneScope, machine: Machine): Promise<string | undefined> {
  const { health, missingTemplate } = scope;
  const one = health.get(nameOf(machine));
  if (!one?.nodeName || (isEtcdManaged(scope) && !one.member)) return await release(scope, machine);
  if (missingTemplate) return 'it is the last one, and the template for its replacement does not exist';
  const change = { kind: 'add', replacesRemediated: false, replacesLast: true } as const;
  const problems = preflightProblems(preflightInput(scope), change);
  if (problems.details.length > 0) return `it is the last one, and cannot be replaced: ${problems.details.join('; ')}`;
  await addMachine(scope);
  return '';
}

/** Takes our hook away: the machine controller goes on. */
export async function release(scope: ControlPlaneScope, machine: Machine): Promise<undefined> {
  const { context, provider } = scope;
  if (!hasHook(scope, machine)) return;
  const patch = { metadata: { annotations: { [provider.cleanupHook]: null } } };
  await context.client
    .patch(Machines, objectKey(machine), 'merge', patch, { fieldManager, signal: context.signal })
    .catch(ignoreNotFound);
}
