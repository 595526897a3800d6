import { type Node, Nodes, type Pod, type PodDisruptionBudget, PodDisruptionBudgets, Pods } from '../../api/index.ts';
import { type Client, type Lister, objectKey } from '../../client/index.ts';
import { indexPodsByNode, podsByNode } from '../../housekeeping/index.ts';
import { formatTime, ignoreNotFound, isConflict, isNotFound, type JsonObject, must } from '../../machinery/index.ts';
import {
  type ControllerDefinition,
  defineController,
  done,
  type ObjectEvent,
  type ReconcileContext,
  type Watch,
  watchMapped,
  watchObjects,
} from '../../runtime/index.ts';
import { isOver } from './scheduling/node-room.ts';
import { describeFailure, describeVain, type Objection, type Occupancy, placePod } from './scheduling/placing.ts';
import { leastHarm, priorityOf, victimsOn } from './scheduling/preemption.ts';

const fieldManager = 'kube-scheduler';
/** pods without a node are kept under this name, which no node can have */
const unplaced = '';
/** No object has such a name: a node concerns every Pod that waits. */
const everyPending = { namespace: '', name: '*' };

export interface SchedulerOptions {
  /** tells users by events which node their Pods were given, a write for each; default false. Failures are always told. */
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

/**
 * Gives Pods to nodes: taints, selectors, affinity to nodes, ports of the host and requests count; among those that fit, the
 * emptiest is taken. Where nothing fits, Pods of lower priority make room.
 */
export function schedulerController(options: SchedulerOptions = {}): ControllerDefinition {
  /** Pods given to a node that the cache does not show there yet, by their uids */
  const assumed = new Map<string, { readonly pod: Pod; readonly node: string }>();
  /** nodes that others make room on, by the uids of the Pods it is for; in the status only a moment later */
  const nominations = new Map<string, string>();
  /** uids of Pods somebody is at: each is looked at under its own key and under that of all */
  const busy = new Set<string>();
  let budgets: Lister<PodDisruptionBudget> | undefined;
  return defineController({
    name: 'scheduler',
    for: Pods,
    ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
    watches: [
      watchObjects(Pods, { predicates: [({ object }) => isWaiting(object)] }),
      watchMapped(Pods, () => [everyPending], { predicates: [makesRoom] }),
      watchMapped(Nodes, () => [everyPending]),
      ...(options.watches ?? []),
    ],
    setup(cache) {
      indexPodsByNode(cache);
      budgets = cache.informer(PodDisruptionBudgets).lister;
    },
    async reconcile(context, key) {
      const pods = context.cache.lister(Pods);
      const waiting = key.name === everyPending.name ? pods.byIndex(podsByNode, unplaced) : [pods.get(key)];
      // Who matters more chooses first.
      const inOrder = waiting.filter((pod) => pod !== undefined && isWaiting(pod)) as Pod[];
      inOrder.sort((a, b) => priorityOf(b) - priorityOf(a));
      /** what was said of a Pod for which nothing could be done, by its owner: of a thousand others alike it is said again */
      const vain = new Map<string, string>();
      for (const pod of inOrder) {
        const own = must(pod.metadata.uid, 'metadata.uid');
        if (assumed.has(own) || busy.has(own)) continue;
        busy.add(own);
        const family = familyOf(pod);
        try {
          const isOpen = family !== undefined && !nominations.has(own) && !pod.status?.nominatedNodeName;
          const known = isOpen && !options.waitsFor?.(pod) ? vain.get(family) : undefined;
          if (known !== undefined) await fail(context, pod, known);
          else {
            const around = { pods, budgets: must(budgets, 'budgets'), assumed, nominations, options };
            const problem = await schedule(context, pod, around);
            if (problem === undefined) vain.clear();
            else if (family !== undefined) vain.set(family, problem);
          }
        } finally {
          busy.delete(own);
        }
      }
      return done();
    },
  });
}

interface Surroundings {
  readonly pods: Lister<Pod>;
  readonly budgets: Lister<PodDisruptionBudget>;
  readonly assumed: Map<string, { readonly pod: Pod; readonly node: string }>;
  readonly nominations: Map<string, string>;
  readonly options: SchedulerOptions;
}

/** Pods of one template want the same, and fare the same. */
function familyOf({ metadata, spec }: Pod): string | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  const isAlike = owner?.kind === 'ReplicaSet' || owner?.kind === 'ReplicationController' || owner?.kind === 'Job';
  return isAlike ? `${owner.uid} ${spec.priority ?? 0}` : undefined;
}

/** Answers why nothing could be done for the Pod; undefined: something was. */
async function schedule(context: ReconcileContext, pod: Pod, around: Surroundings): Promise<string | undefined> {
  const { client, cache, events } = context;
  const { options, assumed } = around;
  const nodes = cache.lister(Nodes).list();
  const wait = options.waitsFor?.(pod);
  if (wait) {
    if (wait.problem !== undefined) {
      await fail(context, pod, `0/${nodes.length} nodes are available: ${wait.problem}`);
    }
    return undefined;
  }
  forgetShown(around);
  const occupancy = occupancyOf(around);
  const placing = placePod(pod, nodes, occupancy);
  if (!('node' in placing)) {
    const { objections, nodeCount } = placing;
    const outcome = await preempt(context, pod, objections, occupancy, around);
    const problem = describeFailure(objections, nodeCount, outcome.message);
    await fail(context, pod, problem, outcome.nominated);
    return outcome.nominated === '' ? problem : undefined;
  }
  const key = must(pod.metadata.uid, 'metadata.uid');
  around.nominations.delete(key);
  assumed.set(key, { pod, node: placing.node });
  const isBound = await bind(client, pod, placing.node).catch((error: unknown) => {
    assumed.delete(key);
    throw error;
  });
  if (!isBound) assumed.delete(key);
  else if (options.announces) {
    const { namespace, name } = pod.metadata;
    events.event(pod, 'Normal', 'Scheduled', `Successfully assigned ${namespace}/${name} to ${placing.node}`);
  }
  return undefined;
}

/** What the cache shows on its node, or does not show at all any more, need not be remembered. */
function forgetShown({ assumed, nominations, pods }: Surroundings): void {
  for (const [uid, { pod }] of assumed) {
    const shown = pods.get(objectKey(pod));
    if (shown?.metadata.uid !== uid || shown.spec.nodeName !== undefined) assumed.delete(uid);
  }
  if (nominations.size === 0) return;
  const waiting = new Set(pods.byIndex(podsByNode, unplaced).map(({ metadata }) => metadata.uid));
  for (const uid of nominations.keys()) if (!waiting.has(uid)) nominations.delete(uid);
}

function occupancyOf({ pods, assumed, nominations }: Surroundings): Occupancy {
  const assumedOn = (node: string): Pod[] =>
    [...assumed.values()].filter((one) => one.node === node).map(({ pod }) => pod);
  return {
    count: (node) => pods.countByIndex(podsByNode, node) + assumedOn(node).length,
    beside: (node, pod) => [
      ...pods.byIndex(podsByNode, node),
      ...assumedOn(node),
      ...pods
        .byIndex(podsByNode, unplaced)
        .filter(
          (other) =>
            (nominations.get(must(other.metadata.uid, 'metadata.uid')) ?? other.status?.nominatedNodeName) === node &&
            other.metadata.uid !== pod.metadata.uid &&
            priorityOf(other) >= priorityOf(pod) &&
            isWaiting(other),
        ),
    ],
  };
}

function isWaiting({ spec, metadata, status }: Pod): boolean {
  return (
    spec.nodeName === undefined &&
    metadata.deletionTimestamp === undefined &&
    status?.phase !== 'Failed' &&
    status?.phase !== 'Succeeded' &&
    (spec.schedulerName ?? 'default-scheduler') === 'default-scheduler' &&
    (spec.schedulingGates?.length ?? 0) === 0
  );
}

/** Whether others may fit now where this Pod was. */
function makesRoom(event: ObjectEvent<Pod>): boolean {
  if (event.object.spec.nodeName === undefined) return false;
  if (event.type === 'delete') return true;
  return event.type === 'update' && isOver(event.object) && !isOver(event.old);
}

interface Preempted {
  readonly message: string;
  /** the node that is kept free for the Pod; empty: none */
  readonly nominated: string;
}

/** Takes Pods of lower priority away where that makes room, and says what came of it. */
async function preempt(
  context: ReconcileContext,
  pod: Pod,
  objections: ReadonlyMap<Node, Objection>,
  occupancy: Occupancy,
  { pods, budgets, nominations }: Surroundings,
): Promise<Preempted> {
  const uid = must(pod.metadata.uid, 'metadata.uid');
  const nominated = nominations.get(uid) ?? pod.status?.nominatedNodeName ?? '';
  nominations.delete(uid);
  if (pod.spec.preemptionPolicy === 'Never') {
    return { message: 'not eligible due to preemptionPolicy=Never.', nominated: '' };
  }
  const isGoing = (other: Pod): boolean =>
    other.metadata.deletionTimestamp !== undefined && priorityOf(other) < priorityOf(pod);
  if (nominated !== '' && pods.byIndex(podsByNode, nominated).some(isGoing)) {
    return { message: 'not eligible due to a terminating pod on the nominated node.', nominated };
  }
  const candidates = [...objections]
    .filter(([, { isCrowded }]) => isCrowded)
    .map(([node]) =>
      victimsOn(
        node,
        pod,
        occupancy.beside(must(node.metadata.name, 'metadata.name'), pod).filter(isThere),
        budgets.list(),
      ),
    );
  const chosen = leastHarm(candidates.filter((victims) => victims !== undefined));
  if (!chosen) return { message: describeVain(objections, objections.size), nominated: '' };
  nominations.set(uid, chosen.node);
  for (const victim of chosen.pods) await evict(context, victim, pod, chosen.node);
  return { message: describeVain(objections, objections.size), nominated: chosen.node };
}

function isThere(pod: Pod): boolean {
  return !isOver(pod);
}

async function evict({ client, events, clock }: ReconcileContext, victim: Pod, pod: Pod, node: string): Promise<void> {
  // One that goes already has made room before.
  if (victim.metadata.deletionTimestamp !== undefined) return;
  const key = objectKey(victim);
  const condition: JsonObject = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'PreemptionByScheduler',
    message: 'default-scheduler: preempting to accommodate a higher priority pod',
    observedGeneration: victim.metadata.generation ?? 1,
    lastTransitionTime: formatTime(clock.now()),
  };
  const patch = { metadata: { uid: must(victim.metadata.uid, 'metadata.uid') }, status: { conditions: [condition] } };
  await client.patch(Pods, key, 'strategic', patch, { fieldManager, subresource: 'status' }).catch(ignoreNotFound);
  await client
    .delete(Pods, key, { preconditions: { uid: must(victim.metadata.uid, 'metadata.uid') } })
    .catch((error: unknown) => {
      if (!isConflict(error)) ignoreNotFound(error);
    });
  events.event(victim, 'Normal', 'Preempted', `Preempted by pod ${pod.metadata.uid} on node ${node}`);
}

/** Answers whether the Pod is on the node now. */
async function bind(client: Client, pod: Pod, node: string): Promise<boolean> {
  const { namespace, name, uid } = pod.metadata;
  const binding = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: must(name, 'name'), namespace: must(namespace, 'namespace'), uid: must(uid, 'uid') },
    target: { apiVersion: 'v1', kind: 'Node', name: node },
  };
  try {
    await client.createSubresource(
      Pods,
      { namespace: must(namespace, 'namespace'), name: must(name, 'name') },
      'binding',
      binding,
      { fieldManager },
    );
    return true;
  } catch (error) {
    // Deleted or placed meanwhile: then there is nothing left to do.
    if (!isNotFound(error) && !isConflict(error)) throw error;
    return false;
  }
}

/** Says in the status and by an event why there is no node, when that is news. */
async function fail(
  { client, clock, events }: ReconcileContext,
  pod: Pod,
  message: string,
  nominated = '',
): Promise<void> {
  const before = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const isNews = before?.status !== 'False' || before.reason !== 'Unschedulable' || before.message !== message;
  if (!isNews && (pod.status?.nominatedNodeName ?? '') === nominated) return;
  const condition: JsonObject = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message,
    observedGeneration: pod.metadata.generation ?? 1,
    lastProbeTime: null,
    lastTransitionTime: before?.status === 'False' ? (before.lastTransitionTime ?? null) : formatTime(clock.now()),
  };
  const status: JsonObject = { phase: 'Pending', conditions: [condition], nominatedNodeName: nominated || null };
  try {
    await client.patch(Pods, objectKey(pod), 'strategic', { status }, { fieldManager, subresource: 'status' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return;
  }
  if (isNews) events.event(pod, 'Warning', 'FailedScheduling', message);
}
