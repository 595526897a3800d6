import {
  type ClassHealthCheck,
  type Cluster,
  type ClusterClass,
  definesHealthCheck,
  isAutoscaled,
  type MachineDeploymentRemediation,
  type TemplateReference,
  type TopologyHealthCheck,
} from '../../../api/index.ts';
import { type FieldError, fieldError, parseApiVersion } from '../../../machinery/index.ts';
import type { TopologyCluster } from '../common.ts';

/** Checks whether Clusters may change to another class, or to a changed one: existing objects keep their kinds. */
export function incompatibilities(current: ClusterClass, desired: ClusterClass): FieldError[] {
  const errors: FieldError[] = [];
  const same = (before: TemplateReference | undefined, after: TemplateReference | undefined, path: string): void => {
    if (!before && !after) return;
    if (!before || !after) {
      errors.push(fieldError.forbidden(path, before ? 'cannot be removed' : 'cannot be added'));
      return;
    }
    const [left, right] = [parseApiVersion(before.apiVersion).group, parseApiVersion(after.apiVersion).group];
    if (left !== right || before.kind !== after.kind) {
      const detail = `cannot change from ${before.kind} of ${left} to ${after.kind} of ${right}: only templates of the same kind can take its place`;
      errors.push(fieldError.forbidden(path, detail));
    }
  };
  const [old, next] = [current.spec, desired.spec];
  same(old.infrastructure.templateRef, next.infrastructure.templateRef, 'spec.infrastructure.templateRef');
  same(old.controlPlane.templateRef, next.controlPlane.templateRef, 'spec.controlPlane.templateRef');
  same(
    old.controlPlane.machineInfrastructure?.templateRef,
    next.controlPlane.machineInfrastructure?.templateRef,
    'spec.controlPlane.machineInfrastructure.templateRef',
  );
  for (const worker of next.workers?.machineDeployments ?? []) {
    const before = old.workers?.machineDeployments?.find((candidate) => candidate.class === worker.class);
    if (!before) continue;
    const path = `spec.workers.machineDeployments[${worker.class}].infrastructure.templateRef`;
    same(before.infrastructure.templateRef, worker.infrastructure.templateRef, path);
  }
  return errors;
}

/** Lists worker classes that a topology uses and the ClusterClass lacks. */
function missingClasses(cluster: TopologyCluster, { spec, metadata }: ClusterClass): FieldError[] {
  const known = (spec.workers?.machineDeployments ?? []).map((worker) => worker.class);
  return (cluster.spec.topology.workers?.machineDeployments ?? []).flatMap((worker, i) =>
    known.includes(worker.class)
      ? []
      : [
          fieldError.invalid(
            `spec.topology.workers.machineDeployments[${i}].class`,
            worker.class,
            `MachineDeploymentClass with name "${worker.class}" does not exist in ClusterClass "${metadata.name}"; it has: ${known.join(', ') || 'none'}`,
          ),
        ],
  );
}

/** Lists worker classes that are removed from a ClusterClass while Clusters use them. */
function classesInUse(desired: ClusterClass, clusters: readonly Cluster[]): FieldError[] {
  const kept = new Set((desired.spec.workers?.machineDeployments ?? []).map((worker) => worker.class));
  const users = new Map<string, string[]>();
  for (const { metadata, spec } of clusters) {
    for (const worker of spec.topology?.workers?.machineDeployments ?? []) {
      if (kept.has(worker.class)) continue;
      const names = users.get(worker.class) ?? [];
      if (!names.includes(metadata.name ?? '')) names.push(metadata.name ?? '');
      users.set(worker.class, names);
    }
  }
  return [...users].map(([name, names]) =>
    fieldError.forbidden(
      'spec.workers.machineDeployments',
      `MachineDeploymentClass "${name}" cannot be removed: it is used by Cluster ${shortList(names)}`,
    ),
  );
}

/** Lists what a changed class removes although Clusters need it. */
export function takenFromClusters(
  old: ClusterClass,
  desired: ClusterClass,
  clusters: readonly TopologyCluster[],
): FieldError[] {
  return [
    ...classesInUse(desired, clusters),
    ...versionsInUse(desired, clusters),
    ...healthChecksInUse(old, desired, clusters),
    ...clusters.flatMap((cluster) =>
      autoscaledWithReplicas(cluster, desired).map(({ name, index }) =>
        fieldError.forbidden(
          `spec.workers.machineDeployments[${index}].metadata.annotations`,
          `the limits of an autoscaler cannot be set: Cluster ${nameOf(cluster)} sets replicas of machine deployment ${name}`,
        ),
      ),
    ),
  ].slice(0, maxErrors);
}

/** limit of errors, to keep the message readable */
const maxErrors = 20;

const nameOf = ({ metadata }: Cluster): string => `${metadata.namespace}/${metadata.name}`;

function versionsInUse({ spec }: ClusterClass, clusters: readonly TopologyCluster[]): FieldError[] {
  const listed = spec.kubernetesVersions;
  if (!listed) return [];
  const users = new Map<string, string[]>();
  for (const cluster of clusters) {
    const { version } = cluster.spec.topology;
    if (!listed.includes(version)) users.set(version, [...(users.get(version) ?? []), nameOf(cluster)]);
  }
  return [...users].map(([version, names]) =>
    fieldError.forbidden('spec.kubernetesVersions', `${version} is missing, which Cluster ${shortList(names)} has`),
  );
}

/** A topology that only enables a health check relies on the class to define it. */
const reliesOnClass = (check: TopologyHealthCheck<MachineDeploymentRemediation> | undefined): boolean =>
  check?.enabled === true && !definesHealthCheck(check);

function healthChecksInUse(
  old: ClusterClass,
  desired: ClusterClass,
  clusters: readonly TopologyCluster[],
): FieldError[] {
  const errors: FieldError[] = [];
  const kept = (
    [before, after]: readonly [ClassHealthCheck | undefined, ClassHealthCheck | undefined],
    path: string,
    isUser: (cluster: TopologyCluster) => boolean,
  ): void => {
    if (!definesHealthCheck(before) || definesHealthCheck(after)) return;
    const names = clusters.filter(isUser).map(nameOf);
    if (names.length === 0) return;
    const detail = `cannot be removed: it is used by Cluster ${shortList(names)}`;
    errors.push(fieldError.forbidden(`${path}.healthCheck`, detail));
  };
  kept([old.spec.controlPlane.healthCheck, desired.spec.controlPlane.healthCheck], 'spec.controlPlane', (cluster) =>
    reliesOnClass(cluster.spec.topology.controlPlane?.healthCheck),
  );
  desired.spec.workers?.machineDeployments?.forEach((worker, i) => {
    const before = old.spec.workers?.machineDeployments?.find((candidate) => candidate.class === worker.class);
    const isUser = ({ spec }: TopologyCluster): boolean =>
      (spec.topology.workers?.machineDeployments ?? []).some(
        (one) => one.class === worker.class && reliesOnClass(one.healthCheck),
      );
    kept([before?.healthCheck, worker.healthCheck], `spec.workers.machineDeployments[${i}]`, isUser);
  });
  return errors;
}

/** Lists machine deployments that set replicas although the class leaves them to an autoscaler. */
function autoscaledWithReplicas(
  { spec }: TopologyCluster,
  clusterClass: ClusterClass,
): { name: string; class: string; replicas: number; index: number }[] {
  const classes = clusterClass.spec.workers?.machineDeployments ?? [];
  return (spec.topology.workers?.machineDeployments ?? []).flatMap(({ name, replicas, class: ofClass }) => {
    const index = classes.findIndex((candidate) => candidate.class === ofClass);
    const found = classes[index];
    return replicas !== undefined && found && isAutoscaled(found) ? [{ name, class: ofClass, replicas, index }] : [];
  });
}

/** Lists what a Cluster requires and its class lacks. */
export function misfits(cluster: TopologyCluster, clusterClass: ClusterClass): FieldError[] {
  const { controlPlane, workers } = cluster.spec.topology;
  const { spec, metadata } = clusterClass;
  const errors = missingClasses(cluster, clusterClass);
  const plane = 'spec.topology.controlPlane.healthCheck';
  if (definesHealthCheck(controlPlane?.healthCheck) && !spec.controlPlane.machineInfrastructure) {
    const detail = `can be set only if spec.controlPlane.machineInfrastructure is set in ClusterClass ${metadata.name}`;
    errors.push(fieldError.forbidden(plane, detail));
  }
  const nothingToCheck = (path: string): FieldError =>
    fieldError.forbidden(
      `${path}.enabled`,
      `cannot be true: neither the Cluster nor ClusterClass ${metadata.name} says what is unhealthy`,
    );
  if (reliesOnClass(controlPlane?.healthCheck) && !definesHealthCheck(spec.controlPlane.healthCheck)) {
    errors.push(nothingToCheck(plane));
  }
  for (const worker of workers?.machineDeployments ?? []) {
    const ofClass = spec.workers?.machineDeployments?.find((candidate) => candidate.class === worker.class);
    if (!ofClass || !reliesOnClass(worker.healthCheck) || definesHealthCheck(ofClass.healthCheck)) continue;
    errors.push(nothingToCheck(`spec.topology.workers.machineDeployments[${worker.name}].healthCheck`));
  }
  for (const { name, replicas, class: ofClass } of autoscaledWithReplicas(cluster, clusterClass)) {
    const detail = `cannot be set: its class ${ofClass} has annotations that leave replicas to an autoscaler`;
    errors.push(fieldError.invalid(`spec.topology.workers.machineDeployments[${name}].replicas`, replicas, detail));
  }
  return errors;
}

const maxNames = 5;

export function shortList(names: readonly string[]): string {
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  return `${names.slice(0, maxNames).join(', ')}${more}`;
}
