import {
  asJson,
  asTyped,
  asUnstructured,
  type FieldError,
  fieldError,
  type JsonObject,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
  validateImmutable,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import {
  type CoreEvent,
  type EventSeries,
  eventColumns,
  eventRow,
  eventTtlMs,
  type ObjectReference,
  referenceSelectors,
  validateEvent,
} from '../core/event.ts';

/** The events.k8s.io form of an event. It is stored as a core event. */
export interface Event extends KubeObject {
  eventTime?: string | null;
  series?: EventSeries;
  reportingController?: string;
  reportingInstance?: string;
  action?: string;
  reason?: string;
  regarding?: ObjectReference;
  related?: JsonObject;
  note?: string;
  type?: string;
  deprecatedSource?: { component?: string; host?: string };
  deprecatedFirstTimestamp?: string | null;
  deprecatedLastTimestamp?: string | null;
  deprecatedCount?: number;
}

/** [field of events.k8s.io, field of the stored form]; other fields have the same name in both */
const names: readonly (readonly [string, string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
];
const toStored = new Map(names);
const fromStored = new Map(names.map(([view, stored]) => [stored, view]));

function rename(object: KubeObject, renames: ReadonlyMap<string, string>, apiVersion: string): KubeObject {
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(asJson(object))) result[renames.get(key) ?? key] = value;
  result['apiVersion'] = apiVersion;
  return asTyped<KubeObject>(result);
}

/** Returns the stored form of an event. The result shares values with the input, which is not changed. */
export function toCoreEvent(event: KubeObject): CoreEvent {
  return (event.apiVersion === 'v1' ? event : rename(event, toStored, 'v1')) as CoreEvent;
}

/** Returns the events.k8s.io form of an event. The result shares values with the input, which is not changed. */
export function fromCoreEvent(event: KubeObject): Event {
  return (event.apiVersion === 'v1' ? rename(event, fromStored, 'events.k8s.io/v1') : event) as Event;
}

function validateSeries(event: CoreEvent): FieldError[] {
  if (!event.series) return [];
  const errors: FieldError[] = [];
  if ((event.series.count ?? 0) < 2) errors.push(fieldError.invalid('series.count', '', 'should be at least 2'));
  if (!event.series.lastObservedTime) errors.push(fieldError.required('series.lastObservedTime'));
  return errors;
}

function validateCreate(object: Event): FieldError[] {
  const event = toCoreEvent(object);
  const errors = validateEvent(event, 'reportingController');
  if (!event.eventTime) errors.push(fieldError.required('eventTime'));
  if (event.type !== 'Normal' && event.type !== 'Warning') {
    errors.push(fieldError.invalid('type', '', `has invalid value: ${event.type ?? ''}`));
  }
  for (const field of ['firstTimestamp', 'lastTimestamp', 'count'] as const) {
    if (event[field]) errors.push(fieldError.invalid(field, '', 'needs to be unset'));
  }
  if (event.source?.component || event.source?.host) {
    errors.push(fieldError.invalid('source', '', 'needs to be unset'));
  }
  errors.push(...validateSeries(event));
  return errors;
}

function validateUpdate(object: Event, before: Event): FieldError[] {
  const event = toCoreEvent(object);
  const old = toCoreEvent(before);
  const errors = [...validateEvent(event, 'reportingController'), ...validateSeries(event)];
  const fixed = [
    'involvedObject',
    'reason',
    'message',
    'source',
    'firstTimestamp',
    'lastTimestamp',
    'count',
    'type',
    'eventTime',
    'action',
    'related',
    'reportingInstance',
  ] as const;
  for (const field of fixed) errors.push(...validateImmutable(event[field] ?? null, old[field] ?? null, field));
  const controller = [event.reportingComponent ?? '', old.reportingComponent ?? ''] as const;
  errors.push(...validateImmutable(...controller, 'reportingController'));
  return errors;
}

/** Served in its own group, stored as core/v1. */
export const eventDefinition: ResourceDefinition = defineBuiltin<Event>({
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  shortNames: ['ev'],
  namespaced: true,
  component: 'io.k8s.api.events.v1.Event',
  ttlMs: eventTtlMs,
  storedAs: {
    group: '',
    plural: 'events',
    toStorage: (object) => asUnstructured(toCoreEvent(object)),
    fromStorage: (object) => asUnstructured(fromCoreEvent(object)),
  },
  noGeneration: true,
  allowCreateOnUpdate: true,
  columns: eventColumns,
  row: (event, nowMs) => eventRow(toCoreEvent(event), nowMs),
  selectableFields: {
    ...referenceSelectors<Event>('regarding', (event) => toCoreEvent(event).involvedObject),
    reason: (event) => event.reason ?? '',
    reportingController: (event) => toCoreEvent(event).reportingComponent ?? '',
    type: (event) => event.type ?? '',
  },
  applyDefaults(event) {
    if (event.apiVersion !== 'v1') setDefault(event, 'deprecatedSource', {});
  },
  validateCreate,
  validateUpdate,
});

export const Events: Resource<Event> = resourceOf<Event>(eventDefinition);
