import type { KubeObject, Resource } from '../../machinery/index.ts';
import { changedBesidesStatus, not, type Predicate, type Watch, watchOwned } from '../../runtime/index.ts';

/**
 * What a parent hears of the one child that does its work. `decisive` is what others wait for, that an API answers or a server runs;
 * the rest of the child's status is shown when there is nothing else to do.
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
