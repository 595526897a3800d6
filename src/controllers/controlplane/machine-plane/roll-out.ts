import { done, type Result } from '../../../runtime/index.ts';
import { hasLegacy, isDeleting, legacyFalse, legacyTrue, setLegacy } from '../../shared/index.ts';
import { mostDuringRollout, nextRolloutAt } from './decisions/rollout.ts';
import { tryInPlaceUpdate } from './in-place.ts';
import { deleteMachine, isSteady, leastMissed, scaleDown, scaleUp } from './scale.ts';
import { type ControlPlaneScope, clusterKeyOf, isInitialized, living, nameOf, requeueAfter } from './scope.ts';

const specUpToDate = 'MachinesSpecUpToDate';

/** Replaces machines that are no longer as desired: with room for one more, first the new and then the old. */
export async function rollOut(scope: ControlPlaneScope): Promise<Result | undefined> {
  const { context, provider, controlPlane, outdated } = scope;
  const now = context.clock.now();
  const due = nextRolloutAt(provider.settingsOf(controlPlane), scope.machines, now);
  if (due !== undefined) requeueAfter(scope, due - now, 'a rollout is due');
  const old = living(scope).filter((machine) => outdated.has(nameOf(machine)));
  if (old.length === 0) {
    // nothing is said of a rollout that never was
    if (hasLegacy(controlPlane, specUpToDate)) setLegacy(controlPlane, specUpToDate, legacyTrue, now);
    return undefined;
  }
  const message = `Rolling ${old.length} replicas with outdated spec (${scope.machines.length - old.length} replicas up to date)`;
  setLegacy(controlPlane, specUpToDate, legacyFalse('RollingUpdateInProgress', 'Warning', message), now);
  if (!isInitialized(controlPlane)) return await startOver(scope);
  await provider.prepareUpgrade(scope);
  const most = mostDuringRollout(provider.settingsOf(controlPlane), controlPlane.spec.replicas);
  if (scope.machines.length < most) return await scaleUp(scope);
  const next = leastMissed(scope);
  const updated = next && isSteady(scope) ? await tryInPlaceUpdate(scope, next) : undefined;
  return updated ?? (await scaleDown(scope));
}

/** An API server that answers for so long without the cluster being made is not going to be a cluster. */
const makingPatienceMs = 10 * 60_000;

/**
 * A first machine that never came up is not worth keeping: with the spec corrected, a new one is made. While the API
 * answers the cluster may be about to be made, and the ordinary way will do.
 */
async function startOver(scope: ControlPlaneScope): Promise<Result | undefined> {
  const { context, controlPlane, dependencies, memory, outdated } = scope;
  const waitingSince = memory.uneasySince ?? context.clock.now();
  const mayFinish = context.clock.now() - waitingSince < makingPatienceMs;
  if (dependencies.workloads.state(clusterKeyOf(scope)).connected && mayFinish) return done();
  for (const machine of scope.machines) {
    if (isDeleting(machine) || !outdated.has(nameOf(machine)) || machine.status?.nodeRef) continue;
    await deleteMachine(scope, machine);
    context.events.event(
      controlPlane,
      'Normal',
      'SuccessfulDelete',
      `Deleted Machine "${nameOf(machine)}", which was outdated before it came up`,
    );
  }
  return done();
}
