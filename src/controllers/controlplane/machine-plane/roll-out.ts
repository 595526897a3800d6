import { done, type Result } from '../../../runtime/index.ts';
import { hasLegacy, isDeleting, legacyFalse, legacyTrue, setLegacy } from '../../shared/index.ts';
import { mostDuringRollout, nextRolloutAt } from './decisions/rollout.ts';
import { tryInPlaceUpdate } from './in-place.ts';
import { deleteMachine, isSteady, leastMissed, scaleDown, scaleUp } from './scale.ts';
import { type ControlPlaneScope, clusterKeyOf, isInitialized, living, nameOf, requeueAfter } from './scope.ts';

const specUpToDate = 'MachinesSpecUpToDate';

/** Replaces outdated machines; if maxSurge allows, creates the new one first. */
export async function rollOut(scope: ControlPlaneScope): Promise<Result | undefined> {
  const { context, provider, controlPlane, outdated } = scope;
  const now = context.clock.now();
  const due = nextRolloutAt(provider.settingsOf(controlPlane), scope.machines, now);
  if (due !== undefined) requeueAfter(scope, due - now, 'a rollout is due');
  const old = living(scope).filter((machine) => outdated.has(nameOf(machine)));
  if (old.length === 0) {
    // skip the condition if there was never a rollout
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

/** Time limit for initialization after the API server first answers. */
const makingPatienceMs = 10 * 60_000;

/**
 * Replaces a first machine that never came up, once the user has changed the spec. While its API answers,
 * initialization may still succeed and the normal rollout is used.
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
