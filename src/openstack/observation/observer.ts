import { type Random, systemRandom } from '../../machinery/index.ts';
import { type Log, silentLog } from '../http/log.ts';
import type { OpenStack } from '../openstack.ts';
import { createPace, type Pace } from './pace.ts';
import { type ObservationFilters, observationSources } from './sources.ts';
import { TypeObserver } from './type-observer.ts';
import {
  type ChangeListener,
  defaultIntervals,
  type ObservationHealth,
  type ObservationIntervals,
  type ObservedType,
  type ObservedTypes,
} from './types.ts';

/** Observes a project. Each resource type is listed once for all subscribers, and not at all without subscribers. */
export interface Observer {
  /**
   * Calls `listener` with every change of one resource, or of all of a type. A subscriber of a single resource is
   * always called: at once if its state is known, else after the next list, even if the resource does not exist.
   */
  subscribe<K extends ObservedType>(
    type: K,
    listener: ChangeListener<ObservedTypes[K]>,
    options?: { readonly id?: string },
  ): () => void;
  /**
   * Records the response to our own change. A later poll that differs from it is reported as a change, even if it
   * equals the poll before our change.
   */
  note<K extends ObservedType>(type: K, thing: ObservedTypes[K]): void;
  /** polls frequently until the returned function is called, while the resource is created, changed or deleted */
  watchClosely(type: ObservedType, id: string): () => void;
  /**
   * Start of the poll that `current` is based on, in ms since the epoch. Later changes may be missing. Undefined before
   * the first poll.
   */
  asOf(type: ObservedType, id: string): number | undefined;
  /** last observed state */
  current<K extends ObservedType>(type: K, id: string): ObservedTypes[K] | undefined;
  /** all resources as last observed */
  all<K extends ObservedType>(type: K): Iterable<ObservedTypes[K]>;
  /** polls now and resolves when done */
  refresh(type: ObservedType): Promise<void>;
  health(type: ObservedType): ObservationHealth;
  close(): void;
}

export interface ObserverOptions {
  readonly random?: Random;
  readonly log?: Log;
  readonly intervals?: Partial<ObservationIntervals>;
  readonly filters?: ObservationFilters;
  /** shared by the observers of one cloud; default: one request per second */
  readonly pace?: Pace;
}

type TypeObservers = { [K in ObservedType]: TypeObserver<ObservedTypes[K]> };

export function createObserver(cloud: OpenStack, options: ObserverOptions = {}): Observer {
  const intervals = { ...defaultIntervals, ...options.intervals };
  const { random = systemRandom, log = silentLog, pace = createPace(1), filters = {} } = options;
  const seldom = { ...intervals, quietMs: intervals.seldomMs };
  const observe = <K extends ObservedType>(type: K, pauses = intervals): TypeObserver<ObservedTypes[K]> =>
    new TypeObserver<ObservedTypes[K]>({
      type,
      source: async (signal) => observationSources(cloud, await cloud.projectId(signal), filters)[type],
      clock: cloud.clock,
      random,
      log,
      intervals: pauses,
      pace,
    });
  const observers: TypeObservers = {
    server: observe('server'),
    port: observe('port'),
    volume: observe('volume'),
    loadBalancer: observe('loadBalancer'),
    floatingIp: observe('floatingIp'),
    network: observe('network', seldom),
    router: observe('router', seldom),
    securityGroup: observe('securityGroup', seldom),
  };
  return {
    subscribe: (type, listener, { id } = {}) => observers[type].subscribe(listener, id),
    note: (type, thing) => observers[type].note(thing),
    watchClosely: (type, id) => observers[type].watchClosely(id),
    asOf: (type, id) => observers[type].asOf(id),
    current: (type, id) => observers[type].current(id),
    all: (type) => observers[type].all(),
    refresh: (type) => observers[type].refresh(),
    health: (type) => observers[type].health(),
    close() {
      for (const observer of Object.values(observers)) observer.stop();
    },
  };
}
