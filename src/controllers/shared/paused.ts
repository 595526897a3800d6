import type { Cluster } from '../../api/index.ts';
import type { KubeObject } from '../../machinery/index.ts';
import { type Conditioned, setVerdict, type Verdict } from './conditions.ts';
import { type LegacyConditioned, setLegacy } from './legacy-conditions.ts';
import { pausedAnnotation } from './names.ts';

/** Lists the reasons why an object is paused; empty if it is not. */
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
 * Sets Paused on a draft. Also adapts v1beta1 Ready, because v1beta1 has no such condition, and explains a deletion
 * that is blocked by the pause.
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
