import type { Cluster } from '../../api/index.ts';
import type { KubeObject } from '../../machinery/index.ts';
import type { Verdict } from './conditions.ts';
import { pausedAnnotation } from './names.ts';

/** What keeps an object from being reconciled; empty when nothing does. */
export function pausedBy(object: KubeObject, cluster: Cluster | undefined): string[] {
  const reasons: string[] = [];
  if (cluster?.spec.paused === true) reasons.push('Cluster spec.paused is set to true');
  if (object.metadata.annotations?.[pausedAnnotation] !== undefined) {
    reasons.push(`${object.kind} has the ${pausedAnnotation} annotation`);
  }
  return reasons;
}

export function pausedVerdict(reasons: readonly string[]): Verdict {
  return reasons.length === 0
    ? { status: 'False', reason: 'NotPaused' }
    : { status: 'True', reason: 'Paused', message: reasons.join(', ') };
}
