import type { LatticeCluster } from '../../../api/index.ts';
import { managementAnnotation, parentAnnotation } from './names.ts';

/** Where the objects of a LatticeCluster are: with us, on their way into the cluster, in it, or on their way back. */
export type Stage = 'here' | 'pivoting' | 'self' | 'unpivoting';

const stages: ReadonlySet<string> = new Set<Stage>(['pivoting', 'self', 'unpivoting']);

/** An annotation, not status: a backup that is restored must not make two owners. */
export function stageOf({ metadata: { annotations } }: LatticeCluster): Stage {
  const value = annotations?.[managementAnnotation];
  return value !== undefined && stages.has(value) ? (value as Stage) : 'here';
}

export function setStage(draft: LatticeCluster, stage: Stage): void {
  const { [managementAnnotation]: _, ...annotations } = draft.metadata.annotations ?? {};
  draft.metadata.annotations = stage === 'here' ? annotations : { ...annotations, [managementAnnotation]: stage };
}

/** The object is the one inside of the cluster it stands for. */
export const isInside = ({ metadata: { annotations } }: LatticeCluster): boolean =>
  annotations?.[parentAnnotation] !== undefined;

/** A cluster with endpoints is to be a parent of others, so the controllers run in it: it looks after itself, too. */
export const managesItself = (cluster: LatticeCluster): boolean =>
  (cluster.spec.endpoints ?? cluster.spec.parentConfig) !== undefined && !isInside(cluster);

/** Its objects are not, or not all, where this object is. */
export const isElsewhere = (cluster: LatticeCluster): boolean => stageOf(cluster) !== 'here';
