import {
  checkLabelValue,
  cidrFamily,
  deepEqual,
  type FieldError,
  fieldError,
  type ResourceStrategy,
} from '../../machinery/index.ts';
import { cidrsOverlap } from '../common/cidr.ts';
import { validateDroppedEntries } from './dropped-entries.ts';
import {
  autoscalerMaxSizeAnnotation,
  autoscalerMinSizeAnnotation,
  unsafeClassNameAnnotation,
  unsafeVersionAnnotation,
  upgradeConcurrencyAnnotation,
} from './labels.ts';
import type { Cluster, ClusterSpec, TemplateMetadata, Topology } from './types.ts';
import { validateTemplateMetadata } from './validation.ts';
import { compareKubernetesVersions, parseKubernetesVersion, withLeadingV } from './version.ts';

// What upstream's webhooks say of a Cluster, as far as it can be said without looking at other objects. What depends on
// the ClusterClass or the state of the control plane is the topology controller's to refuse.

export const clusterStrategy: ResourceStrategy<Cluster> = {
  applyDefaults(draft) {
    const { topology } = draft.spec ?? {};
    if (topology?.version !== undefined) topology.version = withLeadingV(topology.version);
  },
  // Later the variables a patch drops are there again, with the defaults of their class.
  validateWritten: (object, old, { patchedBy }) => validateDroppedEntries(object, old, patchedBy),
  validateCreate: (object) => validateCluster(object, undefined),
  validateUpdate: (object, old, { patchedBy }) => [
    ...validateDroppedEntries(object, old, patchedBy),
    ...validateCluster(object, old),
  ],
};

function validateCluster(cluster: Cluster, old: Cluster | undefined): FieldError[] {
  const { spec, metadata } = cluster;
  const errors: FieldError[] = [];
  for (const problem of checkLabelValue(metadata.name ?? '')) {
    errors.push(fieldError.invalid('metadata.name', metadata.name, `must be a valid label value ${problem}`));
  }
  // the schema has already complained about a missing spec
  if (spec === undefined) return errors;
  for (const name of ['infrastructureRef', 'controlPlaneRef'] as const) {
    if (spec[name] === undefined && old?.spec?.[name] !== undefined) {
      errors.push(fieldError.forbidden(`spec.${name}`, 'cannot be removed'));
    }
  }
  if (spec.controlPlaneRef === undefined && spec.infrastructureRef === undefined && spec.topology === undefined) {
    errors.push(
      fieldError.forbidden('spec', 'one of spec.controlPlaneRef, spec.infrastructureRef or spec.topology must be set'),
    );
  }
  for (const name of ['pods', 'services'] as const) {
    spec.clusterNetwork?.[name]?.cidrBlocks?.forEach((cidr, i) => {
      if (cidrFamily(cidr) !== undefined) return;
      errors.push(
        fieldError.invalid(`spec.clusterNetwork.${name}.cidrBlocks[${i}]`, cidr, `invalid CIDR address: ${cidr}`),
      );
    });
  }
  if (!deepEqual(spec.clusterNetwork, old?.spec?.clusterNetwork)) errors.push(...validateOverlaps(spec));
  if (spec.topology !== undefined) errors.push(...validateTopology(cluster, spec.topology, old));
  else if (old?.spec?.topology !== undefined) {
    errors.push(fieldError.forbidden('spec.topology', 'cannot be removed from an existing Cluster'));
  }
  return errors;
}

/** a Pod and a Service with one address cannot be told apart, in no cluster */
function validateOverlaps({ clusterNetwork }: ClusterSpec): FieldError[] {
  const errors: FieldError[] = [];
  clusterNetwork?.services?.cidrBlocks?.forEach((services, i) => {
    for (const pods of clusterNetwork.pods?.cidrBlocks ?? []) {
      if (!cidrsOverlap(services, pods)) continue;
      const path = `spec.clusterNetwork.services.cidrBlocks[${i}]`;
      errors.push(fieldError.invalid(path, services, `overlaps with ${pods} of spec.clusterNetwork.pods`));
    }
  });
  return errors;
}

function validateTopology(cluster: Cluster, topology: Topology, old: Cluster | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const annotations = cluster.metadata.annotations ?? {};
  const version = parseKubernetesVersion(topology.version ?? '');
  if (version === undefined) {
    errors.push(
      fieldError.invalid('spec.topology.version', topology.version, 'version must be a valid semantic version'),
    );
  }
  errors.push(...validateMetadata(topology), ...validateConcurrency(annotations[upgradeConcurrencyAnnotation]));
  errors.push(...validateWorkers(cluster, topology));
  if (old === undefined) return errors;
  const before = old.spec?.topology;
  if (before?.classRef?.name === undefined) {
    if (annotations[unsafeClassNameAnnotation] === undefined) {
      errors.push(fieldError.forbidden('spec.topology.class', 'classRef cannot be set on an existing Cluster'));
    }
    return errors;
  }
  const oldVersion = parseKubernetesVersion(before.version);
  if (version === undefined || oldVersion === undefined || annotations[unsafeVersionAnnotation] !== undefined) {
    return errors;
  }
  if (compareKubernetesVersions(version, oldVersion) < 0) {
    errors.push(
      fieldError.invalid(
        'spec.topology.version',
        topology.version,
        `version cannot be decreased from "${before.version.slice(1)}" to "${topology.version.slice(1)}"; allowed: newer ones ` +
          `of v${oldVersion.major}.${oldVersion.minor} and any of v${oldVersion.major}.${oldVersion.minor + 1}`,
      ),
    );
  }
  return errors;
}

function validateMetadata(topology: Topology): FieldError[] {
  const errors: FieldError[] = [];
  const check = (metadata: TemplateMetadata | undefined, path: string): void => {
    errors.push(...validateTemplateMetadata(metadata, path));
  };
  check(topology.controlPlane?.metadata, 'spec.topology.controlPlane.metadata');
  for (const kind of ['machineDeployments', 'machinePools'] as const) {
    topology.workers?.[kind]?.forEach((worker, i) => {
      check(worker.metadata, `spec.topology.workers.${kind}[${i}].metadata`);
    });
  }
  return errors;
}

function validateConcurrency(value: string | undefined): FieldError[] {
  if (value === undefined) return [];
  const path = `metadata.annotations.${upgradeConcurrencyAnnotation}`;
  if (!/^[+-]?[0-9]+$/.test(value)) {
    const cause = `could not parse the value of the annotation: strconv.Atoi: parsing ${JSON.stringify(value)}: invalid syntax`;
    return [fieldError.invalid(path, value, cause)];
  }
  return Number(value) < 1 ? [fieldError.invalid(path, value, 'value cannot be less than 1')] : [];
}

/** an autoscaler and a fixed number would fight over the replicas */
function validateWorkers({ metadata }: Cluster, topology: Topology): FieldError[] {
  const errors: FieldError[] = [];
  for (const worker of topology.workers?.machineDeployments ?? []) {
    const annotations = worker.metadata?.annotations ?? {};
    const scaled =
      annotations[autoscalerMinSizeAnnotation] !== undefined || annotations[autoscalerMaxSizeAnnotation] !== undefined;
    if (worker.replicas === undefined || !scaled) continue;
    errors.push(
      fieldError.invalid(
        `spec.topology.workers.machineDeployments[${worker.name}].replicas`,
        worker.replicas,
        `cannot be set for cluster "${metadata.name}" in namespace "${metadata.namespace}" if the same MachineDeploymentTopology has autoscaler annotations`,
      ),
    );
  }
  return errors;
}
