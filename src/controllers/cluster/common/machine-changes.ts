import type { Machine } from '../../../api/index.ts';
import { deepEqual } from '../../../machinery/index.ts';
import type { Predicate } from '../../../runtime/index.ts';

/** Machine status changes often; controllers that aggregate machines need only condition changes. */
export const machineConditionsChanged: Predicate<Machine> = (event) =>
  event.type !== 'update' ||
  event.object.metadata.deletionTimestamp !== event.old.metadata.deletionTimestamp ||
  !deepEqual(event.object.status?.conditions, event.old.status?.conditions);
