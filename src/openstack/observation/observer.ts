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

/**
 * Watches a project: per type of resource one list for everybody, however many are interested, and none when nobody is.
 */
export interface Observer {
  /**
   * Calls `listener` with every change of one resource, or of all of a type. Who names a resource hears of it in any case:
   * at once when it is known, else with the next list, be it only that it does not exist.
   */
  subscribe<K extends ObservedType>(
    type: K,
    listener: ChangeListener<ObservedTypes[K]>,
    options?: { readonly id?: string },
  ): () => void;
  /**
   * The answer to a change of one's own: a look that begins later and shows something else tells of it, also where the look
   * before that change showed the same.
   */
  note<K extends ObservedType>(type: K, thing: ObservedTypes[K]): void;
  /** looks often until the returned function is called: something is being made, changed or deleted */
  watchClosely(type: ObservedType, id: string): () => void;
  /**
   * When the look began that showed what `current` says, in ms since the epoch: what was changed later may be missing in it.
   * Undefined when nothing has been looked at.
   */
  asOf(type: ObservedType, id: string): number | undefined;
  /** as last seen */
  current<K extends ObservedType>(type: K, id: string): ObservedTypes[K] | undefined;
  /** everything as last seen */
  all<K extends ObservedType>(type: K): Iterable<ObservedTypes[K]>;
  /** looks now; resolves when the look is done */
  refresh(type: ObservedType): Promise<void>;
  health(type: ObservedType): ObservationHealth;
  close(): void;
}

export interface ObserverOptions {
  readonly random?: Random;
  readonly log?: Log;
  readonly intervals?: Partial<ObservationIntervals>;
  readonly filters?: ObservationFilters;
  /** shared by the observers of one cloud; one request per second when absent */
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
