import type { EventReason, EventType } from '../../../runtime/index.ts';
import type { ClusterScope } from './scope.ts';

type OnTheWire<R extends string> = Capitalize<Lowercase<R>>;
/** A reason whose wire form is a known event reason. */
type Known<R extends string> = OnTheWire<R> extends EventReason ? R : never;

/** Converts a reason to the form of upstream's recorder, where only the first letter is upper case. */
export function eventReason<R extends string>(reason: R): OnTheWire<R> {
  return (reason.slice(0, 1).toUpperCase() + reason.slice(1).toLowerCase()) as OnTheWire<R>;
}

export function record<R extends string>(
  scope: ClusterScope,
  reason: R & Known<R>,
  message: string,
  type: EventType = 'Normal',
): void {
  scope.context.events.event(scope.original, type, eventReason(reason) as EventReason, message);
}
