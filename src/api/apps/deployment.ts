import {
  type Condition,
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
import { defineBuiltin, resourceOf, workloadScale } from '../common/define.ts';
import { age, ageColumn, column, containerCells, nameColumn, wideColumn } from '../common/printing.ts';
import { notSupported } from '../common/validation.ts';
import { defaultPodTemplate } from '../core/pod-defaults.ts';
import {
  validateReplicaCounts,
  validateWorkloadSelector,
  validateWorkloadTemplate,
  type WorkloadSpec,
} from './workload.ts';

export interface DeploymentSpec extends WorkloadSpec {
  replicas?: number;
  strategy?: { type?: string; rollingUpdate?: { maxSurge?: IntOrString; maxUnavailable?: IntOrString } };
  minReadySeconds?: number;
  revisionHistoryLimit?: number;
  progressDeadlineSeconds?: number;
  paused?: boolean;
}

export interface DeploymentStatus {
  observedGeneration?: number;
  replicas?: number;
  updatedReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  unavailableReplicas?: number;
  terminatingReplicas?: number;
  collisionCount?: number;
  conditions?: (Condition & { lastUpdateTime?: string })[];
}

export interface Deployment extends KubeObject {
  spec: DeploymentSpec;
  status?: DeploymentStatus;
}

function isZero(value: IntOrString | undefined): boolean {
  return (percentOf(value) ?? value ?? 0) === 0;
}

function validateStrategy(spec: DeploymentSpec): FieldError[] {
  const { type, rollingUpdate } = spec.strategy ?? {};
  const path = 'spec.strategy';
  if (type === 'Recreate') {
    return rollingUpdate
      ? [fieldError.forbidden(`${path}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'")]
      : [];
  }
  if (type !== 'RollingUpdate') return [notSupported(path, spec.strategy, ['Recreate', 'RollingUpdate'])];
  const { maxSurge, maxUnavailable } = rollingUpdate ?? {};
  const errors = [
    ...validateNonNegativeIntOrPercent(maxUnavailable, `${path}.rollingUpdate.maxUnavailable`),
    ...validateNonNegativeIntOrPercent(maxSurge, `${path}.rollingUpdate.maxSurge`),
  ];
  if (isZero(maxUnavailable) && isZero(maxSurge)) {
    const text = 'may not be 0 when `maxSurge` is 0';
    errors.push(fieldError.invalid(`${path}.rollingUpdate.maxUnavailable`, maxUnavailable, text));
  }
  errors.push(...validateNotMoreThan100Percent(maxUnavailable, `${path}.rollingUpdate.maxUnavailable`));
  return errors;
}

function validate(deployment: Deployment): FieldError[] {
  const spec = deployment.spec;
  const errors = validateNonNegative(spec.replicas, 'spec.replicas');
  errors.push(...validateWorkloadSelector(spec, 'Deployment'));
  errors.push(...validateWorkloadTemplate(spec, 'ReplicaSet'));
  errors.push(...validateStrategy(spec));
  for (const field of ['minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'] as const) {
    errors.push(...validateNonNegative(spec[field], `spec.${field}`));
  }
  const deadline = spec.progressDeadlineSeconds;
  if (deadline !== undefined && deadline <= (spec.minReadySeconds ?? 0)) {
    const text = 'must be greater than minReadySeconds';
    errors.push(fieldError.invalid('spec.progressDeadlineSeconds', deadline, text));
  }
  return errors;
}

export const deploymentDefinition: ResourceDefinition = defineBuiltin<Deployment>({
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  shortNames: ['deploy'],
  categories: ['all'],
  namespaced: true,
  component: 'io.k8s.api.apps.v1.Deployment',
  hasStatus: true,
  scale: workloadScale,
  columns: [
    nameColumn,
    column('Ready'),
    column('Up-to-date'),
    column('Available'),
    ageColumn,
    wideColumn('Containers'),
    wideColumn('Images'),
    wideColumn('Selector'),
  ],
  row({ metadata, spec, status = {}, ...rest }, nowMs) {
    return [
      metadata.name ?? '',
      `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
      status.updatedReplicas ?? 0,
      status.availableReplicas ?? 0,
      age({ metadata, ...rest }, nowMs),
      ...containerCells(spec.template?.spec?.containers),
      formatLabelSelectorObject(spec.selector),
    ];
  },
  applyDefaults(deployment) {
    setDefault(deployment, 'spec', {});
    const spec = deployment.spec;
    setDefault(spec, 'replicas', 1);
    setDefault(setDefault(spec, 'strategy', {}), 'type', 'RollingUpdate');
    if (spec.strategy?.type === 'RollingUpdate') {
      const rollingUpdate = setDefault(spec.strategy, 'rollingUpdate', {});
      setDefault(rollingUpdate, 'maxUnavailable', '25%');
      setDefault(rollingUpdate, 'maxSurge', '25%');
    }
    setDefault(spec, 'revisionHistoryLimit', 10);
    setDefault(spec, 'progressDeadlineSeconds', 600);
    const template = setDefault(spec, 'template', {});
    defaultPodTemplate(template);
    setDefault(deployment, 'status', {});
  },
  prepareForCreate(deployment) {
    deployment.status = {};
  },
  validateCreate: validate,
  validateUpdate: (deployment, old) => [
    ...validate(deployment),
    ...validateImmutable(deployment.spec.selector, old.spec.selector, 'spec.selector'),
  ],
  validateStatusUpdate({ status = {} }) {
    const fields = ['updatedReplicas', 'readyReplicas', 'availableReplicas'] as const;
    return validateReplicaCounts(status, fields, 'replicas');
  },
});

export const Deployments: Resource<Deployment> = resourceOf<Deployment>(deploymentDefinition);
