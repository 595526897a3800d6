import type { KubeObject } from '../../machinery/index.ts';
import { objectsAt, textAt } from '../describe/fields.ts';

/** Describes what blocks a deletion: finalizers, or the content of a namespace. */
export function whatHolds(object: KubeObject): string {
  const finalizers = object.metadata.finalizers ?? [];
  const remaining = (objectsAt(object, 'status', 'conditions') ?? [])
    .filter((condition) => /Remaining$|Failure$/.test(textAt(condition, 'type') ?? ''))
    .filter((condition) => textAt(condition, 'status') === 'True')
    .map((condition) => textAt(condition, 'message') ?? '');
  const parts = [...(finalizers.length > 0 ? [`finalizers ${finalizers.join(', ')}`] : []), ...remaining];
  return parts.length === 0 ? '' : `: ${parts.join('; ')}`;
}
