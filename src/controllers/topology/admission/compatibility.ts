import type { Cluster, ClusterClass, TemplateReference } from '../../../api/index.ts';
import { type FieldError, fieldError, parseApiVersion } from '../../../machinery/index.ts';
import type { TopologyCluster } from '../common.ts';

/** Whether Clusters of one class may go on with another, or with a changed one: objects that exist keep their kinds. */
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

/** Classes of workers that a topology names and the ClusterClass does not have. */
export function missingClasses(cluster: TopologyCluster, { spec, metadata }: ClusterClass): FieldError[] {
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

/** Classes of workers that leave a ClusterClass while Clusters use them. */
export function classesInUse(desired: ClusterClass, clusters: readonly Cluster[]): FieldError[] {
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

const maxNames = 5;

export function shortList(names: readonly string[]): string {
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  return `${names.slice(0, maxNames).join(', ')}${more}`;
}
