import {
  type Condition,
  checkDns1123Label,
  clone,
  deepEqual,
  type FieldError,
  fieldError,
  type IntOrString,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
  validateNonNegative,
  validateNonNegativeIntOrPercent,
  validateNotMoreThan100Percent,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf, workloadScale } from '../common/define.ts';
import { age, ageColumn, column, containerCells, nameColumn, wideColumn } from '../common/printing.ts';
import { invalid, validateEnum } from '../common/validation.ts';
import { defaultClaimSpec, type PersistentVolumeClaim, validateClaimSpec } from '../core/persistent-volume-claim.ts';
import { defaultPodTemplate } from '../core/pod-defaults.ts';
import type { PodTemplateSpec } from '../core/pod-types.ts';
import {
  validateReplicaCounts,
  validateWorkloadSelector,
  validateWorkloadTemplate,
  type WorkloadSpec,
} from './workload.ts';

export interface StatefulSetSpec extends WorkloadSpec {
  serviceName?: string;
  replicas?: number;
  podManagementPolicy?: string;
  updateStrategy?: { type?: string; rollingUpdate?: { partition?: number; maxUnavailable?: IntOrString } };
  revisionHistoryLimit?: number;
  minReadySeconds?: number;
  volumeClaimTemplates?: PersistentVolumeClaim[];
  persistentVolumeClaimRetentionPolicy?: { whenDeleted?: string; whenScaled?: string };
  ordinals?: { start?: number };
}

export interface StatefulSet extends KubeObject {
  spec: StatefulSetSpec;
  status?: {
    observedGeneration?: number;
    replicas?: number;
    readyReplicas?: number;
    currentReplicas?: number;
    updatedReplicas?: number;
    availableReplicas?: number;
    currentRevision?: string;
    updateRevision?: string;
    collisionCount?: number;
    conditions?: Condition[];
  };
}

function applyDefaults(set: StatefulSet): void {
  setDefault(set, 'spec', {});
  const spec = set.spec;
  setDefault(spec, 'podManagementPolicy', 'OrderedReady');
  const strategy = setDefault(spec, 'updateStrategy', {});
  if (!strategy.type) {
    strategy.type = 'RollingUpdate';
    setDefault(strategy, 'rollingUpdate', {});
  }
  if (strategy.type === 'RollingUpdate' && strategy.rollingUpdate) {
    setDefault(strategy.rollingUpdate, 'partition', 0);
  }
  const retention = setDefault(spec, 'persistentVolumeClaimRetentionPolicy', {});
  setDefault(retention, 'whenDeleted', 'Retain');
  setDefault(retention, 'whenScaled', 'Retain');
  setDefault(spec, 'replicas', 1);
  setDefault(spec, 'revisionHistoryLimit', 10);
  setDefault(spec, 'serviceName', '');
  const template = setDefault(spec, 'template', {});
  defaultPodTemplate(template);
  for (const claim of spec.volumeClaimTemplates ?? []) {
    claim.apiVersion = 'v1';
    claim.kind = 'PersistentVolumeClaim';
    setDefault(claim, 'spec', {});
    defaultClaimSpec(claim.spec);
    setDefault(setDefault(claim, 'status', {}), 'phase', 'Pending');
  }
  const status = setDefault(set, 'status', {});
  setDefault(status, 'replicas', 0);
  setDefault(status, 'availableReplicas', 0);
}

function validateUpdateStrategy(spec: StatefulSetSpec): FieldError[] {
  const path = 'spec.updateStrategy';
  const { type = '', rollingUpdate } = spec.updateStrategy ?? {};
  if (type === 'OnDelete') {
    return rollingUpdate
      ? [fieldError.invalid(`${path}.rollingUpdate`, rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'")]
      : [];
  }
  if (type !== 'RollingUpdate') {
    return [fieldError.invalid(path, spec.updateStrategy, "must be 'RollingUpdate' or 'OnDelete'")];
  }
  const { partition, maxUnavailable } = rollingUpdate ?? {};
  const errors = validateNonNegative(partition, `${path}.rollingUpdate.partition`);
  errors.push(...validateNonNegativeIntOrPercent(maxUnavailable, `${path}.rollingUpdate.maxUnavailable`));
  if (maxUnavailable === 0 || maxUnavailable === '0%') {
    errors.push(fieldError.invalid(`${path}.rollingUpdate.maxUnavailable`, maxUnavailable, 'cannot be 0'));
  }
  errors.push(...validateNotMoreThan100Percent(maxUnavailable, `${path}.rollingUpdate.maxUnavailable`));
  return errors;
}

/** Returns the template as its pods get it: claims become volumes and each pod gets its own host name. */
function effectiveTemplate(spec: StatefulSetSpec): PodTemplateSpec | undefined {
  const template = spec.template;
  if (!template?.spec) return template;
  const { subdomain: _subdomain, hostname: _hostname, ...pod } = template.spec;
  const claims = new Set<string>();
  const volumes = (spec.volumeClaimTemplates ?? []).map((claim) => {
    const name = claim.metadata?.name ?? '';
    claims.add(name);
    return { name, persistentVolumeClaim: { claimName: name } };
  });
  if (volumes.length === 0) return { ...template, spec: pod };
  const others = (pod.volumes ?? []).filter((volume) => !claims.has(volume.name));
  return { ...template, spec: { ...pod, volumes: [...volumes, ...others] } };
}

function validate(set: StatefulSet, { isNew }: { isNew: boolean }): FieldError[] {
  const spec = set.spec;
  const errors: FieldError[] = [];
  if (spec.podManagementPolicy !== 'OrderedReady' && spec.podManagementPolicy !== 'Parallel') {
    const text = "must be 'OrderedReady' or 'Parallel'";
    errors.push(fieldError.invalid('spec.podManagementPolicy', spec.podManagementPolicy ?? '', text));
  }
  errors.push(...validateUpdateStrategy(spec));
  for (const field of ['whenDeleted', 'whenScaled'] as const) {
    const policy = spec.persistentVolumeClaimRetentionPolicy?.[field];
    errors.push(...validateEnum(policy, ['Retain', 'Delete'], `spec.persistentVolumeClaimRetentionPolicy.${field}`));
  }
  if (isNew) {
    for (const [index, claim] of (spec.volumeClaimTemplates ?? []).entries()) {
      errors.push(...validateClaimSpec(claim.spec ?? {}, `spec.volumeClaimTemplates[${index}].spec`));
    }
    if (spec.serviceName)
      errors.push(...invalid('spec.serviceName', spec.serviceName, checkDns1123Label(spec.serviceName)));
  }
  errors.push(...validateNonNegative(spec.replicas, 'spec.replicas'));
  errors.push(...validateNonNegative(spec.minReadySeconds, 'spec.minReadySeconds'));
  errors.push(...validateNonNegative(spec.ordinals?.start, 'spec.ordinals.start'));
  const template = effectiveTemplate(spec);
  const effective: WorkloadSpec = {
    ...(spec.selector && { selector: spec.selector }),
    ...(template && { template }),
  };
  errors.push(...validateWorkloadSelector(effective, 'StatefulSet'));
  errors.push(...validateWorkloadTemplate(effective, 'StatefulSet'));
  return errors;
}

const updatable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const;

function validateUpdate(set: StatefulSet, old: StatefulSet): FieldError[] {
  const errors = validate(set, { isNew: false });
  const fixed: StatefulSetSpec = clone(set.spec);
  const before: StatefulSetSpec = clone(old.spec);
  for (const field of updatable) {
    delete fixed[field];
    delete before[field];
  }
  if (!deepEqual(fixed, before)) {
    const text =
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
    errors.push(fieldError.forbidden('spec', text));
  }
  return errors;
}

export const statefulSetDefinition: ResourceDefinition = defineBuiltin<StatefulSet>({
  group: 'apps',
  version: 'v1',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  shortNames: ['sts'],
  categories: ['all'],
  namespaced: true,
  component: 'io.k8s.api.apps.v1.StatefulSet',
  hasStatus: true,
  scale: workloadScale,
  columns: [nameColumn, column('Ready'), ageColumn, wideColumn('Containers'), wideColumn('Images')],
  row: (set, nowMs) => [
    set.metadata.name ?? '',
    `${set.status?.readyReplicas ?? 0}/${set.spec.replicas ?? 0}`,
    age(set, nowMs),
    ...containerCells(set.spec.template?.spec?.containers),
  ],
  applyDefaults,
  prepareForCreate(set) {
    set.status = { replicas: 0, availableReplicas: 0 };
  },
  validateCreate: (set) => validate(set, { isNew: true }),
  validateUpdate,
  validateStatusUpdate({ status = {} }) {
    const fields = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'] as const;
    return validateReplicaCounts(status, fields, 'replicas');
  },
});

export const StatefulSets: Resource<StatefulSet> = resourceOf<StatefulSet>(statefulSetDefinition);
