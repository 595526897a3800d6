import type { ClusterClass, ConditionGate, MachineTaint, NodeDeletion, Topology } from '../../../api/index.ts';
import {
  asJson,
  formatDuration,
  type JsonValue,
  parseApiVersion,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import { at, type ContractVersion } from '../../shared/index.ts';
import { textsAt } from './from-template.ts';
import { type FieldPath, withField } from './json-path.ts';

type Texts = Record<string, string>;

const machinesPath: FieldPath = ['spec', 'machineTemplate'];
const metadataPath: FieldPath = [...machinesPath, 'metadata'];
const deletionFields = [
  ['nodeDrainTimeoutSeconds', 'nodeDrainTimeout'],
  ['nodeVolumeDetachTimeoutSeconds', 'nodeVolumeDetachTimeout'],
  ['nodeDeletionTimeoutSeconds', 'nodeDeletionTimeout'],
] as const;

/** Path of a machine field of a control plane in the contract. */
function machineField(contract: ContractVersion, name: string): FieldPath {
  return contract === 'v1beta1' ? [...machinesPath, name] : [...machinesPath, 'spec', name];
}

export const infrastructureRefPath = (contract: ContractVersion): FieldPath =>
  machineField(contract, 'infrastructureRef');

/** Control plane fields that the topology sets and patches cannot change. */
const ownedPaths: readonly FieldPath[] = [
  metadataPath,
  ...(['v1beta1', 'v1beta2'] as const).flatMap((contract) =>
    ['infrastructureRef', 'readinessGates', 'taints'].map((name) => machineField(contract, name)),
  ),
  ...deletionFields.flatMap(([seconds, duration]): FieldPath[] => [
    [...machinesPath, 'spec', 'deletion', seconds],
    [...machinesPath, duration],
  ]),
  ['spec', 'replicas'],
  ['spec', 'version'],
  ['spec', 'rollout', 'after'],
];

export interface PlaneInput {
  class: ClusterClass;
  topology: Topology;
  contract: ContractVersion;
  version: string;
  replicas: number | undefined;
  /** labels and annotations of the control plane and its machines */
  labels: Texts;
  annotations: Texts;
  machineTemplate: UnstructuredObject | undefined;
}

/** Sets the topology's fields on a control plane from its template. */
export function completePlane(plane: UnstructuredObject, input: PlaneInput): UnstructuredObject {
  const { contract, topology, machineTemplate } = input;
  const ofClass = input.class.spec.controlPlane;
  const ofTopology = topology.controlPlane ?? {};
  let result = withField(plane, ['spec', 'version'], input.version);
  const set = (path: FieldPath, value: JsonValue | undefined): void => {
    if (value !== undefined) result = withField(result, path, value);
  };
  if (machineTemplate) {
    set(infrastructureRefPath(contract), referenceTo(machineTemplate, contract));
    const labels = { ...textsAt(plane, ...metadataPath, 'labels'), ...input.labels };
    const annotations = { ...textsAt(plane, ...metadataPath, 'annotations'), ...input.annotations };
    set(metadataPath, { labels, ...(Object.keys(annotations).length > 0 && { annotations }) });
  }
  set(['spec', 'replicas'], input.replicas);
  set(['spec', 'rollout', 'after'], ofTopology.rollout?.after);
  const gates: ConditionGate[] | undefined = ofTopology.readinessGates ?? ofClass.readinessGates;
  const taints: MachineTaint[] | undefined = ofTopology.taints ?? ofClass.taints;
  set(machineField(contract, 'readinessGates'), gates && asJson(gates));
  set(machineField(contract, 'taints'), taints && asJson(taints));
  const deletion: NodeDeletion = { ...ofClass.deletion, ...ofTopology.deletion };
  for (const [seconds, duration] of deletionFields) {
    const value = deletion[seconds];
    if (value === undefined) continue;
    if (contract === 'v1beta1') set([...machinesPath, duration], formatDuration(value * 1000));
    else set([...machinesPath, 'spec', 'deletion', seconds], value);
  }
  return result;
}

export function referenceTo({ apiVersion, kind, metadata }: UnstructuredObject, contract: ContractVersion): JsonValue {
  const name = metadata.name ?? '';
  return contract === 'v1beta1'
    ? { apiVersion, kind, name, namespace: metadata.namespace ?? '' }
    : { apiGroup: parseApiVersion(apiVersion).group, kind, name };
}

/** Restores the topology's fields after patching. */
export function withOwnedFields(patched: UnstructuredObject, before: UnstructuredObject): UnstructuredObject {
  let result = patched;
  for (const path of ownedPaths) result = withField(result, path, at(before, ...path));
  return result;
}
