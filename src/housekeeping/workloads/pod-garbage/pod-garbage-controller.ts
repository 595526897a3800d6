import { type Node, Nodes, type Pod, Pods, type Toleration } from '../../../api/index.ts';
import { type Lister, objectKey } from '../../../client/index.ts';
import { must } from '../../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  type ObjectEvent,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import { tolerates } from '../common/placement.ts';
import { indexPodsByNode, podsByNode } from '../common/pod-index.ts';
import { type Disruption, deletePod, isTerminating, markDisrupted } from '../common/pods.ts';

const quarantineMs = 40_000;
const nodeGone: Disruption = {
  reason: 'DeletionByPodGC',
  message: 'PodGC: node no longer exists',
  isLost: true,
};
const sentAway: Disruption = {
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
};

/** Deletes Pods whose node is gone, and evicts Pods that do not tolerate NoExecute taints of their node. */
export function podGarbageController(): ControllerDefinition {
  /** time at which each node was first found missing */
  const missing = new Map<string, number>();
  let pods: Lister<Pod> | undefined;
  let nodes: Lister<Node> | undefined;
  return defineController({
    name: 'pod-garbage-collector',
    for: Pods,
    watches: [
      watchObjects(Pods, { predicates: [isPlacedOrLeaving] }),
      watchMapped(
        Nodes,
        ({ metadata }) => (pods?.byIndex(podsByNode, must(metadata.name, 'metadata.name')) ?? []).map(objectKey),
        {
          predicates: [isAboutPods],
        },
      ),
    ],
    setup(cache) {
      pods = indexPodsByNode(cache);
      nodes = cache.informer(Nodes).lister;
    },
    async reconcile({ client, clock, events }, key) {
      const pod = must(pods, 'pods').get(key);
      if (!pod) return done();
      const { nodeName } = pod.spec;
      if (nodeName === undefined) {
        // No kubelet will report its end.
        if (isTerminating(pod)) await deletePod(client, pod, 0);
        return done();
      }
      const node = must(nodes, 'nodes').get({ name: nodeName });
      if (!node) {
        const since = missing.get(nodeName) ?? clock.now();
        missing.set(nodeName, since);
        const restMs = quarantineMs - (clock.now() - since);
        if (restMs > 0) return after(restMs, 'a node that may come back');
        await markDisrupted(client, pod, nodeGone, clock.now());
        await deletePod(client, pod, 0);
        return done();
      }
      missing.delete(nodeName);
      const leaveAt = evictionTime(pod, node);
      if (leaveAt === undefined || isTerminating(pod)) return done();
      if (leaveAt > clock.now()) return after(leaveAt - clock.now(), 'a taint the Pod tolerates for a while');
      const message = `Marking for deletion Pod ${key.namespace}/${key.name}`;
      events.event(pod, 'Normal', 'TaintManagerEviction', message);
      await markDisrupted(client, pod, sentAway, clock.now());
      await deletePod(client, pod);
      return done();
    },
  });
}

/** Status updates of a Pod on its node are irrelevant here. */
function isPlacedOrLeaving(event: ObjectEvent<Pod>): boolean {
  const { object } = event;
  if (event.type === 'delete') return false;
  if (event.type === 'add') return object.spec.nodeName !== undefined || isTerminating(object);
  return object.spec.nodeName !== event.old.spec.nodeName || isTerminating(object) !== isTerminating(event.old);
}

/** Only taint changes and node deletions are relevant. */
function isAboutPods(event: ObjectEvent<Node>): boolean {
  if (event.type !== 'update') return event.type === 'delete';
  return evictingTaints(event.old) !== evictingTaints(event.object);
}

function evictingTaints({ spec }: Node): string {
  let text = '';
  for (const { effect, key, value } of spec?.taints ?? []) if (effect === 'NoExecute') text += `${key}=${value ?? ''},`;
  return text;
}

/** Time at which a Pod must leave its node because of a taint; undefined when it may stay. */
function evictionTime(pod: Pod, node: Node): number | undefined {
  let earliest: number | undefined;
  for (const taint of node.spec?.taints ?? []) {
    if (taint.effect !== 'NoExecute') continue;
    const limit = shortest((pod.spec.tolerations ?? []).filter((toleration) => tolerates([toleration], taint)));
    if (limit === undefined) continue;
    const since = Date.parse(taint.timeAdded ?? '');
    const end = (Number.isNaN(since) ? 0 : since) + limit * 1_000;
    earliest = earliest === undefined ? end : Math.min(earliest, end);
  }
  return earliest;
}

/** Shortest toleration in seconds: undefined for unlimited, 0 without any toleration. */
function shortest(tolerations: readonly Toleration[]): number | undefined {
  if (tolerations.length === 0) return 0;
  const limits = tolerations.flatMap(({ tolerationSeconds }) =>
    tolerationSeconds === undefined ? [] : [tolerationSeconds],
  );
  return limits.length === 0 ? undefined : Math.max(0, Math.min(...limits));
}
