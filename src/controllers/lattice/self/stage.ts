import type { LatticeCluster } from '../../../api/index.ts';
import { managementAnnotation, parentAnnotation } from './names.ts';

/** Location of a LatticeCluster's objects: here, moving into the cluster, in the cluster, or moving back. */
export type Stage = 'here' | 'pivoting' | 'self' | 'unpivoting';

const stages: ReadonlySet<string> = new Set<Stage>(['pivoting', 'self', 'unpivoting']);

/** Stored in an annotation, not in status: restoring a backup must not make both sides active. */
export function stageOf({ metadata: { annotations } }: LatticeCluster): Stage {
  const value = annotations?.[managementAnnotation];
  return value !== undefined && stages.has(value) ? (value as Stage) : 'here';
}

export function setStage(draft: LatticeCluster, stage: Stage): void {
  const { [managementAnnotation]: _, ...annotations } = draft.metadata.annotations ?? {};
  draft.metadata.annotations = stage === 'here' ? annotations : { ...annotations, [managementAnnotation]: stage };
}

/** Tells whether the object is the copy inside its own cluster. */
export const isInside = ({ metadata: { annotations } }: LatticeCluster): boolean =>
  annotations?.[parentAnnotation] !== undefined;

/**
 * Tells whether a cluster manages itself. One with endpoints is a parent of others, so the controllers run in it
 * anyway.
 */
export const managesItself = (cluster: LatticeCluster): boolean =>
  (cluster.spec.endpoints ?? cluster.spec.parentConfig) !== undefined && !isInside(cluster);

/** Tells whether objects of the cluster are elsewhere or moving. */
export const isElsewhere = (cluster: LatticeCluster): boolean => stageOf(cluster) !== 'here';
