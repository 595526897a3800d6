import type { ClusterObjects } from './cluster-objects.ts';
import { conditionsOf, findCondition } from './conditions.ts';
import { type AnyObject, referenceAt, referenceKey, referenceOf } from './fields.ts';

/** What a cluster that is being deleted still waits for. */
export interface Remains {
  /** the step its deletion is at */
  phase: 'workers' | 'control plane' | 'infrastructure' | 'cluster';
  /** objects of this step that are still there, as `Machine/a` */
  waitingFor: readonly string[];
  /** what the objects say about why they are still there */
  reasons: readonly string[];
}

const controlPlaneLabel = 'cluster.x-k8s.io/control-plane';
const workerKinds = new Set(['MachineDeployment', 'MachineSet', 'MachinePool']);

/** Clusters go in steps: workers, then the control plane, then infrastructure, then the cluster itself. */
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
    // a machine waits for its infrastructure, which knows what for
    reasons: [
      ...new Set([...left, ...left.flatMap((object) => find('infrastructureRef', object))].flatMap(reasonOf)),
    ].sort(),
  };
}

function reasonOf({ kind, metadata, ...rest }: AnyObject): string[] {
  const conditions = conditionsOf(rest, 'modern');
  const deleting = findCondition(conditions, 'Deleting');
  // Infrastructure has no condition about its end: what keeps it from being ready keeps it from going.
  const ready = metadata.deletionTimestamp === undefined ? undefined : findCondition(conditions, 'Ready');
  const told = deleting ? deleting.status === 'True' : ready?.status === 'False';
  const message = (told && (deleting ?? ready)?.message) || '';
  return message === '' ? [] : [`${kind}/${metadata.name ?? ''}: ${message.replaceAll('\n', '; ')}`];
}

/** The remains as one line: objects that are alone by name, several of a kind by their number. */
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
