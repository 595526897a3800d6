import { Leases, type Node, type NodeCondition, Nodes, type Pod, Pods, type Taint } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { indexPodsByNode, podsByNode } from '../../housekeeping/index.ts';
import { asJson, type Clock, deepEqual, formatTime, isNotFound, type JsonObject, must } from '../../machinery/index.ts';
import { after, type ControllerDefinition, defineController, done } from '../../runtime/index.ts';

const fieldManager = 'kube-controller-manager';
const graceMs = 40_000;

const notReady = 'node.kubernetes.io/not-ready';
const unreachable = 'node.kubernetes.io/unreachable';
const conditionTaints = [notReady, unreachable];

/** Last observed change of a node's lease, by the controller's clock. */
interface Seen {
  renewTime: string;
  at: number;
}

export interface NodeLifecycleHooks {
  /** called when a node is considered dead */
  declareDead(name: string): void;
}

/** Marks nodes without heartbeats as dead, and taints nodes by their conditions so that Pods avoid or leave them. */
export function nodeLifecycleController(hooks: NodeLifecycleHooks): ControllerDefinition {
  const seen = new Map<string, Seen>();
  return defineController({
    name: 'node-lifecycle',
    for: Nodes,
    setup: indexPodsByNode,
    async reconcile({ client, cache, clock }, { name }) {
      const node = cache.lister(Nodes).get({ name });
      if (!node || node.metadata.deletionTimestamp !== undefined) {
        seen.delete(name);
        return done();
      }
      const last = await look(client, node, clock, seen);
      const silentMs = clock.now() - last.at;
      const ready = readyCondition(node);
      if (silentMs >= graceMs && ready?.status !== 'Unknown') {
        hooks.declareDead(name);
        await markUnknown(client, node, clock.now());
        await markPodsNotReady(client, cache.lister(Pods).byIndex(podsByNode, name), clock.now());
        return done();
      }
      await setTaints(client, node, clock.now());
      // A dead node reports its return itself, so no requeue is needed.
      return ready?.status === 'Unknown' && silentMs >= graceMs
        ? done()
        : after(Math.max(graceMs - silentMs, 1_000), 'the next heartbeat');
    },
  });
}

function readyCondition(node: Node): NodeCondition | undefined {
  return node.status?.conditions?.find(({ type }) => type === 'Ready');
}

async function look(client: Client, node: Node, clock: Clock, seen: Map<string, Seen>): Promise<Seen> {
  const name = must(node.metadata.name, 'metadata.name');
  const lease = await client.get(Leases, { namespace: 'kube-node-lease', name }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  const renewTime = `${lease?.spec?.renewTime ?? ''} ${readyCondition(node)?.lastHeartbeatTime ?? ''}`;
  let last = seen.get(name);
  if (!last) {
    last = { renewTime, at: clock.now() };
    seen.set(name, last);
  } else if (last.renewTime !== renewTime) {
    last.renewTime = renewTime;
    last.at = lastRenewal(lease?.spec?.renewTime, clock.now());
  }
  return last;
}

/** Time of the last heartbeat. All clocks are equal in the simulation. */
function lastRenewal(renewTime: string | null | undefined, now: number): number {
  const time = Date.parse(renewTime ?? '');
  return Number.isNaN(time) ? now : Math.min(time, now);
}

async function markUnknown(client: Client, node: Node, now: number): Promise<void> {
  const time = formatTime(now);
  const conditions = (node.status?.conditions ?? []).map((condition) =>
    condition.status === 'Unknown'
      ? condition
      : {
          ...condition,
          status: 'Unknown',
          reason: 'NodeStatusUnknown',
          message: 'Kubelet stopped posting node status.',
          lastTransitionTime: time,
        },
  );
  await client.patch(
    Nodes,
    { name: must(node.metadata.name, 'metadata.name') },
    'merge',
    { status: { conditions: asJson(conditions) } },
    { fieldManager, subresource: 'status' },
  );
}

async function markPodsNotReady(client: Client, pods: readonly Pod[], now: number): Promise<void> {
  for (const pod of pods) {
    if (!pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')) continue;
    const condition: JsonObject = {
      type: 'Ready',
      status: 'False',
      reason: 'NodeNotReady',
      lastProbeTime: null,
      lastTransitionTime: formatTime(now),
    };
    const key = {
      namespace: must(pod.metadata.namespace, 'metadata.namespace'),
      name: must(pod.metadata.name, 'metadata.name'),
    };
    const patch = { status: { conditions: [condition] } };
    await client
      .patch(Pods, key, 'strategic', patch, { fieldManager, subresource: 'status' })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
  }
}

async function setTaints(client: Client, node: Node, now: number): Promise<void> {
  const present = node.spec?.taints ?? [];
  const status = readyCondition(node)?.status;
  const key = status === 'True' ? undefined : status === 'Unknown' ? unreachable : notReady;
  const kept = present.filter((taint) => !conditionTaints.includes(taint.key));
  const timeAdded = formatTime(now);
  const desired: Taint[] =
    key === undefined
      ? []
      : ['NoSchedule', 'NoExecute'].map(
          (effect) =>
            present.find((taint) => taint.key === key && taint.effect === effect) ?? { key, effect, timeAdded },
        );
  const taints = [...kept, ...desired];
  if (deepEqual(taints, present)) return;
  await client.patch(
    Nodes,
    { name: must(node.metadata.name, 'metadata.name') },
    'merge',
    {
      spec: { taints: taints.length === 0 ? null : asJson(taints) },
      metadata: { resourceVersion: must(node.metadata.resourceVersion, 'metadata.resourceVersion') },
    },
    { fieldManager },
  );
}
