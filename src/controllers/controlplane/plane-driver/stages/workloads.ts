import { nextVersion, planeObjects, specProblems } from '../../../../hosting/index.ts';
import { applyObjects } from '../apply-objects.ts';
import { removeFormerDeployments, removeFormerPolicies } from '../former-objects.ts';
import { mountedChecksums } from '../mounted.ts';
import { replaceSet } from '../replace-set.ts';
import { bad, good, type PlaneScope, readSecret, requeueAfter, setStage } from '../scope.ts';
import { problemOfSet, type SetSight } from '../sets.ts';
import { seeControlPlane } from '../workload-sets.ts';

const workersMs = 10_000;

/** Refuses an invalid spec as a whole; nothing is applied partially. */
export function acceptRequest(scope: PlaneScope): 'stop' | undefined {
  const problems = specProblems(scope.desired);
  const [first] = problems;
  if (!first) return undefined;
  setStage(scope, 'version', bad(first.reason, problems.map(({ message }) => message).join('; ')));
  return 'stop';
}

/** Checks the version skew. An invalid target version keeps the Pods unchanged and is reported. */
export function judgeVersion(scope: PlaneScope): 'stop' | undefined {
  const { desired, facts } = scope;
  const decision = nextVersion(facts.runningVersion, desired.version, facts.workload?.kubeletVersions);
  if (decision.allowed) {
    setStage(scope, 'version', good('Accepted'));
    return undefined;
  }
  setStage(scope, 'version', bad(decision.reason, decision.message));
  scope.holdsBack = true;
  // no event signals that the last old worker is gone
  if (decision.reason === 'VersionSkew') requeueAfter(scope, workersMs, 'the workers are too old');
  return scope.controlPlane ? undefined : 'stop';
}

/** Applies network policies before any Pod starts: a blocked etcd member would never become ready. */
export async function keepPolicies(scope: PlaneScope): Promise<undefined> {
  const { policies } = planeObjects(scope.desired, scope.facts);
  await applyObjects(scope.apply, policies);
  await removeFormerPolicies(scope, policies);
}

/** Applies the configuration and the Pods that read it. */
export async function reconcileWorkloads(scope: PlaneScope): Promise<undefined> {
  const { desired, request } = scope;
  const { cache } = request.context;
  scope.facts = { ...scope.facts, checksums: mountedChecksums(desired, cache, (key) => readSecret(scope, key)) };
  if (!scope.holdsBack) {
    const objects = planeObjects(scope.isRestoring ? { ...desired, replicas: 0 } : desired, scope.facts);
    await applyObjects(scope.apply, objects.config);
    const left = await removeFormerDeployments(scope);
    if (left.length > 0) {
      setStage(
        scope,
        'workloads',
        bad('RollingOut', `programs of an earlier version are being stopped: ${left.join(', ')}`),
      );
      return;
    }
    try {
      await applyObjects(scope.apply, objects.controlPlane);
    } catch (error) {
      // another program, or an earlier version, made a StatefulSet with other immutable fields
      if (!(await replaceSet(request.context, desired.identity.owner, error))) throw error;
      scope.hasWritten = true;
    }
  }
  const controlPlane = seeControlPlane(cache, desired);
  scope.controlPlane = controlPlane;
  // writes of this reconcile have not taken effect yet
  scope.isRolledOut = !scope.hasWritten && !scope.isRestoring && controlPlane?.isRolledOut === true;
  reportRollout(scope, controlPlane);
}

function reportRollout(scope: PlaneScope, controlPlane: SetSight | undefined): void {
  const { desired } = scope;
  if (desired.replicas === 0) {
    const left = controlPlane?.pods.length ?? 0;
    setStage(
      scope,
      'workloads',
      left === 0 ? good('Hibernated') : bad('Hibernating', `${left} Pods are being stopped`),
    );
    return;
  }
  if (scope.isRestoring) {
    setStage(scope, 'workloads', bad('Stopped', 'the programs do not run while a backup is restored'));
    return;
  }
  if (scope.isRolledOut) {
    setStage(scope, 'workloads', good('RolledOut'));
    return;
  }
  const problem = controlPlane && problemOfSet(controlPlane);
  const { ready = 0, upToDate = 0 } = controlPlane?.counts ?? {};
  const how = `${ready} of ${desired.replicas} replicas are ready, ${upToDate} of them as desired`;
  setStage(scope, 'workloads', bad('RollingOut', problem === undefined ? how : `${how}; ${problem}`));
}

/** Applies the routes that lead from outside to the Service. */
export async function reconcileRoutes(scope: PlaneScope): Promise<undefined> {
  const problem = scope.facts.gateway?.problem;
  if (problem !== undefined) {
    setStage(scope, 'routes', bad('GatewayNotUsable', problem));
    return;
  }
  const { routes } = planeObjects(scope.desired, scope.facts);
  if (routes.length === 0) return;
  await applyObjects(scope.apply, routes);
  setStage(scope, 'routes', good('Applied'));
}
