import {
  type Condition,
  type FieldError,
  formatLabelSelectorObject,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
  validateImmutable,
  validateNonNegative,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf, workloadScale } from '../common/define.ts';
import { age, ageColumn, column, containerCells, nameColumn, wideColumn } from '../common/printing.ts';
import { defaultPodTemplate } from '../core/pod-defaults.ts';
import {
  validateReplicaCounts,
  validateWorkloadSelector,
  validateWorkloadTemplate,
  type WorkloadSpec,
} from './workload.ts';

export interface ReplicaSet extends KubeObject {
  spec: WorkloadSpec & { replicas?: number; minReadySeconds?: number };
  status?: {
    replicas?: number;
    fullyLabeledReplicas?: number;
    readyReplicas?: number;
    availableReplicas?: number;
    observedGeneration?: number;
    conditions?: Condition[];
  };
}

function validate({ spec }: ReplicaSet): FieldError[] {
  return [
    ...validateNonNegative(spec.replicas, 'spec.replicas'),
    ...validateNonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    ...validateWorkloadSelector(spec, 'ReplicaSet'),
    ...validateWorkloadTemplate(spec, 'ReplicaSet'),
  ];
}

export const replicaSetDefinition: ResourceDefinition = defineBuiltin<ReplicaSet>({
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  shortNames: ['rs'],
  categories: ['all'],
  namespaced: true,
  component: 'io.k8s.api.apps.v1.ReplicaSet',
  hasStatus: true,
  scale: workloadScale,
  columns: [
    nameColumn,
    column('Desired', 'integer'),
    column('Current', 'integer'),
    column('Ready', 'integer'),
    ageColumn,
    wideColumn('Containers'),
    wideColumn('Images'),
    wideColumn('Selector'),
  ],
  row: (set, nowMs) => [
    set.metadata.name ?? '',
    set.spec.replicas ?? 0,
    set.status?.replicas ?? 0,
    set.status?.readyReplicas ?? 0,
    age(set, nowMs),
    ...containerCells(set.spec.template?.spec?.containers),
    formatLabelSelectorObject(set.spec.selector),
  ],
  selectableFields: { 'status.replicas': (set) => String(set.status?.replicas ?? 0) },
  applyDefaults(set) {
    setDefault(set, 'spec', {});
    setDefault(set.spec, 'replicas', 1);
    if (set.spec.template) defaultPodTemplate(set.spec.template);
    setDefault(setDefault(set, 'status', {}), 'replicas', 0);
  },
  prepareForCreate(set) {
    set.status = { replicas: 0 };
  },
  validateCreate: validate,
  validateUpdate: (set, old) => [
    ...validate(set),
    ...validateImmutable(set.spec.selector, old.spec.selector, 'spec.selector'),
  ],
  validateStatusUpdate({ status = {} }) {
    return validateReplicaCounts(status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], 'replicas');
  },
});

export const ReplicaSets: Resource<ReplicaSet> = resourceOf<ReplicaSet>(replicaSetDefinition);
