import type { KubeObject } from '../../../machinery/index.ts';
import { foreignReason, type ReconcileContext } from '../../../runtime/index.ts';
import { type Conditioned, conditionOf } from '../../shared/index.ts';

/** Emits a Warning for a new condition message, but not on every retry. `object` is the state before the reconcile. */
export function warnOfNews(
  { events }: Pick<ReconcileContext, 'events'>,
  object: KubeObject,
  type: string,
  { reason, message }: { readonly reason: string; readonly message: string },
): void {
  const before = conditionOf(object as Conditioned, type);
  if (before?.status === 'False' && before.message === message) return;
  events.event(object, 'Warning', foreignReason(reason), message);
}
