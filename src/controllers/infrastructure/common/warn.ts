import type { KubeObject } from '../../../machinery/index.ts';
import { foreignReason, type ReconcileContext } from '../../../runtime/index.ts';
import { type Conditioned, conditionOf } from '../../shared/index.ts';

/**
 * A Warning event for what an object is about to say in a condition: when it is said first, and not with every further try.
 * `object` is as it was before the pass.
 */
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
