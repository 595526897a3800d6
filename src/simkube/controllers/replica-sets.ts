import { type Pod, Pods, type ReplicaSet, ReplicaSets } from '../../api/index.ts';
import { deepEqual, type JsonObject, type KubeObject, type Resource } from '../../machinery/index.ts';
import { type ControllerDefinition, defineController, done, watchObjects, watchOwned } from '../../runtime/index.ts';
import { isActive, isPodReady } from './placement.ts';
import { createPod, deletePod, indexPodsByOwner, ownedPods, podFromTemplate } from './pods.ts';

const fieldManager = 'kube-controller-manager';

/** Keeps as many Pods as a ReplicaSet wishes. */
export function replicaSetController(): ControllerDefinition {
  return defineController({
    name: 'replicaset',
    for: ReplicaSets as Resource<KubeObject>,
    watches: [watchObjects(ReplicaSets), watchOwned(Pods, ReplicaSets)],
    setup: indexPodsByOwner,
    async reconcile({ client, cache }, key) {
      const set = cache.lister(ReplicaSets).get(key);
      if (!set) return done();
      const pods = ownedPods(cache.lister(Pods), set).filter(isActive);
      if (set.metadata.deletionTimestamp === undefined) {
        const wished = set.spec.replicas ?? 1;
        for (let count = pods.length; count < wished; count++) {
          const identity = { generateName: `${set.metadata.name}-` };
          await createPod(client, podFromTemplate(set, set.spec.template ?? {}, identity), fieldManager);
        }
        for (const pod of surplus(pods, wished)) await deletePod(client, pod);
      }
      const status = statusOf(set, pods);
      if (!deepEqual(status as JsonObject, withoutConditions(set.status))) {
        const patch = { status: status as JsonObject };
        await client.patch(ReplicaSets, key, 'merge', patch, { fieldManager, subresource: 'status' });
      }
      return done();
    },
  });
}

/** Those to go: not yet placed before not ready before ready, young before old. */
function surplus(pods: readonly Pod[], wished: number): Pod[] {
  if (pods.length <= wished) return [];
  const rank = (pod: Pod): number => (pod.spec.nodeName === undefined ? 0 : isPodReady(pod) ? 2 : 1);
  const age = (pod: Pod): string => pod.metadata.creationTimestamp ?? '';
  return [...pods]
    .sort((a, b) => rank(a) - rank(b) || (age(a) > age(b) ? -1 : age(a) < age(b) ? 1 : 0))
    .slice(0, pods.length - wished);
}

function statusOf(set: ReplicaSet, pods: readonly Pod[]): NonNullable<ReplicaSet['status']> {
  const ready = pods.filter(isPodReady).length;
  return {
    replicas: pods.length,
    ...(pods.length > 0 && { fullyLabeledReplicas: pods.length }),
    ...(ready > 0 && { readyReplicas: ready, availableReplicas: ready }),
    ...(set.metadata.generation !== undefined && { observedGeneration: set.metadata.generation }),
    // A merge patch forgets nothing by itself.
    ...(pods.length === 0 && set.status?.fullyLabeledReplicas !== undefined && { fullyLabeledReplicas: 0 }),
    ...(ready === 0 && set.status?.readyReplicas !== undefined && { readyReplicas: 0, availableReplicas: 0 }),
  };
}

function withoutConditions(status: ReplicaSet['status']): JsonObject {
  const { conditions: _conditions, ...rest } = status ?? {};
  return rest as JsonObject;
}
