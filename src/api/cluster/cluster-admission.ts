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
import { unsafeClassNameAnnotation, unsafeVersionAnnotation, upgradeConcurrencyAnnotation } from './labels.ts';
import { isAutoscaled, type MachineGroup, validateMachineGroup } from './machine-group.ts';
import type { Cluster, ClusterSpec, Topology } from './types.ts';
import { compareKubernetesVersions, parseKubernetesVersion, withLeadingV } from './version.ts';

// Checks what upstream's webhook refuses of a Cluster and what needs no other objects. The topology controller checks
// what depends on the ClusterClass or the state of the control plane.

export const clusterStrategy: ResourceStrategy<Cluster> = {
  applyDefaults(draft) {
    const { topology } = draft.spec ?? {};
    if (topology?.version !== undefined) topology.version = withLeadingV(topology.version);
  },
  validateWritten: validateDroppedEntries,
  validateCreate: (object) => validateCluster(object, undefined),
  validateUpdate: (object, old, context) => [
    ...validateDroppedEntries(object, old, context),
    ...validateCluster(object, old),
  ],
};

function validateCluster(cluster: Cluster, old: Cluster | undefined): FieldError[] {
  const { spec, metadata } = cluster;
  const errors: FieldError[] = [];
  for (const problem of checkLabelValue(metadata.name ?? '')) {
    errors.push(fieldError.invalid('metadata.name', metadata.name, `must be a valid label value ${problem}`));
  }
  // The schema already reports a missing spec.
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

/** Overlapping ranges could give a Pod and a Service the same address. */
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

/** Semantic versions allow only a pre-release and a build suffix. The version of a Machine is less strict. */
const semanticSuffix = /^(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

function validateTopology(cluster: Cluster, topology: Topology, old: Cluster | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const annotations = cluster.metadata.annotations ?? {};
  const version = parseKubernetesVersion(topology.version ?? '');
  const isStored = topology.version === old?.spec?.topology?.version;
  if (version === undefined || !(isStored || semanticSuffix.test(version.suffix))) {
    errors.push(
      fieldError.invalid('spec.topology.version', topology.version, 'version must be a valid semantic version'),
    );
  }
  errors.push(...validateConcurrency(annotations[upgradeConcurrencyAnnotation]));
  errors.push(...validateWorkers(cluster, topology));
  const before = old?.spec?.topology;
  // Values that were accepted before must not block other changes.
  if (!deepEqual(topology, before)) errors.push(...validateGroups(topology));
  if (old === undefined) return errors;
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

function validateGroups({ controlPlane, workers }: Topology): FieldError[] {
  const of = (groups: readonly (MachineGroup & { name: string })[] | undefined, kind: string): FieldError[] =>
    (groups ?? []).flatMap((group) =>
      validateMachineGroup(group, `spec.topology.workers.${kind}[${group.name}]`, 'worker'),
    );
  return [
    ...(controlPlane ? validateMachineGroup(controlPlane, 'spec.topology.controlPlane', 'control plane') : []),
    ...of(workers?.machineDeployments, 'machineDeployments'),
    ...of(workers?.machinePools, 'machinePools'),
  ];
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

/** An autoscaler and fixed replicas would overwrite each other. */
function validateWorkers({ metadata }: Cluster, topology: Topology): FieldError[] {
  const errors: FieldError[] = [];
  for (const worker of topology.workers?.machineDeployments ?? []) {
    if (worker.replicas === undefined || !isAutoscaled(worker)) continue;
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
