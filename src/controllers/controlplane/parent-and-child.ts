import type { KubeObject } from '../../machinery/index.ts';
import { changedBesidesStatus, type Predicate } from '../../runtime/index.ts';

// Kinds of Cluster API that make one object of a provider's own kind each, which does the work: what one of them is to hear of
// the other. Each shows the other's status, and would wake it by that.

type Parent = KubeObject & { status?: { initialization?: { controlPlaneInitialized?: boolean } } };

const isInitialized = ({ status }: Parent): boolean => status?.initialization?.controlPlaneInitialized === true;

/** What a child reads of its parent: everything but what the parent shows of the child itself. */
export const parentChanged: Predicate<Parent> = (event) =>
  changedBesidesStatus(event) || (event.type === 'update' && isInitialized(event.object) !== isInitialized(event.old));
