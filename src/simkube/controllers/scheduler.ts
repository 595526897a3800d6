import { type Node, Nodes, type Pod, Pods } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import {
  indexPodsByNode,
  matchesSelection,
  podsByNode,
  tolerates,
  untoleratedTaint,
} from '../../housekeeping/index.ts';
import {
  formatTime,
  isConflict,
  isNotFound,
  type JsonObject,
  type KubeObject,
  type Resource,
} from '../../machinery/index.ts';
import { type ControllerDefinition, defineController, done, watchMapped, watchObjects } from '../../runtime/index.ts';

const fieldManager = 'kube-scheduler';
/** pods without a node are kept under this name, which no node can have */
const unplaced = '';
/** No object has such a name: a node concerns every Pod that waits. */
const everyPending = { namespace: '', name: '*' };

/** Gives Pods to nodes: taints, selectors and affinity to nodes count; among those that fit, the emptiest is taken. */
export function schedulerController(): ControllerDefinition {
  return defineController({
    name: 'scheduler',
    for: Pods as Resource<KubeObject>,
    watches: [
      watchObjects(Pods, { predicates: [({ object }) => isWaiting(object)] }),
      watchMapped(Nodes, () => [everyPending]),
    ],
    setup: indexPodsByNode,
    async reconcile({ client, cache, clock }, key) {
      const pods = cache.lister(Pods);
      const nodes = cache.lister(Nodes).list();
      const load = (name: string): number => pods.byIndex(podsByNode, name).length;
      const waiting = key.name === everyPending.name ? pods.byIndex(podsByNode, unplaced) : [pods.get(key)];
      const placed = new Map<string, number>();
      for (const pod of waiting) {
        if (!pod || !isWaiting(pod)) continue;
        const name = await place(client, pod, nodes, (node) => load(node) + (placed.get(node) ?? 0), clock.now());
        if (name !== undefined) placed.set(name, (placed.get(name) ?? 0) + 1);
      }
      return done();
    },
  });
}

function isWaiting({ spec, metadata }: Pod): boolean {
  return (
    spec.nodeName === undefined &&
    metadata.deletionTimestamp === undefined &&
    (spec.schedulerName ?? 'default-scheduler') === 'default-scheduler' &&
    (spec.schedulingGates?.length ?? 0) === 0
  );
}

const unschedulable = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** Why a node is not for a Pod, in the words the scheduler sums up; undefined when it is. */
function objection(node: Node, pod: Pod): string | undefined {
  if (node.spec?.unschedulable && !tolerates(pod.spec.tolerations, unschedulable)) {
    return 'node(s) were unschedulable';
  }
  if (!matchesSelection(node, pod.spec)) return "node(s) didn't match Pod's node affinity/selector";
  const taint = untoleratedTaint(node, pod.spec.tolerations, ['NoSchedule', 'NoExecute']);
  return taint && `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`;
}

async function place(
  client: Client,
  pod: Pod,
  nodes: readonly Node[],
  load: (name: string) => number,
  now: number,
): Promise<string | undefined> {
  const objections = new Map<string, number>();
  let best: { name: string; load: number } | undefined;
  for (const node of nodes) {
    const name = node.metadata.name!;
    const reason = objection(node, pod);
    if (reason !== undefined) objections.set(reason, (objections.get(reason) ?? 0) + 1);
    else if (!best || load(name) < best.load) best = { name, load: load(name) };
  }
  if (!best) {
    await sayUnschedulable(client, pod, nodes.length, objections, now);
    return undefined;
  }
  const { namespace, name, uid } = pod.metadata;
  const binding = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: name!, namespace: namespace!, uid: uid! },
    target: { apiVersion: 'v1', kind: 'Node', name: best.name },
  };
  try {
    await client.createSubresource(Pods, { namespace: namespace!, name: name! }, 'binding', binding, { fieldManager });
  } catch (error) {
    // Deleted or placed meanwhile: then there is nothing left to do.
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
  return best.name;
}

async function sayUnschedulable(
  client: Client,
  pod: Pod,
  nodeCount: number,
  objections: ReadonlyMap<string, number>,
  now: number,
): Promise<void> {
  const reasons = [...objections].map(([reason, count]) => `${count} ${reason}`).sort();
  const message =
    nodeCount === 0
      ? 'no nodes available to schedule pods'
      : `0/${nodeCount} nodes are available: ${reasons.join(', ')}. preemption: 0/${nodeCount} nodes are available: ${nodeCount} Preemption is not helpful for scheduling.`;
  const before = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (before?.status === 'False' && before.message === message) return;
  const condition: JsonObject = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message,
    lastProbeTime: null,
    lastTransitionTime: before?.lastTransitionTime ?? formatTime(now),
  };
  const key = { namespace: pod.metadata.namespace!, name: pod.metadata.name! };
  try {
    await client.patch(
      Pods,
      key,
      'strategic',
      { status: { phase: 'Pending', conditions: [condition] } },
      { fieldManager, subresource: 'status' },
    );
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
