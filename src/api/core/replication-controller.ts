import {
  type Condition,
  type FieldError,
  fieldError,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
  validateNonNegative,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, containerCells, formatLabels, nameColumn, wideColumn } from '../common/printing.ts';
import { notSupported } from '../common/validation.ts';
import { defaultPodTemplate } from './pod-defaults.ts';
import type { PodTemplateSpec } from './pod-types.ts';
import { validatePodTemplateSpec } from './pod-validation.ts';

export interface ReplicationController extends KubeObject {
  spec: {
    replicas?: number;
    minReadySeconds?: number;
    selector?: Record<string, string>;
    template?: PodTemplateSpec;
  };
  status?: {
    replicas?: number;
    readyReplicas?: number;
    availableReplicas?: number;
    fullyLabeledReplicas?: number;
    observedGeneration?: number;
    conditions?: Condition[];
  };
}

function validate(controller: ReplicationController): FieldError[] {
  const { replicas, minReadySeconds, selector = {}, template } = controller.spec;
  const errors = validateNonNegative(minReadySeconds, 'spec.minReadySeconds');
  const keys = Object.keys(selector);
  if (keys.length === 0) errors.push(fieldError.required('spec.selector'));
  errors.push(...validateNonNegative(replicas, 'spec.replicas'));
  if (!template) return [...errors, fieldError.required('spec.template')];
  const labels = template.metadata?.labels ?? {};
  if (keys.some((key) => labels[key] !== selector[key])) {
    const text = '`selector` does not match template `labels`';
    errors.push(fieldError.invalid('spec.template.metadata.labels', labels, text));
  }
  errors.push(...validatePodTemplateSpec(template, 'spec.template'));
  const policy = template.spec?.restartPolicy;
  if (policy !== 'Always') {
    errors.push(notSupported('spec.template.spec.restartPolicy', policy ?? '', ['Always']));
  }
  if (template.spec?.activeDeadlineSeconds !== undefined) {
    const text = 'activeDeadlineSeconds in ReplicationController is not Supported';
    errors.push(fieldError.forbidden('spec.template.spec.activeDeadlineSeconds', text));
  }
  return errors;
}

export const replicationControllerDefinition: ResourceDefinition = defineBuiltin<ReplicationController>({
  group: '',
  version: 'v1',
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
  shortNames: ['rc'],
  categories: ['all'],
  namespaced: true,
  component: 'io.k8s.api.core.v1.ReplicationController',
  hasStatus: true,
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.spec.selector',
  },
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
  row: (controller, nowMs) => [
    controller.metadata.name ?? '',
    controller.spec.replicas ?? 0,
    controller.status?.replicas ?? 0,
    controller.status?.readyReplicas ?? 0,
    age(controller, nowMs),
    ...containerCells(controller.spec.template?.spec?.containers),
    formatLabels(controller.spec.selector),
  ],
  selectableFields: { 'status.replicas': (controller) => String(controller.status?.replicas ?? 0) },
  applyDefaults(controller) {
    setDefault(controller, 'spec', {});
    const { spec, metadata } = controller;
    const labels = spec.template?.metadata?.labels;
    if (labels) {
      if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
      if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
    }
    setDefault(spec, 'replicas', 1);
    if (spec.template) defaultPodTemplate(spec.template);
    setDefault(setDefault(controller, 'status', {}), 'replicas', 0);
  },
  prepareForCreate(controller) {
    controller.status = { replicas: 0 };
  },
  validateCreate: validate,
  validateUpdate: validate,
});

export const ReplicationControllers: Resource<ReplicationController> = resourceOf<ReplicationController>(
  replicationControllerDefinition,
);
