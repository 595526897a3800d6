import {
  checkQualifiedName,
  type FieldError,
  fieldError,
  type JsonObject,
  type JsonValue,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
  type TableColumn,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { column, since, wideColumn } from '../common/printing.ts';
import { invalid } from '../common/validation.ts';

export interface ObjectReference {
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  resourceVersion?: string;
  fieldPath?: string;
}

export interface EventSeries {
  count?: number;
  lastObservedTime?: string;
}

/** The stored form of an event; events.k8s.io serves the same object with other field names. */
export interface CoreEvent extends KubeObject {
  involvedObject: ObjectReference;
  reason?: string;
  message?: string;
  source?: { component?: string; host?: string };
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  count?: number;
  type?: string;
  eventTime?: string | null;
  series?: EventSeries;
  action?: string;
  related?: JsonObject;
  reportingComponent?: string;
  reportingInstance?: string;
}

/**
 * Checks the rules of both API groups; `controllerField` is the name of the reporting controller field in the group.
 */
export function validateEvent(event: CoreEvent, controllerField: string): FieldError[] {
  const errors: FieldError[] = [];
  const namespace = event.metadata.namespace ?? '';
  const target = event.involvedObject?.namespace ?? '';
  const mismatch = fieldError.invalid('involvedObject.namespace', target, 'does not match event.namespace');
  if (!event.eventTime) {
    if (target === '' ? namespace !== '' && namespace !== 'default' : namespace !== target) errors.push(mismatch);
    return errors;
  }
  if (target === '' && namespace !== 'default' && namespace !== 'kube-system') errors.push(mismatch);
  const controller = event.reportingComponent ?? '';
  if (controller === '') errors.push(fieldError.required(controllerField));
  errors.push(...invalid(controllerField, controller, checkQualifiedName(controller)));
  const limits = [
    ['reportingInstance', event.reportingInstance, 128],
    ['action', event.action, 128],
    ['reason', event.reason, 128],
  ] as const;
  for (const [field, value = '', limit] of limits) {
    if (value === '') errors.push(fieldError.required(field));
    if (value.length > limit) errors.push(fieldError.invalid(field, '', `can have at most ${limit} characters`));
  }
  if ((event.message ?? '').length > 1024) {
    errors.push(fieldError.invalid('message', '', 'can have at most 1024 characters'));
  }
  return errors;
}

export const eventColumns: readonly TableColumn[] = [
  column('Last Seen'),
  column('Type'),
  column('Reason'),
  column('Object'),
  wideColumn('Subobject'),
  wideColumn('Source'),
  column('Message'),
  wideColumn('First Seen'),
  wideColumn('Count'),
  { ...wideColumn('Name'), format: 'name' },
];

export function eventRow(event: CoreEvent, nowMs: number): JsonValue[] {
  const target = event.involvedObject ?? {};
  const first = since(event.firstTimestamp || event.eventTime, nowMs);
  const last = event.series
    ? since(event.series.lastObservedTime, nowMs)
    : event.lastTimestamp
      ? since(event.lastTimestamp, nowMs)
      : first;
  const component = event.source?.component || event.reportingComponent || '';
  const host = event.source?.host || event.reportingInstance || '';
  const kind = (target.kind ?? '').toLowerCase();
  return [
    last,
    event.type ?? '',
    event.reason ?? '',
    target.name ? `${kind}/${target.name}` : kind,
    target.fieldPath ?? '',
    host === '' ? component : `${component}, ${host}`,
    (event.message ?? '').trim(),
    first,
    event.series ? (event.series.count ?? 0) : event.count || 1,
    event.metadata.name ?? '',
  ];
}

const referenceFields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const;

/** Builds field selectors over the object that an event refers to. */
export function referenceSelectors<T>(
  prefix: string,
  read: (object: T) => ObjectReference | undefined,
): Record<string, (object: T) => string> {
  const selectors: Record<string, (object: T) => string> = {};
  for (const field of referenceFields) selectors[`${prefix}.${field}`] = (object) => read(object)?.[field] ?? '';
  return selectors;
}

/** Retention of events after their last write; kube-apiserver has the same default. */
export const eventTtlMs: number = 60 * 60 * 1000;

export const coreEventDefinition: ResourceDefinition = defineBuiltin<CoreEvent>({
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  shortNames: ['ev'],
  namespaced: true,
  component: 'io.k8s.api.core.v1.Event',
  ttlMs: eventTtlMs,
  noGeneration: true,
  allowCreateOnUpdate: true,
  columns: eventColumns,
  row: eventRow,
  selectableFields: {
    ...referenceSelectors<CoreEvent>('involvedObject', (event) => event.involvedObject),
    reason: (event) => event.reason ?? '',
    reportingComponent: (event) => event.reportingComponent ?? '',
    source: (event) => event.source?.component || event.reportingComponent || '',
    type: (event) => event.type ?? '',
  },
  applyDefaults(event) {
    setDefault(event, 'source', {});
    setDefault(event, 'involvedObject', {});
    setDefault(event, 'reportingComponent', '');
    setDefault(event, 'reportingInstance', '');
  },
  validateCreate: (event) => validateEvent(event, 'reportingComponent'),
  validateUpdate: (event) => validateEvent(event, 'reportingComponent'),
});

export const CoreEvents: Resource<CoreEvent> = resourceOf<CoreEvent>(coreEventDefinition);
