import type { Deployment } from '../../../api/index.ts';
import { lastAppliedAnnotation } from '../common/names.ts';
import { rolloutLimits } from './limits.ts';
import { replicasOf } from './scope.ts';

export const revisionAnnotation = 'deployment.kubernetes.io/revision';
export const revisionHistoryAnnotation = 'deployment.kubernetes.io/revision-history';
export const desiredReplicasAnnotation = 'deployment.kubernetes.io/desired-replicas';
export const maxReplicasAnnotation = 'deployment.kubernetes.io/max-replicas';

const notCopied: ReadonlySet<string> = new Set([
  lastAppliedAnnotation,
  revisionAnnotation,
  revisionHistoryAnnotation,
  desiredReplicasAnnotation,
  maxReplicasAnnotation,
  'deprecated.deployment.rollback.to',
]);

/** Returns the Deployment's annotations that are copied to its newest ReplicaSet. */
export function copiedAnnotations({ metadata }: Deployment): Record<string, string> {
  const copied: Record<string, string> = {};
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) if (!notCopied.has(key)) copied[key] = value;
  return copied;
}

/** Annotations from which a later reconcile detects that the Deployment was scaled, and from which size. */
export function sizeAnnotations(deployment: Deployment): Record<string, string> {
  return {
    [desiredReplicasAnnotation]: String(replicasOf(deployment)),
    [maxReplicasAnnotation]: String(replicasOf(deployment) + rolloutLimits(deployment).maxSurge),
  };
}
