import { type DaemonSet, DaemonSets, type Node, Nodes, type Pod, Pods, type Toleration } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { clone, deepEqual, type JsonObject, type KubeObject, type Resource } from '../../machinery/index.ts';
import {
  type ControllerDefinition,
  defineController,
  done,
  watchMapped,
  watchObjects,
  watchOwned,
} from '../../runtime/index.ts';
import { boundNode, isActive, isFinished, isPodReady, matchesSelection, untoleratedTaint } from './placement.ts';
import { createPod, deletePod, indexPodsByOwner, ownedPods, podFromTemplate, templateHash } from './pods.ts';

const fieldManager = 'kube-controller-manager';
const hashLabel = 'controller-revision-hash';

/** what every Pod of a DaemonSet puts up with */
const daemonTolerations: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];
const hostTolerations: readonly Toleration[] = [
  { key: 'node.kubernetes.io/network-unavailable', operator: 'Exists', effect: 'NoSchedule' },
];

/** Keeps one Pod of a DaemonSet on every node that fits. */
export function daemonSetController(): ControllerDefinition {
  return defineController({
    name: 'daemonset',
    for: DaemonSets as Resource<KubeObject>,
    watches: [
      watchObjects(DaemonSets),
      watchOwned(Pods, DaemonSets),
      watchMapped(Nodes, () => [everySet], { predicates: [nodeMatters] }),
    ],
    setup: indexPodsByOwner,
    async reconcile({ client, cache }, key) {
      const sets = cache.lister(DaemonSets);
      if (key.name === everySet.name) {
        for (const set of sets.list()) await reconcileSet(client, set, cache.lister(Nodes).list(), cache.lister(Pods));
        return done();
      }
      const set = sets.get(key);
      if (set) await reconcileSet(client, set, cache.lister(Nodes).list(), cache.lister(Pods));
      return done();
    },
  });
}

/** No object has such a name: a node concerns all DaemonSets at once. */
const everySet = { namespace: '', name: '*' };

/** Heartbeats change nothing about which Pods belong on a node. */
function nodeMatters(event: { type: string; object: Node; old?: Node }): boolean {
  if (event.type !== 'update' || !event.old) return true;
  const { old, object } = event;
  return (
    !deepEqual((old.metadata.labels ?? {}) as JsonObject, (object.metadata.labels ?? {}) as JsonObject) ||
    !deepEqual(
      (old.spec?.taints ?? []) as unknown as JsonObject[],
      (object.spec?.taints ?? []) as unknown as JsonObject[],
    )
  );
}

async function reconcileSet(
  client: Client,
  set: DaemonSet,
  nodes: readonly Node[],
  lister: Parameters<typeof ownedPods>[0],
): Promise<void> {
  if (set.metadata.deletionTimestamp !== undefined) return;
  const pods = ownedPods(lister, set);
  const template = set.spec.template ?? {};
  const hash = templateHash(template);
  const tolerations = [
    ...(template.spec?.tolerations ?? []),
    ...daemonTolerations,
    ...(template.spec?.hostNetwork ? hostTolerations : []),
  ];
  const wanted = nodes.filter(
    (node) =>
      template.spec !== undefined &&
      matchesSelection(node, template.spec) &&
      untoleratedTaint(node, tolerations, ['NoSchedule', 'NoExecute']) === undefined,
  );
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods) {
    const name = nodeOf(pod);
    byNode.set(name, [...(byNode.get(name) ?? []), pod]);
  }
  for (const node of wanted) {
    const name = node.metadata.name!;
    const present = byNode.get(name) ?? [];
    byNode.delete(name);
    for (const pod of present) if (isFinished(pod)) await deletePod(client, pod);
    if (!present.some((pod) => !isFinished(pod))) await createFor(client, set, name, hash, tolerations);
  }
  for (const misplaced of byNode.values()) {
    for (const pod of misplaced) if (isActive(pod)) await deletePod(client, pod);
  }
  const own = pods.filter(isActive).filter((pod) => wanted.some(({ metadata }) => metadata.name === nodeOf(pod)));
  await replaceOutdated(client, set, own, hash);
  await writeStatus(client, set, wanted.length, own, hash);
}

/** The node a Pod is for, also before it was given to it. */
function nodeOf(pod: Pod): string {
  return pod.spec.nodeName ?? boundNode(pod.spec) ?? '';
}

async function createFor(
  client: Client,
  set: DaemonSet,
  nodeName: string,
  hash: string,
  tolerations: readonly Toleration[],
): Promise<void> {
  const identity = {
    generateName: `${set.metadata.name}-`,
    labels: { [hashLabel]: hash, 'pod-template-generation': '1' },
  };
  const pod = podFromTemplate(set, set.spec.template ?? {}, identity);
  pod.spec = {
    ...clone(pod.spec),
    tolerations: [...tolerations],
    affinity: {
      ...pod.spec.affinity,
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeName] }] }],
        },
      },
    },
  };
  await createPod(client, pod, fieldManager);
}

/** A new template reaches the nodes one by one. */
async function replaceOutdated(client: Client, set: DaemonSet, pods: readonly Pod[], hash: string): Promise<void> {
  if (set.spec.updateStrategy?.type === 'OnDelete') return;
  const outdated = pods.filter((pod) => pod.metadata.labels?.[hashLabel] !== hash);
  if (outdated.length === 0) return;
  const broken = outdated.find((pod) => !isPodReady(pod));
  if (broken) await deletePod(client, broken);
  else if (pods.every(isPodReady)) await deletePod(client, outdated[0]!);
}

async function writeStatus(
  client: Client,
  set: DaemonSet,
  desired: number,
  pods: readonly Pod[],
  hash: string,
): Promise<void> {
  const ready = pods.filter(isPodReady).length;
  const updated = pods.filter((pod) => pod.metadata.labels?.[hashLabel] === hash).length;
  const status: NonNullable<DaemonSet['status']> = {
    currentNumberScheduled: pods.length,
    numberMisscheduled: 0,
    desiredNumberScheduled: desired,
    numberReady: ready,
    observedGeneration: set.metadata.generation ?? 1,
    updatedNumberScheduled: updated,
    numberAvailable: ready,
    numberUnavailable: desired - ready,
  };
  const { conditions: _conditions, ...before } = set.status ?? {};
  if (deepEqual(status as JsonObject, before as JsonObject)) return;
  const key = { namespace: set.metadata.namespace!, name: set.metadata.name! };
  await client.patch(
    DaemonSets,
    key,
    'merge',
    { status: status as JsonObject },
    { fieldManager, subresource: 'status' },
  );
}
