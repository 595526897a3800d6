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

/** Annotations of the Deployment that its newest ReplicaSet shows too. */
export function copiedAnnotations({ metadata }: Deployment): Record<string, string> {
  const copied: Record<string, string> = {};
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) if (!notCopied.has(key)) copied[key] = value;
  return copied;
}

/** By which it is told later whether somebody scaled the Deployment, and from what. */
export function sizeAnnotations(deployment: Deployment): Record<string, string> {
  return {
    [desiredReplicasAnnotation]: String(replicasOf(deployment)),
    [maxReplicasAnnotation]: String(replicasOf(deployment) + rolloutLimits(deployment).maxSurge),
  };
}
