import {
  checkLabelValue,
  type FieldError,
  fieldError,
  labelSelectorFromObject,
  type ResourceStrategy,
  validateLabelSelector,
  validateNonNegative,
} from '../../machinery/index.ts';
import {
  autoscalerMaxSizeAnnotation,
  autoscalerMinSizeAnnotation,
  clusterNameLabel,
  controlPlaneLabel,
  deploymentNameLabel,
  labelValueOf,
  poolNameLabel,
  setNameLabel,
  skipPreflightChecksAnnotation,
} from './labels.ts';
import type { Machine, MachineDeployment, MachineSet, MachineSpec } from './types.ts';
import {
  validateIntOrPercent,
  validateMachineTaints,
  validateNamingTemplate,
  validateRolloutStrategy,
  validateTemplateMetadata,
} from './validation.ts';
import { parseKubernetesVersion, withLeadingV } from './version.ts';

const defaultNodeDeletionTimeoutSeconds = 10;

export const machineStrategy: ResourceStrategy<Machine> = {
  applyDefaults(machine) {
    if (machine.spec === undefined) return;
    nameCluster(machine);
    defaultVersion(machine.spec);
    machine.spec.deletion ??= {};
    machine.spec.deletion.nodeDeletionTimeoutSeconds ??= defaultNodeDeletionTimeoutSeconds;
  },
  validateCreate: (object) => validateMachine(object, undefined),
  validateUpdate: (object, old) => validateMachine(object, old),
};

export const machineSetStrategy: ResourceStrategy<MachineSet> = {
  prepareForUpdate: (draft, old) => keepReplicas(draft, old),
  applyDefaults(set) {
    if (set.spec === undefined) return;
    nameCluster(set);
    defaultReplicas(set, undefined);
    defaultSelector(set, setNameLabel, labelValueOf(set.metadata.name ?? ''));
    if (set.spec.template?.spec !== undefined) defaultVersion(set.spec.template.spec);
  },
  validateCreate: (object) => validateGroup(object, undefined),
  validateUpdate: (object, old) => validateGroup(object, old),
};

export const machineDeploymentStrategy: ResourceStrategy<MachineDeployment> = {
  prepareForUpdate: (draft, old) => keepReplicas(draft, old),
  applyDefaults(deployment) {
    if (deployment.spec === undefined) return;
    nameCluster(deployment);
    defaultReplicas(deployment, undefined);
    defaultRollout(deployment);
    defaultSelector(deployment, deploymentNameLabel, deployment.metadata.name ?? '');
    if (deployment.spec.template?.spec !== undefined) defaultVersion(deployment.spec.template.spec);
  },
  validateCreate: (object) => validateDeployment(object, undefined),
  validateUpdate: (object, old) => validateDeployment(object, old),
};

type Group = MachineSet | MachineDeployment;

function nameCluster(object: Machine | Group): void {
  if (object.spec.clusterName === undefined) return;
  object.metadata.labels = { ...object.metadata.labels, [clusterNameLabel]: object.spec.clusterName };
}

function defaultVersion(spec: MachineSpec): void {
  if (spec.version !== undefined) spec.version = withLeadingV(spec.version);
}

/** An update without replicas keeps the current value, or leaves it to the autoscaler. */
function keepReplicas(draft: Group, old: Group): void {
  if (draft.spec !== undefined && draft.spec.replicas === undefined) defaultReplicas(draft, old.spec?.replicas);
}

function defaultReplicas(group: Group, before: number | undefined): void {
  if (group.spec.replicas !== undefined) return;
  const range = autoscalerRange(group);
  if (range === undefined) group.spec.replicas = before ?? 1;
  else group.spec.replicas = before === undefined ? range.min : Math.max(range.min, Math.min(before, range.max));
}

function autoscalerRange(group: Group): { min: number; max: number } | undefined {
  const { annotations } = group.metadata;
  const min = annotations?.[autoscalerMinSizeAnnotation];
  const max = annotations?.[autoscalerMaxSizeAnnotation];
  if (min === undefined || max === undefined || !isInteger(min) || !isInteger(max)) return undefined;
  return { min: Number(min), max: Number(max) };
}

const isInteger = (text: string): boolean => /^[+-]?[0-9]+$/.test(text);

function defaultRollout({ spec }: MachineDeployment): void {
  spec.rollout ??= {};
  spec.rollout.strategy ??= { type: 'RollingUpdate' };
  const { strategy } = spec.rollout;
  strategy.type ??= 'RollingUpdate';
  if (strategy.type !== 'RollingUpdate') return;
  strategy.rollingUpdate ??= {};
  strategy.rollingUpdate.maxSurge ??= 1;
  strategy.rollingUpdate.maxUnavailable ??= 0;
}

/**
 * Without a selector of the user, the group selects by its own name. The cluster name is always part of the selector.
 */
function defaultSelector({ spec }: Group, nameLabel: string, name: string): void {
  const selector = { ...spec.selector };
  const matchLabels: Record<string, string> = { ...selector.matchLabels };
  const added: Record<string, string> = {};
  if (Object.keys(matchLabels).length === 0 && (selector.matchExpressions?.length ?? 0) === 0 && name !== '') {
    matchLabels[nameLabel] = name;
    added[nameLabel] = name;
  }
  if (spec.clusterName !== undefined) {
    matchLabels[clusterNameLabel] = spec.clusterName;
    added[clusterNameLabel] = spec.clusterName;
  }
  spec.selector = { ...selector, matchLabels };
  if (spec.template === undefined) return;
  spec.template.metadata = {
    ...spec.template.metadata,
    labels: { ...spec.template.metadata?.labels, ...added },
  };
}

function validateVersion(version: string | undefined, path: string): FieldError[] {
  return version === undefined || parseKubernetesVersion(version) !== undefined
    ? []
    : [fieldError.invalid(path, version, 'must be a valid semantic version')];
}

function validateClusterName(object: Machine | Group, old: Machine | Group | undefined): FieldError[] {
  return old?.spec !== undefined && old.spec.clusterName !== object.spec.clusterName
    ? [fieldError.forbidden('spec.clusterName', 'field is immutable')]
    : [];
}

function validateBootstrap({ bootstrap }: MachineSpec, path: string): FieldError[] {
  if (bootstrap?.configRef !== undefined || bootstrap?.dataSecretName !== undefined) return [];
  const choices = `${path}.bootstrap.dataSecretName or ${path}.bootstrap.configRef`;
  return [fieldError.required(`${path}.bootstrap`, `expected either ${choices} to be populated`)];
}

function validateMachine(machine: Machine, old: Machine | undefined): FieldError[] {
  const { spec, metadata } = machine;
  if (spec === undefined) return [];
  // The bootstrap object of a machine pool belongs to the pool, not to its machines.
  const errors = metadata.labels?.[poolNameLabel] === undefined ? validateBootstrap(spec, 'spec') : [];
  errors.push(...validateClusterName(machine, old), ...validateVersion(spec.version, 'spec.version'));
  const role = metadata.labels?.[controlPlaneLabel] === undefined ? 'worker' : 'control plane';
  errors.push(...validateMachineTaints(spec.taints, 'spec.taints', role));
  return errors;
}

function validateGroup(group: Group, old: Group | undefined): FieldError[] {
  const { spec } = group;
  if (spec?.template?.spec === undefined) return [];
  const labels = spec.template.metadata?.labels ?? {};
  const errors = validateBootstrap(spec.template.spec, 'spec.template.spec');
  if (spec.replicas !== old?.spec?.replicas) errors.push(...validateNonNegative(spec.replicas, 'spec.replicas'));
  const selectorErrors = validateLabelSelector(spec.selector, 'spec.selector');
  errors.push(...selectorErrors);
  if (selectorErrors.length === 0 && !labelSelectorFromObject(spec.selector).matches(labels)) {
    const text = `must match spec.selector ${JSON.stringify(labelSelectorFromObject(spec.selector).toString())}`;
    const path = 'spec.template.metadata.labels';
    // Upstream uses a different error type for each of the two kinds.
    errors.push(
      group.kind === 'MachineSet' ? fieldError.invalid(path, labels, text) : fieldError.forbidden(path, text),
    );
  }
  errors.push(...validatePreflightChecks(group), ...validateClusterName(group, old));
  if (spec.template.spec.clusterName !== spec.clusterName) {
    errors.push(
      fieldError.invalid(
        'spec.clusterName',
        spec.clusterName,
        'spec.clusterName and spec.template.spec.clusterName must be set to the same value',
      ),
    );
  }
  errors.push(...validateVersion(spec.template.spec.version, 'spec.template.spec.version'));
  errors.push(
    ...validateTemplateMetadata(spec.template.metadata, 'spec.template.metadata'),
    ...validateNamingTemplate(spec.machineNaming?.template, 'spec.machineNaming.template', namingVariables),
    ...validateMachineTaints(spec.template.spec.taints, 'spec.template.spec.taints', 'worker'),
  );
  return errors;
}

/** Variables that a naming template may use besides `.random`, with sample values. */
const namingVariables = { '.cluster.name': 'cluster', '.machineSet.name': 'machineset' };

const preflightChecks = [
  'All',
  'ControlPlaneIsStable',
  'ControlPlaneVersionSkew',
  'KubeadmVersionSkew',
  'KubernetesVersionSkew',
];

function validatePreflightChecks({ metadata }: Group): FieldError[] {
  const skipped = metadata.annotations?.[skipPreflightChecksAnnotation];
  if (skipped === undefined || skipped === '') return [];
  const unknown = skipped
    .split(',')
    .map((name) => name.trim())
    .filter((name) => !preflightChecks.includes(name));
  if (unknown.length === 0) return [];
  return [
    fieldError.invalid(
      `metadata.annotations.${skipPreflightChecksAnnotation}`,
      unknown,
      `skipped preflight check(s) must be among: [${preflightChecks.join(' ')}]`,
    ),
  ];
}

function validateDeployment(deployment: MachineDeployment, old: MachineDeployment | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const { name } = deployment.metadata;
  for (const problem of checkLabelValue(name ?? '')) {
    errors.push(fieldError.invalid('metadata.name', name, `must be a valid label value: ${problem}`));
  }
  errors.push(...validateGroup(deployment, old));
  const { rollout, remediation } = deployment.spec ?? {};
  errors.push(
    ...validateRolloutStrategy(rollout?.strategy, 'spec.rollout.strategy'),
    ...validateIntOrPercent(remediation?.maxInFlight, 'spec.remediation.maxInFlight'),
  );
  return errors;
}
