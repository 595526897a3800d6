import type { Cluster } from '../../api/index.ts';
import type { KubeObject } from '../../machinery/index.ts';
import { type Conditioned, setVerdict, type Verdict } from './conditions.ts';
import { type LegacyConditioned, setLegacy } from './legacy-conditions.ts';
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

/**
 * Says on a draft whether it is paused. Nobody looks at a paused object any more: readers of v1beta1, who know no such condition,
 * are told by Ready, and whoever deletes it is told why nothing happens.
 */
export function setPausedCondition<T extends KubeObject & Conditioned & LegacyConditioned>(
  draft: T,
  reasons: readonly string[],
  nowMs: number,
): void {
  setVerdict(draft, 'Paused', pausedVerdict(reasons), nowMs);
  if (reasons.length === 0) return;
  const why = reasons.join(', ');
  const message = `${why}: nothing is observed or changed until it is resumed`;
  setLegacy(draft, 'Ready', { status: 'Unknown', reason: 'Paused', message }, nowMs);
  if (draft.metadata.deletionTimestamp === undefined) return;
  const waiting = `Deletion waits until ${draft.kind} ${draft.metadata.name} is resumed: ${why}`;
  setVerdict(draft, 'Deleting', { status: 'True', reason: 'Paused', message: waiting }, nowMs);
}
