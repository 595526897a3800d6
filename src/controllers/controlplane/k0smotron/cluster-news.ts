import type { Cluster } from '../../../api/index.ts';
import { deepEqual } from '../../../machinery/index.ts';
import type { Predicate } from '../../../runtime/index.ts';

/** A Cluster changes all the time; its hosted control plane cares for little of it. */
export const clusterMatters: Predicate<Cluster> = (event) =>
  event.type !== 'update' ||
  event.object.spec.paused !== event.old.spec.paused ||
  !deepEqual(event.object.spec.controlPlaneEndpoint, event.old.spec.controlPlaneEndpoint) ||
  !deepEqual(event.object.spec.clusterNetwork, event.old.spec.clusterNetwork) ||
  !deepEqual(event.object.spec.infrastructureRef, event.old.spec.infrastructureRef) ||
  event.object.metadata.deletionTimestamp !== event.old.metadata.deletionTimestamp;
