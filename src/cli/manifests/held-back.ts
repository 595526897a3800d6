import type { KubeObject } from '../../machinery/index.ts';
import { objectsAt, textAt } from '../describe/fields.ts';

/** What keeps an object that is being deleted: its finalizers, and for a namespace what is still in it. */
export function whatHolds(object: KubeObject): string {
  const finalizers = object.metadata.finalizers ?? [];
  const remaining = (objectsAt(object, 'status', 'conditions') ?? [])
    .filter((condition) => /Remaining$|Failure$/.test(textAt(condition, 'type') ?? ''))
    .filter((condition) => textAt(condition, 'status') === 'True')
    .map((condition) => textAt(condition, 'message') ?? '');
  const parts = [...(finalizers.length > 0 ? [`finalizers ${finalizers.join(', ')}`] : []), ...remaining];
  return parts.length === 0 ? '' : `: ${parts.join('; ')}`;
}
