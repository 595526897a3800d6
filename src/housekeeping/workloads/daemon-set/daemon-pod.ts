import type { DaemonSet, Node, Pod, Toleration } from '../../../api/index.ts';
import { revisionHashLabel } from '../common/names.ts';
import { boundNode, matchesSelection, untoleratedTaint } from '../common/placement.ts';
import { podFromTemplate } from '../common/pods.ts';

const generationLabel = 'pod-template-generation';
const generationAnnotation = 'deprecated.daemonset.template.generation';

/** tolerations of every DaemonSet Pod */
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

export function tolerationsOf({ spec }: DaemonSet): Toleration[] {
  const pod = spec.template?.spec;
  const all = [...(pod?.tolerations ?? []), ...daemonTolerations, ...(pod?.hostNetwork ? hostTolerations : [])];
  const isSame = (a: Toleration, b: Toleration): boolean =>
    a.key === b.key && a.operator === b.operator && a.effect === b.effect && a.value === b.value;
  return all.filter((toleration, index) => all.findIndex((other) => isSame(other, toleration)) === index);
}

/** Decides whether a Pod of the set should run on a node, and whether an existing one may stay. */
export function placeOn(
  set: DaemonSet,
  node: Node,
  tolerations: readonly Toleration[],
): { readonly isWanted: boolean; readonly mayStay: boolean } {
  const spec = set.spec.template?.spec;
  if (!spec || !matchesSelection(node, spec) || (spec.nodeName && spec.nodeName !== node.metadata.name)) {
    return { isWanted: false, mayStay: false };
  }
  return {
    isWanted: untoleratedTaint(node, tolerations, ['NoSchedule', 'NoExecute']) === undefined,
    mayStay: untoleratedTaint(node, tolerations, ['NoExecute']) === undefined,
  };
}

/** Node a Pod is meant for, even before it is scheduled. */
export function nodeOf(pod: Pod): string {
  return pod.spec.nodeName ?? boundNode(pod.spec) ?? '';
}

export function isUpdated(pod: Pod, hash: string): boolean {
  return pod.metadata.labels?.[revisionHashLabel] === hash;
}

/** Builds the Pod of the set for one node. */
export function daemonPod(set: DaemonSet, nodeName: string, hash: string, tolerations: readonly Toleration[]): Pod {
  const pod = podFromTemplate(set, set.spec.template ?? {}, {
    generateName: `${set.metadata.name}-`,
    labels: {
      [revisionHashLabel]: hash,
      [generationLabel]: set.metadata.annotations?.[generationAnnotation] ?? '1',
    },
  });
  pod.spec.tolerations = [...tolerations];
  pod.spec.affinity = withNode(pod.spec.affinity, nodeName);
  return pod;
}

type Affinity = NonNullable<Pod['spec']['affinity']>;

/** Replaces other node requirements: they were checked when the node was chosen. */
function withNode(affinity: Affinity | undefined, nodeName: string): Affinity {
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeName] }] }],
      },
    },
  };
}
