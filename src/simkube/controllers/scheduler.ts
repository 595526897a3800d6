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
import {
  type ControllerDefinition,
  defineController,
  done,
  type Watch,
  watchMapped,
  watchObjects,
} from '../../runtime/index.ts';

const fieldManager = 'kube-scheduler';
/** pods without a node are kept under this name, which no node can have */
const unplaced = '';
/** No object has such a name: a node concerns every Pod that waits. */
const everyPending = { namespace: '', name: '*' };

export interface SchedulerOptions {
  /** tells users by events what became of their Pods, a write for each; default false */
  readonly announces?: boolean;
  /**
   * what a Pod has to wait for whatever the nodes are like, such as a volume; undefined: nothing. Without a problem it is
   * on its way, and nothing is said.
   */
  readonly waitsFor?: (pod: Pod) => { readonly problem?: string } | undefined;
  /** when to look at such Pods again */
  readonly watches?: readonly Watch[];
  /** Pods placed at the same time; default 1 */
  readonly concurrency?: number;
}

/** Gives Pods to nodes: taints, selectors and affinity to nodes count; among those that fit, the emptiest is taken. */
export function schedulerController(options: SchedulerOptions = {}): ControllerDefinition {
  return defineController({
    name: 'scheduler',
    for: Pods as Resource<KubeObject>,
    ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
    watches: [
      watchObjects(Pods, { predicates: [({ object }) => isWaiting(object)] }),
      watchMapped(Nodes, () => [everyPending]),
      ...(options.watches ?? []),
    ],
    setup: indexPodsByNode,
    async reconcile({ client, cache, clock, events }, key) {
      const pods = cache.lister(Pods);
      const nodes = cache.lister(Nodes).list();
      const load = (name: string): number => pods.byIndex(podsByNode, name).length;
      const waiting = key.name === everyPending.name ? pods.byIndex(podsByNode, unplaced) : [pods.get(key)];
      const placed = new Map<string, number>();
      for (const pod of waiting) {
        if (!pod || !isWaiting(pod)) continue;
        const wait = options.waitsFor?.(pod);
        if (wait && wait.problem === undefined) continue;
        const choice = wait
          ? { problem: `0/${nodes.length} nodes are available: ${wait.problem}` }
          : choose(pod, nodes, (node) => load(node) + (placed.get(node) ?? 0));
        if ('problem' in choice) {
          const isNews = await sayUnschedulable(client, pod, choice.problem, clock.now());
          if (isNews && options.announces) events.event(pod, 'Warning', 'FailedScheduling', choice.problem);
          continue;
        }
        placed.set(choice.node, (placed.get(choice.node) ?? 0) + 1);
        const isBound = await bind(client, pod, choice.node);
        if (!isBound || !options.announces) continue;
        const { namespace, name } = pod.metadata;
        events.event(pod, 'Normal', 'Scheduled', `Successfully assigned ${namespace}/${name} to ${choice.node}`);
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

/** The node for a Pod, or why there is none. */
function choose(
  pod: Pod,
  nodes: readonly Node[],
  load: (name: string) => number,
): { readonly node: string } | { readonly problem: string } {
  const objections = new Map<string, number>();
  const fitting: string[] = [];
  for (const node of nodes) {
    const reason = objection(node, pod);
    if (reason === undefined) fitting.push(node.metadata.name!);
    else objections.set(reason, (objections.get(reason) ?? 0) + 1);
  }
  if (fitting.length === 0) return { problem: noNode(nodes.length, objections) };
  // Counting Pods is the dear part, and idle where there is nothing to choose.
  if (fitting.length === 1) return { node: fitting[0]! };
  let best = { node: '', load: Number.POSITIVE_INFINITY };
  for (const node of fitting) {
    const own = load(node);
    if (own < best.load) best = { node, load: own };
  }
  return { node: best.node };
}

function noNode(nodeCount: number, objections: ReadonlyMap<string, number>): string {
  if (nodeCount === 0) return 'no nodes available to schedule pods';
  const reasons = [...objections].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${nodeCount} nodes are available: ${reasons.join(', ')}. preemption: 0/${nodeCount} nodes are available: ${nodeCount} Preemption is not helpful for scheduling.`;
}

/** Answers whether the Pod is on the node now. */
async function bind(client: Client, pod: Pod, node: string): Promise<boolean> {
  const { namespace, name, uid } = pod.metadata;
  const binding = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: name!, namespace: namespace!, uid: uid! },
    target: { apiVersion: 'v1', kind: 'Node', name: node },
  };
  try {
    await client.createSubresource(Pods, { namespace: namespace!, name: name! }, 'binding', binding, { fieldManager });
    return true;
  } catch (error) {
    // Deleted or placed meanwhile: then there is nothing left to do.
    if (!isNotFound(error) && !isConflict(error)) throw error;
    return false;
  }
}

/** Answers whether that is news. */
async function sayUnschedulable(client: Client, pod: Pod, message: string, now: number): Promise<boolean> {
  const before = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (before?.status === 'False' && before.message === message) return false;
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
    return true;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return false;
  }
}
