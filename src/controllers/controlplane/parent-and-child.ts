import type { KubeObject, Resource } from '../../machinery/index.ts';
import { changedBesidesStatus, not, type Predicate, type Watch, watchOwned } from '../../runtime/index.ts';

// Kinds of Cluster API that make one object of a provider's own kind each, which does the work: what one of them is to hear of
// the other. Each shows the other's status, and would wake it by that.

type Parent = KubeObject & { status?: { initialization?: { controlPlaneInitialized?: boolean } } };

const isInitialized = ({ status }: Parent): boolean => status?.initialization?.controlPlaneInitialized === true;

/** What a child reads of its parent: everything but what the parent shows of the child itself. */
export const parentChanged: Predicate<Parent> = (event) =>
  changedBesidesStatus(event) || (event.type === 'update' && isInitialized(event.object) !== isInitialized(event.old));

/**
 * What a parent hears of its child. `decisive` is what machines and others wait for, that the API answers above all; the rest of
 * the child's status is shown when there is nothing else to do.
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
