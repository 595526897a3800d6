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
 * Holds deleted machines, whoever deleted them, until their etcd member is removed. Releases one at a time, and only if
 * the others keep quorum.
 */
export async function releaseMachines(scope: ControlPlaneScope): Promise<Result | undefined> {
  const candidates = leaving(scope)
    .filter((machine) => hasHook(scope, machine))
    .sort((a, b) => ((a.metadata.deletionTimestamp ?? '') < (b.metadata.deletionTimestamp ?? '') ? -1 : 1));
  const obstacles: string[] = [];
  for (const machine of candidates) {
    // drain and volume detach come first; the machine controller reports when it reaches the pre-terminate hooks
    if (!isOurTurn(scope, machine)) break;
    const obstacle = await letGo(scope, machine);
    if (obstacle === undefined) return done();
    if (obstacle === '') return undefined;
    obstacles.push(`Machine ${nameOf(machine)} cannot leave: ${obstacle}`);
    // a later one may be what holds this one up: without its dead member, etcd can spare another
  }
  if (obstacles.length > 0) {
    const summary = isEtcdManaged(scope)
      ? 'waiting for etcd cluster to become healthy'
      : 'waiting for control plane components to become healthy';
    waitBecause(scope, [summary], obstacles);
    requeueAfter(scope, retryMs, 'a control plane Machine cannot leave yet');
  }
  return undefined;
}

export const hasHook = ({ provider }: ControlPlaneScope, { metadata }: Machine): boolean =>
  metadata.annotations?.[provider.cleanupHook] !== undefined;

export function isOurTurn({ provider }: ControlPlaneScope, { metadata, status }: Machine): boolean {
  const deleting = conditionOf({ ...(status && { status }) }, 'Deleting');
  // hooks of others may need a working kubelet, so this hook is released last
  const others = Object.keys(metadata.annotations ?? {}).some(
    (key) => key.startsWith(preTerminateHookPrefix) && key !== provider.cleanupHook,
  );
  return !others && deleting?.status === 'True' && deleting.reason === 'WaitingForPreTerminateHook';
}

/**
 * Tries to release a machine. Returns undefined if it may go, otherwise the reason for waiting; empty if an action was
 * taken.
 */
async function letGo(scope: ControlPlaneScope, machine: Machine): Promise<string | undefined> {
  const { controlPlane, health, inspection } = scope;
  const all = scope.machines;
  // nothing to protect before the control plane is initialized
  if (!isInitialized(controlPlane)) return await release(scope, machine);
  if (!inspection) return 'the workload cluster cannot be looked at';
  if (all.length === 1) return await replaceLast(scope, machine);
  const well = all.filter((other) => other !== machine && health.get(nameOf(other))?.componentsHealthy);
  if (well.length === 0) return 'no other control plane Machine has all its components healthy';
  if (!isEtcdManaged(scope)) return await release(scope, machine);
  const members = membersOf(scope);
  if (!members) return `the members of etcd are not known: ${inspection.etcd?.problem ?? 'no answer'}`;
  // wait until machines released earlier are out of etcd, so that only one leaves at a time
  const early = leaving(scope).find((other) => !hasHook(scope, other) && health.get(nameOf(other))?.member);
  if (early)
    return `etcd member ${health.get(nameOf(early))?.member?.name} of Machine ${nameOf(early)} has not left yet`;
  const member = memberOfLeaving(machine, all, {
    of: (one) => health.get(nameOf(one))?.member,
    unknown: unknownMembersOf(inspection.etcd, health),
  });
  if (member === 'unsure') return 'a member of etcd that joins may be its own';
  if (!member) {
    // if a joining machine dies, two members without quorum remain, and the dead one cannot be removed
    if (members.length === 1 && mayBeJoining(scope, machine))
      return 'it may be joining etcd, which has one member only';
    // if a member still appears, it has no machine and is removed as an unknown member
    return await release(scope, machine);
  }
  const judgement = judgeRemoval(members, member.id);
  if (!judgement.safe) return judgement.problem;
  try {
    await moveLeadershipAway(scope, machine).catch((error: unknown) => {
      // leadership transfer only avoids a short election; an unreachable leader must not block the replacement forever
      if (!(error instanceof EtcdError) || !isLate(scope, machine)) throw error;
    });
    await removeMember(scope, member);
  } catch (error) {
    if (error instanceof EtcdError) return explain(error);
    throw error;
  }
  return await release(scope, machine);
}

/** Time limit of attempts to transfer leadership. */
const leadershipPatienceMs = 120_000;

function isLate({ context }: ControlPlaneScope, { metadata }: Machine): boolean {
  return context.clock.now() - Date.parse(metadata.deletionTimestamp ?? '') > leadershipPatienceMs;
}

/** Time to wait for a machine that may still be joining. */
const joinPatienceMs = 300_000;

function mayBeJoining({ context }: ControlPlaneScope, { metadata, status }: Machine): boolean {
  if (status?.initialization?.bootstrapDataSecretCreated !== true) return false;
  return context.clock.now() - Date.parse(metadata.deletionTimestamp ?? '') < joinPatienceMs;
}

/** The last machine holds the only copy of the cluster's data, so a replacement must join before it is released. */
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

/** Removes the pre-terminate hook; the machine controller continues. */
export async function release(scope: ControlPlaneScope, machine: Machine): Promise<undefined> {
  const { context, provider } = scope;
  if (!hasHook(scope, machine)) return;
  const patch = { metadata: { annotations: { [provider.cleanupHook]: null } } };
  await context.client
    .patch(Machines, objectKey(machine), 'merge', patch, { fieldManager, signal: context.signal })
    .catch(ignoreNotFound);
}
