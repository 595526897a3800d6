import type { KubeObject, Resource } from '../../machinery/index.ts';
import { changedBesidesStatus, not, type Predicate, type Watch, watchOwned } from '../../runtime/index.ts';

/**
 * Watches for a parent with one child object that does the work. Changes of `decisive` facts, such as a usable API, are
 * handled at once; other status changes with low priority.
 */
export function childWatches<T extends KubeObject>(
  child: Resource<T>,
  parent: Resource,
  decisive: (object: T) => string,
): Watch[] {
  const turned: Predicate<T> = (event) =>
    changedBesidesStatus(event) || (event.type === 'update' && decisive(event.object) !== decisive(event.old));
  return [
    watchOwned(child, parent, { anyOwner: true, predicates: [turned] }),
    watchOwned(child, parent, { anyOwner: true, predicates: [not(turned)], patient: true }),
  ];
}
