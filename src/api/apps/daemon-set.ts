import {
  type Condition,
  deepEqual,
  type FieldError,
  fieldError,
  formatLabelSelectorObject,
  type IntOrString,
  type KubeObject,
  percentOf,
  type Resource,
  type ResourceDefinition,
  validateImmutable,
  validateNonNegative,
  validateNonNegativeIntOrPercent,
  validateNotMoreThan100Percent,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, containerCells, formatLabels, nameColumn, wideColumn } from '../common/printing.ts';
import { notSupported } from '../common/validation.ts';
import { defaultPodTemplate } from '../core/pod-defaults.ts';
import { validateWorkloadSelector, validateWorkloadTemplate, type WorkloadSpec } from './workload.ts';

export interface DaemonSetSpec extends WorkloadSpec {
  updateStrategy?: { type?: string; rollingUpdate?: { maxUnavailable?: IntOrString; maxSurge?: IntOrString } };
  minReadySeconds?: number;
  revisionHistoryLimit?: number;
}

export interface DaemonSet extends KubeObject {
  spec: DaemonSetSpec;
  status?: {
    currentNumberScheduled?: number;
    numberMisscheduled?: number;
    desiredNumberScheduled?: number;
    numberReady?: number;
    observedGeneration?: number;
    updatedNumberScheduled?: number;
    numberAvailable?: number;
    numberUnavailable?: number;
    collisionCount?: number;
    conditions?: Condition[];
  };
}

/** Counter of template changes. Old API versions had it as a field; it survives as an annotation. */
const templateGeneration = 'deprecated.daemonset.template.generation';
const statusFields = ['currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady'] as const;

function setTemplateGeneration(set: DaemonSet, generation: number): void {
  set.metadata.annotations = { ...set.metadata.annotations, [templateGeneration]: String(generation) };
}

function validateStrategy(spec: DaemonSetSpec): FieldError[] {
  const path = 'spec.updateStrategy';
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate') {
    return [notSupported(path, spec.updateStrategy, ['RollingUpdate', 'OnDelete'])];
  }
  if (!rollingUpdate) return [fieldError.required(`${path}.rollingUpdate`)];
  const errors: FieldError[] = [];
  for (const field of ['maxUnavailable', 'maxSurge'] as const) {
    errors.push(...validateNonNegativeIntOrPercent(rollingUpdate[field], `${path}.rollingUpdate.${field}`));
    errors.push(...validateNotMoreThan100Percent(rollingUpdate[field], `${path}.rollingUpdate.${field}`));
  }
  const amount = (value: IntOrString | undefined): number => percentOf(value) ?? (Number(value ?? 0) || 0);
  const unavailable = amount(rollingUpdate.maxUnavailable);
  const surge = amount(rollingUpdate.maxSurge);
  if (unavailable !== 0 && surge !== 0) {
    const text = 'may not be set when maxUnavailable is non-zero';
    errors.push(fieldError.invalid(`${path}.rollingUpdate.maxSurge`, rollingUpdate.maxSurge, text));
  } else if (unavailable === 0 && surge === 0) {
    errors.push(fieldError.required(`${path}.rollingUpdate.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
  }
  return errors;
}

function validate({ spec }: DaemonSet): FieldError[] {
  return [
    ...validateWorkloadSelector(spec, 'DaemonSet'),
    ...validateWorkloadTemplate(spec, 'DaemonSet'),
    ...validateNonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    ...validateStrategy(spec),
    ...validateNonNegative(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit'),
  ];
}

export const daemonSetDefinition: ResourceDefinition = defineBuiltin<DaemonSet>({
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  shortNames: ['ds'],
  categories: ['all'],
  namespaced: true,
  component: 'io.k8s.api.apps.v1.DaemonSet',
  hasStatus: true,
  columns: [
    nameColumn,
    column('Desired', 'integer'),
    column('Current', 'integer'),
    column('Ready', 'integer'),
    column('Up-to-date', 'integer'),
    column('Available', 'integer'),
    column('Node Selector'),
    ageColumn,
    wideColumn('Containers'),
    wideColumn('Images'),
    wideColumn('Selector'),
  ],
  row: (set, nowMs) => [
    set.metadata.name ?? '',
    set.status?.desiredNumberScheduled ?? 0,
    set.status?.currentNumberScheduled ?? 0,
    set.status?.numberReady ?? 0,
    set.status?.updatedNumberScheduled ?? 0,
    set.status?.numberAvailable ?? 0,
    formatLabels(set.spec.template?.spec?.nodeSelector),
    age(set, nowMs),
    ...containerCells(set.spec.template?.spec?.containers),
    formatLabelSelectorObject(set.spec.selector),
  ],
  applyDefaults(set) {
    setDefault(set, 'spec', {});
    const spec = set.spec;
    const strategy = setDefault(spec, 'updateStrategy', {});
    setDefault(strategy, 'type', 'RollingUpdate');
    if (strategy.type === 'RollingUpdate') {
      const rollingUpdate = setDefault(strategy, 'rollingUpdate', {});
      setDefault(rollingUpdate, 'maxUnavailable', 1);
      setDefault(rollingUpdate, 'maxSurge', 0);
    }
    setDefault(spec, 'revisionHistoryLimit', 10);
    const template = setDefault(spec, 'template', {});
    defaultPodTemplate(template);
    const status = setDefault(set, 'status', {});
    for (const field of statusFields) setDefault(status, field, 0);
  },
  prepareForCreate(set) {
    set.status = {};
    for (const field of statusFields) set.status[field] = 0;
    setTemplateGeneration(set, 1);
  },
  prepareForUpdate(set, old) {
    const generation = Number(old.metadata.annotations?.[templateGeneration] ?? 0) || 0;
    setTemplateGeneration(set, deepEqual(set.spec.template, old.spec.template) ? generation : generation + 1);
  },
  validateCreate: validate,
  validateUpdate: (set, old) => [
    ...validateImmutable(set.spec.selector, old.spec.selector, 'spec.selector'),
    ...validate(set),
  ],
  validateStatusUpdate: (set) =>
    statusFields.flatMap((field) => validateNonNegative(set.status?.[field], `status.${field}`)),
});

export const DaemonSets: Resource<DaemonSet> = resourceOf<DaemonSet>(daemonSetDefinition);
