import type { TypeTable } from '../schema/type-table.ts';

export const eventsTypes: TypeTable = {
  alias: 'events',
  group: 'events.k8s.io',
  version: 'v1',
  componentPrefix: 'io.k8s.api.events.v1',
  text: `
Event kind # A report that something happened to an object; kept for a limited time.
  metadata                   1  meta.ObjectMeta        always
  eventTime                  2  MicroTime              required  # When it was first observed.
  series                     3  *EventSeries                     # The series this event belongs to, if it repeats.
  reportingController        4  string                           # The controller that reported it.
  reportingInstance          5  string                           # Which instance of that controller.
  action                     6  string                           # What was done or failed.
  reason                     7  string                           # Why, as one short CamelCase word.
  regarding                  8  core.ObjectReference             # The object this is about.
  related                    9  *core.ObjectReference            # A second object that takes part.
  note                      10  string                           # What happened, for people.
  type                      11  string                           # Normal or Warning.
  deprecatedSource          12  core.EventSource
  deprecatedFirstTimestamp  13  Time
  deprecatedLastTimestamp   14  Time
  deprecatedCount           15  int32

EventSeries
  count             1  int32      required
  lastObservedTime  2  MicroTime  required
`,
};
