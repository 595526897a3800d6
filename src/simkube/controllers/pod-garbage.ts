import { type Node, Nodes, type Pod, Pods, type Toleration } from '../../api/index.ts';
import { isNotFound, type KubeObject, type Resource } from '../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  watchMapped,
  watchObjects,
} from '../../runtime/index.ts';
import { tolerates } from './placement.ts';
import { deletePod } from './pods.ts';
import { indexPodsByNode, podsByNode } from './scheduler.ts';

const quarantineMs = 40_000;

/** Removes Pods whose node is gone, and sends away those that do not put up with what their node has become. */
export function podGarbageController(): ControllerDefinition {
  /** when a node was first missed */
  const missing = new Map<string, number>();
  /** pods by node, as the node's events must wake them */
  let podsOn = (_node: string): readonly Pod[] => [];
  return defineController({
    name: 'pod-garbage',
    for: Pods as Resource<KubeObject>,
    watches: [
      watchObjects(Pods, { predicates: [({ object }) => object.spec.nodeName !== undefined] }),
      watchMapped(
        Nodes,
        ({ metadata }) =>
          podsOn(metadata.name!).map((pod) => ({ namespace: pod.metadata.namespace!, name: pod.metadata.name! })),
        { predicates: [nodeMatters] },
      ),
    ],
    setup(cache) {
      indexPodsByNode(cache);
      const { lister } = cache.informer(Pods);
      podsOn = (node) => lister.byIndex(podsByNode, node);
    },
    async reconcile({ client, cache, clock }, key) {
      const pod = cache.lister(Pods).get(key);
      const nodeName = pod?.spec.nodeName;
      if (!pod || nodeName === undefined) return done();
      const node = cache.lister(Nodes).get({ name: nodeName });
      if (!node) {
        const since = missing.get(nodeName) ?? clock.now();
        missing.set(nodeName, since);
        const restMs = quarantineMs - (clock.now() - since);
        if (restMs > 0) return after(restMs, 'a node that may come back');
        await client
          .delete(Pods, key as { namespace: string; name: string }, { gracePeriodSeconds: 0 })
          .catch((error: unknown) => {
            if (!isNotFound(error)) throw error;
          });
        return done();
      }
      missing.delete(nodeName);
      const leaveAt = evictionTime(pod, node);
      if (leaveAt === undefined || pod.metadata.deletionTimestamp !== undefined) return done();
      if (leaveAt > clock.now()) return after(leaveAt - clock.now(), 'a taint the pod tolerates for a while');
      await deletePod(client, pod);
      return done();
    },
  });
}

/** Only what Pods may not put up with any more, and nodes that go, concern Pods here. */
function nodeMatters(event: { type: string; object: Node; old?: Node }): boolean {
  if (event.type !== 'update') return event.type === 'delete';
  const count = (node: Node | undefined): string =>
    (node?.spec?.taints ?? [])
      .filter(({ effect }) => effect === 'NoExecute')
      .map(({ key, value }) => `${key}=${value ?? ''}`)
      .join(',');
  return count(event.old) !== count(event.object);
}

/** When a Pod must leave its node because of a taint; undefined when it may stay. */
function evictionTime(pod: Pod, node: Node): number | undefined {
  let earliest: number | undefined;
  for (const taint of node.spec?.taints ?? []) {
    if (taint.effect !== 'NoExecute') continue;
    const matching = (pod.spec.tolerations ?? []).filter((toleration) => tolerates([toleration], taint));
    const since = Date.parse(taint.timeAdded ?? '');
    const begin = Number.isNaN(since) ? 0 : since;
    const limit = shortest(matching);
    if (limit === undefined) continue;
    const end = begin + limit * 1_000;
    earliest = earliest === undefined ? end : Math.min(earliest, end);
  }
  return earliest;
}

/** Seconds a taint is put up with; undefined: for ever. No toleration at all: not a second. */
function shortest(tolerations: readonly Toleration[]): number | undefined {
  if (tolerations.length === 0) return 0;
  const limits = tolerations.flatMap(({ tolerationSeconds }) =>
    tolerationSeconds === undefined ? [] : [tolerationSeconds],
  );
  return limits.length === 0 ? undefined : Math.max(0, Math.min(...limits));
}
