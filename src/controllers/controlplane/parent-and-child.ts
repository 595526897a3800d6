import type { KubeObject } from '../../machinery/index.ts';
import { changedBesidesStatus, type Predicate } from '../../runtime/index.ts';

// Predicates for provider kinds where a Cluster API object owns one object that does the work. Both copy status from
// each other, so unfiltered events would cause endless reconciles.

type Parent = KubeObject & { status?: { initialization?: { controlPlaneInitialized?: boolean } } };

const isInitialized = ({ status }: Parent): boolean => status?.initialization?.controlPlaneInitialized === true;

/** Parent changes that affect the child: everything except status copied from the child. */
export const parentChanged: Predicate<Parent> = (event) =>
  changedBesidesStatus(event) || (event.type === 'update' && isInitialized(event.object) !== isInitialized(event.old));
