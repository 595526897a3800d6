import type { EventType } from '../../../runtime/index.ts';
import type { ClusterScope } from './scope.ts';

/** Reasons reach the wire as upstream's recorder writes them: only the first letter is a capital. */
export function eventReason(reason: string): string {
  return reason.slice(0, 1).toUpperCase() + reason.slice(1).toLowerCase();
}

export function record(scope: ClusterScope, reason: string, message: string, type: EventType = 'Normal'): void {
  scope.context.events.event(scope.original, type, eventReason(reason), message);
}
