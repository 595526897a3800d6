import { type Machine, Machines } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { clone, ignoreNotFound } from '../../../machinery/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import {
  dropCondition,
  dropLegacy,
  isDeleting,
  machineSetFinalizer,
  setLegacy,
  setVerdict,
  type Verdict,
  withoutFinalizer,
  writeObject,
} from '../../shared/index.ts';
import { completeMissing, createMissing, preflight } from './create-machines.ts';
import { machinesToDelete } from './deletion-order.ts';
import { isUncounted, mayMove, moveMachine, receiverOf } from './move-machines.ts';
import { planRemediation } from './remediation.ts';
import type { MachineSetScope } from './scope.ts';

const preflightRetryMs = 15_000;
const receiverRetryMs = 1_000;

/** Creates or deletes machines until their number matches spec.replicas. */
export async function syncReplicas(scope: MachineSetScope): Promise<Result | undefined> {
  const { set, context } = scope;
  const { replicas } = set.spec;
  if (replicas === undefined) return undefined;
  const counted = scope.machines.filter((machine) => !isUncounted(set, machine));
  const difference = counted.length - replicas;
  if (difference > 0) {
    const leaving = machinesToDelete(counted, difference, set.spec.deletion?.order, context.clock.now());
    return await letGo(scope, leaving);
  }
  // not before: a machine that cannot be completed can still be removed
  await completeMissing(scope);
  return difference < 0 ? await createMissing(scope, -difference) : undefined;
}

/** Moves machines to the receiving set if there is one; deletes the others. */
async function letGo(scope: MachineSetScope, leaving: readonly Machine[]): Promise<Result | undefined> {
  const taken = leaving.length > 0 ? receiverOf(scope) : undefined;
  if (taken === 'later') return after(receiverRetryMs, 'the set that takes its machines');
  if (taken) {
    // preflight checks for new machines apply to in-place updates as well
    scope.blocked = await preflight({ ...scope, set: taken.receiver });
    if (scope.blocked.length > 0) return after(preflightRetryMs, 'preflight checks of an update in place');
  }
  let room = taken?.room ?? 0;
  for (const machine of leaving) {
    if (isDeleting(machine)) continue;
    if (taken && room > 0 && mayMove(machine)) {
      await moveMachine(scope, machine, taken.receiver);
      scope.machines = scope.machines.filter((other) => other !== machine);
      room--;
    } else await deleteMachine(scope, machine);
  }
  return undefined;
}

async function deleteMachine({ set, context }: MachineSetScope, machine: Machine): Promise<void> {
  const { uid, name } = machine.metadata;
  await context.client
    .delete(Machines, objectKey(machine), {
      signal: context.signal,
      ...(uid !== undefined && { preconditions: { uid } }),
    })
    .catch(ignoreNotFound);
  context.events.event(set, 'Normal', 'SuccessfulDelete', `Deleted Machine "${name}"`);
}

/** Replaces unhealthy machines, at most maxInFlight at a time. */
export async function remediate(scope: MachineSetScope): Promise<Result | undefined> {
  const { set, deployment } = scope;
  if (isDeleting(set)) return undefined;
  const plan = planRemediation(set, deployment, scope.machines);
  for (const machine of plan.recovered) await mark(scope, machine, undefined);
  for (const { machine, verdict } of plan.waiting) await mark(scope, machine, verdict);
  if (plan.remediate.length === 0) return undefined;
  const problems = await preflight(scope);
  if (problems.length > 0) {
    const message = problems.map((problem) => `* ${problem}`).join('\n');
    for (const machine of plan.remediate) {
      await mark(scope, machine, { status: 'False', reason: 'RemediationDeferred', message }, problems.join('; '));
    }
    return after(preflightRetryMs, 'preflight checks of a remediation');
  }
  for (const machine of plan.remediate) {
    await mark(scope, machine, { status: 'False', reason: 'MachineDeleting', message: 'Machine is deleting' });
    await deleteMachine(scope, machine);
  }
  return undefined;
}

/** Sets OwnerRemediated on the machine; without a verdict, removes it. */
async function mark(
  { context }: MachineSetScope,
  machine: Machine,
  verdict: Verdict | undefined,
  legacyMessage?: string,
): Promise<void> {
  const draft = clone(machine);
  const now = context.clock.now();
  if (verdict) {
    setVerdict(draft, 'OwnerRemediated', verdict, now);
    if (verdict.reason === 'MachineDeleting') setLegacy(draft, 'OwnerRemediated', { status: 'True' }, now);
    else if (legacyMessage !== undefined) {
      const legacy = {
        status: 'False',
        reason: 'WaitingForRemediation',
        severity: 'Warning',
        message: legacyMessage,
      } as const;
      setLegacy(draft, 'OwnerRemediated', legacy, now);
    }
  } else {
    dropCondition(draft, 'OwnerRemediated');
    dropLegacy(draft, 'OwnerRemediated');
  }
  await writeObject(context, Machines, machine, draft, { observed: false });
}

/** Deletes all machines, then removes the finalizer of the set. */
export async function deleteAll(scope: MachineSetScope): Promise<Result | undefined> {
  const { set } = scope;
  for (const machine of scope.machines) if (!isDeleting(machine)) await deleteMachine(scope, machine);
  if (scope.machines.length === 0) {
    set.metadata.finalizers = withoutFinalizer(set.metadata.finalizers, machineSetFinalizer);
  }
  return undefined;
}
