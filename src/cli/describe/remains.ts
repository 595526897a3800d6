import type { ClusterObjects } from './cluster-objects.ts';
import { conditionsOf, findCondition } from './conditions.ts';
import { type AnyObject, referenceAt, referenceKey, referenceOf } from './fields.ts';

/** Remaining objects of a cluster that is being deleted. */
export interface Remains {
  /** current step of the deletion */
  phase: 'workers' | 'control plane' | 'infrastructure' | 'cluster';
  /** remaining objects of this step, as `Machine/a` */
  waitingFor: readonly string[];
  /** reasons that the objects report */
  reasons: readonly string[];
}

const controlPlaneLabel = 'cluster.x-k8s.io/control-plane';
const workerKinds = new Set(['MachineDeployment', 'MachineSet', 'MachinePool']);

/** Clusters are deleted in steps: workers, control plane, infrastructure, then the cluster itself. */
export function remainsOf({ cluster, objects }: ClusterObjects): Remains {
  const isControlPlaneMachine = ({ metadata }: AnyObject): boolean =>
    metadata.labels?.[controlPlaneLabel] !== undefined;
  const find = (field: string, from: AnyObject = cluster): AnyObject[] => {
    const reference = referenceAt(from, 'spec', field);
    if (!reference) return [];
    return objects.filter((object) => referenceKey(referenceOf(object)) === referenceKey(reference));
  };
  const machines = objects.filter(({ kind }) => kind === 'Machine');
  const steps: readonly [Remains['phase'], AnyObject[]][] = [
    [
      'workers',
      [
        ...machines.filter((machine) => !isControlPlaneMachine(machine)),
        ...objects.filter(({ kind }) => workerKinds.has(kind)),
      ],
    ],
    ['control plane', [...machines.filter(isControlPlaneMachine), ...find('controlPlaneRef')]],
    ['infrastructure', find('infrastructureRef')],
  ];
  const [phase, left] = steps.find(([, waiting]) => waiting.length > 0) ?? ['cluster', [cluster]];
  return {
    phase,
    waitingFor: left.map(({ kind, metadata }) => `${kind}/${metadata.name ?? ''}`).sort(),
    // A machine waits for its infrastructure, which reports the reason.
    reasons: [
      ...new Set([...left, ...left.flatMap((object) => find('infrastructureRef', object))].flatMap(reasonOf)),
    ].sort(),
  };
}

function reasonOf({ kind, metadata, ...rest }: AnyObject): string[] {
  const conditions = conditionsOf(rest, 'modern');
  const deleting = findCondition(conditions, 'Deleting');
  // Infrastructure has no condition for its deletion; the reason of an unready one also blocks the deletion.
  const ready = metadata.deletionTimestamp === undefined ? undefined : findCondition(conditions, 'Ready');
  const told = deleting ? deleting.status === 'True' : ready?.status === 'False';
  const message = (told && (deleting ?? ready)?.message) || '';
  return message === '' ? [] : [`${kind}/${metadata.name ?? ''}: ${message.replaceAll('\n', '; ')}`];
}

/** Describes the remains in one line: single objects by name, several of a kind by count. */
export function describeRemains({ phase, waitingFor }: Remains): string {
  const byKind = new Map<string, string[]>();
  for (const object of waitingFor) {
    const kind = object.slice(0, object.indexOf('/'));
    byKind.set(kind, [...(byKind.get(kind) ?? []), object]);
  }
  const parts = [...byKind].map(([kind, objects]) =>
    objects.length === 1 ? objects[0] : `${objects.length} ${kind}s`,
  );
  return `deleting the ${phase}: ${parts.join(', ')}`;
}
