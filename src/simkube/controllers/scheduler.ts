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
/** Index key for Pods without a node; not a valid node name. */
const unplaced = '';
/** Not a valid object name: a node change affects every pending Pod. */
const everyPending = { namespace: '', name: '*' };

export interface SchedulerOptions {
  /**
   * records an event with the chosen node of each Pod, which costs a write; default false. Failures are always
   * recorded.
   */
  readonly announces?: boolean;
  /**
   * blocks a Pod regardless of nodes, for example until its volume exists; undefined if nothing blocks it. Without a
   * `problem` nothing is reported, because it is in progress.
   */
  readonly waitsFor?: (pod: Pod) => { readonly problem?: string } | undefined;
  /** events after which such Pods are checked again */
  readonly watches?: readonly Watch[];
  /** maximum concurrent scheduling of Pods; default 1 */
  readonly concurrency?: number;
}

/**
 * Assigns Pods to nodes. Considers taints, selectors, node affinity, host ports and requests, and chooses the emptiest
 * node that fits. If none fits, it preempts Pods of lower priority.
 */
export function schedulerController(options: SchedulerOptions = {}): ControllerDefinition {
  /** Pods assigned to a node before the cache shows it, by uid */
  const assumed = new Map<string, { readonly pod: Pod; readonly node: string }>();
  /** nodes nominated for preempting Pods, by Pod uid, until the status shows it */
  const nominations = new Map<string, string>();
  /** uids of Pods being scheduled: each Pod is reachable by its own key and by the key of all */
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
      // Higher priority goes first.
      const inOrder = waiting.filter((pod) => pod !== undefined && isWaiting(pod)) as Pod[];
      inOrder.sort((a, b) => priorityOf(b) - priorityOf(a));
      /** Failure messages by owner: the same message applies to all Pods of its template. */
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

/** Key of Pods from one template, which have equal requirements and results. */
function familyOf({ metadata, spec }: Pod): string | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  const isAlike = owner?.kind === 'ReplicaSet' || owner?.kind === 'ReplicationController' || owner?.kind === 'Job';
  return isAlike ? `${owner.uid} ${spec.priority ?? 0}` : undefined;
}

/** Returns the reason why the Pod could not be handled; undefined on success. */
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

/** Drops assumptions that the cache now shows, or whose Pod is gone. */
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

/** Reports whether the event frees room for other Pods. */
function makesRoom(event: ObjectEvent<Pod>): boolean {
  if (event.object.spec.nodeName === undefined) return false;
  if (event.type === 'delete') return true;
  return event.type === 'update' && isOver(event.object) && !isOver(event.old);
}

interface Preempted {
  readonly message: string;
  /** node nominated for the Pod; empty for none */
  readonly nominated: string;
}

/** Preempts Pods of lower priority where that helps, and returns the result as text. */
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
  // It was already deleted, for example by an earlier preemption.
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

/** Returns whether the Pod is now bound to the node. */
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
    // The Pod was deleted or bound in the meantime.
    if (!isNotFound(error) && !isConflict(error)) throw error;
    return false;
  }
}

/** Records in the status and an event why no node fits, if the reason is new. */
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
