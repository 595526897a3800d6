import type { KubeObject, ObjectMeta, Resource } from '../../machinery/index.ts';

export type EventType = 'Normal' | 'Warning';

export interface ObjectReference {
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  resourceVersion?: string;
  fieldPath?: string;
}

export interface CoreEvent extends KubeObject {
  metadata: ObjectMeta;
  involvedObject: ObjectReference;
  related?: ObjectReference;
  reason: string;
  message: string;
  type: EventType;
  action?: string;
  count?: number;
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  eventTime?: string | null;
  series?: { count: number; lastObservedTime: string };
  source?: { component?: string; host?: string };
  reportingComponent?: string;
  reportingInstance?: string;
}

export const CoreEvents: Resource<CoreEvent> = {
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
};
