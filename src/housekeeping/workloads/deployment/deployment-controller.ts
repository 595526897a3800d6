import { type Deployment, Deployments, type Pod, Pods, type ReplicaSet, ReplicaSets } from '../../../api/index.ts';
import type { Lister, ObjectKey } from '../../../client/index.ts';
import { labelSelectorFromObject, must } from '../../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  ownerKeys,
  watchMapped,
  watchObjects,
  watchOwned,
} from '../../../runtime/index.ts';
import { claimObjects, controllerOf, indexByController, watchOrphans } from '../common/ownership.ts';
import { isTerminating } from '../common/pods.ts';
import { writeStatus } from '../common/status.ts';
import { byAge, findCurrent } from './current-set.ts';
import { isPaused, notePause, pruneHistory, rollOut, scaleOnly } from './phases.ts';
import { isScaled } from './proportional-scaling.ts';
import { allSets, type DeploymentScope } from './scope.ts';
import { deploymentStatus, isComplete, progressDeadlineIn } from './status.ts';

/** Rolls a Deployment from one ReplicaSet to the next when its template changes. */
export function deploymentController(): ControllerDefinition {
  let deployments: Lister<Deployment> | undefined;
  let sets: Lister<ReplicaSet> | undefined;
  let pods: Lister<Pod> | undefined;

  /** With the Recreate strategy, a Deployment waits for its last old Pod to be deleted before it creates new ones. */
  const waitingFor = (pod: Pod): ObjectKey[] => {
    const owner = controllerOf(pod);
    const { namespace } = pod.metadata;
    if (owner?.kind !== 'ReplicaSet' || namespace === undefined) return [];
    const set = sets?.get({ namespace, name: owner.name });
    return set ? ownerKeys(set, Deployments).filter((key) => isRecreated(deployments?.get(key))) : [];
  };

  return defineController({
    name: 'deployment-controller',
    for: Deployments,
    watches: [
      watchObjects(Deployments),
      watchOwned(ReplicaSets, Deployments),
      watchOrphans(ReplicaSets, () => deployments, selects),
      watchMapped(Pods, waitingFor, { predicates: [({ type }) => type === 'delete'] }),
    ],
    setup(cache) {
      deployments = cache.informer(Deployments).lister;
      sets = indexByController(cache, ReplicaSets);
      pods = indexByController(cache, Pods);
    },
    async reconcile(context, key) {
      const deployment = must(deployments, 'deployments').get(key);
      if (!deployment) return done();
      const { client, events, clock } = context;
      const owned = await claimObjects({
        client,
        resource: ReplicaSets,
        lister: must(sets, 'sets'),
        owner: deployment,
        selects: (set) => selects(deployment, set),
      });
      const sorted = owned.sort(byAge);
      const current = findCurrent(deployment, sorted);
      const scope: DeploymentScope = {
        client,
        events,
        clock,
        deployment,
        pods: must(pods, 'pods'),
        current,
        old: sorted.filter((set) => set !== current),
        conditions: deployment.status?.conditions ?? [],
        collisions: deployment.status?.collisionCount ?? 0,
      };
      const continues = !isTerminating(deployment);
      const isResting = isPaused(deployment) || isScaled(deployment, allSets(scope));
      if (continues) {
        notePause(scope);
        const isChanged = isResting ? await scaleOnly(scope) : await rollOut(scope);
        // The change causes an event, and the next reconcile counts it.
        if (isChanged && scope.conditions === deployment.status?.conditions) return done();
      }
      const status = deploymentStatus(scope, continues && !isResting);
      await writeStatus(client, Deployments, deployment, status);
      if (continues && (isPaused(deployment) || isComplete(deployment, status))) await pruneHistory(scope);
      const deadlineMs = continues && !isResting ? progressDeadlineIn(deployment, status, clock.now()) : undefined;
      return deadlineMs === undefined ? done() : after(deadlineMs, 'the deadline of a rollout');
    },
  });
}

function isRecreated(deployment: Deployment | undefined): boolean {
  return deployment?.spec.strategy?.type === 'Recreate';
}

function selects(deployment: Deployment, { metadata }: ReplicaSet): boolean {
  return labelSelectorFromObject(deployment.spec.selector).matches(metadata.labels ?? {});
}
