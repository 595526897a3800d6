import type { Machine, MachineDeployment, MachineSet, Node } from '../../../api/index.ts';
import { asJson, createMergePatch, type JsonObject } from '../../../machinery/index.ts';
import {
  annotationsFromMachineAnnotation,
  controllerOf,
  interruptibleLabel,
  labelsFromMachineAnnotation,
  nodeClusterNameAnnotation,
  nodeClusterNamespaceAnnotation,
  nodeMachineAnnotation,
  nodeOwnerKindAnnotation,
  nodeOwnerNameAnnotation,
  outdatedRevisionTaint,
  revisionAnnotation,
  taintsFromMachineAnnotation,
  uninitializedTaint,
} from '../../shared/index.ts';

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];

export interface NodeSyncInput {
  node: Node;
  machine: Machine;
  machineSet: MachineSet | undefined;
  machineDeployment: MachineDeployment | undefined;
  interruptible: boolean;
  additionalLabels?: readonly RegExp[];
  additionalAnnotations?: readonly RegExp[];
}

const nodeRoleDomain = 'node-role.kubernetes.io';
const labelDomains = ['node-restriction.kubernetes.io', 'node.cluster.x-k8s.io'];
const annotationDomains = ['node.cluster.x-k8s.io'];
const common = [
  nodeClusterNameAnnotation,
  nodeClusterNamespaceAnnotation,
  nodeMachineAnnotation,
  nodeOwnerKindAnnotation,
  nodeOwnerNameAnnotation,
];

/** Builds the merge patch that syncs a Node from its Machine; undefined if nothing differs. */
export function nodePatch(input: NodeSyncInput): JsonObject | undefined {
  const { node } = input;
  const labels = desiredLabels(input);
  const annotations = desiredAnnotations(input);
  const taints = desiredTaints(input);
  const oldLabels = node.metadata.labels ?? {};
  const oldAnnotations = node.metadata.annotations ?? {};

  const nextLabels = { ...oldLabels, ...labels };
  for (const key of listed(oldAnnotations[labelsFromMachineAnnotation])) if (!(key in labels)) delete nextLabels[key];
  const nextAnnotations: Record<string, string> = { ...oldAnnotations };
  for (const key of [...listed(oldAnnotations[annotationsFromMachineAnnotation]), ...common]) {
    if (!(key in annotations)) delete nextAnnotations[key];
  }
  Object.assign(nextAnnotations, annotations, {
    [labelsFromMachineAnnotation]: Object.keys(labels).sort().join(','),
    [annotationsFromMachineAnnotation]: Object.keys(annotations)
      .filter((key) => !common.includes(key))
      .sort()
      .join(','),
    [taintsFromMachineAnnotation]: taints.owned.join(','),
  });
  const from: JsonObject = { metadata: { labels: oldLabels, annotations: oldAnnotations } };
  const to: JsonObject = { metadata: { labels: nextLabels, annotations: nextAnnotations } };
  const oldTaints = node.spec?.taints ?? [];
  if (taints.list !== oldTaints) {
    from['spec'] = { taints: asJson(oldTaints) };
    to['spec'] = { taints: asJson(taints.list) };
  }
  return createMergePatch(from, to);
}

const listed = (text: string | undefined): string[] => (text === undefined || text === '' ? [] : text.split(','));

const within = (domain: string, domains: readonly string[]): boolean =>
  domains.some((known) => domain === known || domain.endsWith(`.${known}`));

function desiredLabels({ machine, interruptible, additionalLabels = [] }: NodeSyncInput): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [key, value] of Object.entries(machine.metadata.labels ?? {})) {
    const [domain = ''] = key.split('/');
    if (
      domain === nodeRoleDomain ||
      within(domain, labelDomains) ||
      additionalLabels.some((known) => known.test(key))
    ) {
      labels[key] = value;
    }
  }
  if (interruptible) labels[interruptibleLabel] = '';
  return labels;
}

function desiredAnnotations({ machine, additionalAnnotations = [] }: NodeSyncInput): Record<string, string> {
  const annotations: Record<string, string> = {
    [nodeClusterNameAnnotation]: machine.spec.clusterName,
    [nodeClusterNamespaceAnnotation]: machine.metadata.namespace ?? '',
    [nodeMachineAnnotation]: machine.metadata.name ?? '',
  };
  const owner = controllerOf(machine);
  if (owner) {
    annotations[nodeOwnerKindAnnotation] = owner.kind;
    annotations[nodeOwnerNameAnnotation] = owner.name;
  }
  for (const [key, value] of Object.entries(machine.metadata.annotations ?? {})) {
    const [domain = ''] = key.split('/');
    if (within(domain, annotationDomains) || additionalAnnotations.some((known) => known.test(key))) {
      annotations[key] = value;
    }
  }
  return annotations;
}

const taintId = ({ key, effect }: { key: string; effect: string }): string => `${key}:${effect}`;

/**
 * Merges the Machine's taints into those of the Node. Taints with propagation Always are tracked in an annotation, so
 * that their removal from the Machine removes them from the Node. Taints with propagation OnInitialization are added
 * once.
 */
function desiredTaints(input: NodeSyncInput): { list: readonly Taint[]; owned: string[] } {
  const { node, machine } = input;
  const before = node.spec?.taints ?? [];
  const tracked = node.metadata.annotations?.[taintsFromMachineAnnotation];
  let list: readonly Taint[] = without(before, (taint) => taint.key === uninitializedTaint);
  const owned: string[] = [];
  const atBeginning = new Set<string>();
  for (const { key, value, effect, propagation } of machine.spec.taints ?? []) {
    if (propagation === 'Always') owned.push(taintId({ key, effect }));
    else {
      atBeginning.add(taintId({ key, effect }));
      if (tracked !== undefined) continue;
    }
    list = ensured(list, { key, ...(value !== undefined && { value }), effect });
  }
  for (const id of listed(tracked)) {
    if (!owned.includes(id) && !atBeginning.has(id)) list = without(list, (taint) => taintId(taint) === id);
  }
  list = isOutdated(input)
    ? ensured(list, { key: outdatedRevisionTaint, effect: 'PreferNoSchedule' })
    : without(list, (taint) => taint.key === outdatedRevisionTaint);
  return { list, owned: owned.sort() };
}

function without(list: readonly Taint[], unwanted: (taint: Taint) => boolean): readonly Taint[] {
  return list.some(unwanted) ? list.filter((taint) => !unwanted(taint)) : list;
}

function ensured(list: readonly Taint[], wanted: Taint): readonly Taint[] {
  const index = list.findIndex((taint) => taintId(taint) === taintId(wanted));
  if (index < 0) return [...list, wanted];
  if ((list[index]?.value ?? '') === (wanted.value ?? '')) return list;
  const copy = [...list];
  copy[index] = wanted;
  return copy;
}

/** Tells whether the Node belongs to an old revision; the scheduler should prefer other Nodes. */
function isOutdated({ machineSet, machineDeployment }: NodeSyncInput): boolean {
  if (!machineSet || !machineDeployment) return false;
  const revision = (object: { metadata: { annotations?: Record<string, string> } }): number =>
    Number(object.metadata.annotations?.[revisionAnnotation] ?? 0);
  return revision(machineSet) < revision(machineDeployment);
}
