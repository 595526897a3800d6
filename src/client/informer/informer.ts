import type { Clock, KubeObject, Random, Resource } from '../../machinery/index.ts';
import { objectKey } from '../object-key.ts';
import { isAtLeast } from '../resource-version.ts';
import type { Client } from '../types.ts';
import { type ReflectorSink, runReflector, TooManyObjectsError } from './reflector.ts';
import { ObjectStore } from './store.ts';
import type { Indexer, Informer, InformerHandler } from './types.ts';

export interface InformerOptions<T extends KubeObject> {
  client: Client;
  resource: Resource<T>;
  clock: Clock;
  random: Random;
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** lets the server omit everything but metadata */
  metadataOnly?: boolean;
  /** changes cached objects to save memory; must not modify its input */
  transform?: (object: T) => T;
  /** interval of bookmarks; a connection silent for twice this time is considered dead */
  bookmarkPeriodMs?: number;
  /** maximum number of objects; default: unlimited */
  maxObjects?: number;
  /** interval to call `onUpdate` for every cached object; default: never */
  resyncMs?: number;
  /** called for recovered errors and for errors of handlers */
  onError?: (error: unknown, during: 'sync' | 'watch' | 'handler') => void;
}

/** Drops managedFields, which no controller reads and which are often half of the object. */
export function dropManagedFields<T extends KubeObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

interface VersionWaiter {
  resourceVersion: string;
  settle(seen: boolean): void;
}

export function createInformer<T extends KubeObject>(options: InformerOptions<T>): Informer<T> {
  const { clock, resource, transform } = options;
  const store = new ObjectStore<T>();
  const handlers = new Set<InformerHandler<T>>();
  const syncWaiters = new Set<() => void>();
  const versionWaiters = new Set<VersionWaiter>();
  let synced = false;
  let started = false;
  let seenVersion = '';
  let lastError: unknown;

  const guarded = (call: () => void): void => {
    try {
      call();
    } catch (error) {
      options.onError?.(error, 'handler');
    }
  };
  const emit = (call: (handler: InformerHandler<T>) => void): void => {
    for (const handler of handlers) guarded(() => call(handler));
  };

  const sawVersion = (resourceVersion: string | undefined): void => {
    if (resourceVersion === undefined || resourceVersion === '') return;
    seenVersion = resourceVersion;
    for (const waiter of versionWaiters) if (isAtLeast(seenVersion, waiter.resourceVersion)) waiter.settle(true);
  };

  const sink: ReflectorSink<T> = {
    replace(objects, resourceVersion) {
      const content = objects;
      const initial = !synced;
      const before = store.replace(content);
      for (const [key, object] of content) {
        const old = before.get(key);
        if (old === undefined) emit((handler) => handler.onAdd?.(object, initial));
        else if (old.metadata.uid !== object.metadata.uid) {
          // The object was deleted and recreated while the watch was down.
          emit((handler) => handler.onDelete?.(old, true));
          emit((handler) => handler.onAdd?.(object, false));
        } else if (old.metadata.resourceVersion !== object.metadata.resourceVersion) {
          emit((handler) => handler.onUpdate?.(object, old, true));
        }
      }
      for (const [key, old] of before) if (!content.has(key)) emit((handler) => handler.onDelete?.(old, true));
      synced = true;
      lastError = undefined;
      sawVersion(resourceVersion);
      for (const resolve of syncWaiters) resolve();
      syncWaiters.clear();
    },
    put(received) {
      const object = transform ? transform(received) : received;
      const { maxObjects } = options;
      if (maxObjects !== undefined && store.size >= maxObjects && !store.get(objectKey(object))) {
        throw new TooManyObjectsError(resource.plural, maxObjects);
      }
      const old = store.put(object);
      if (old === undefined) emit((handler) => handler.onAdd?.(object, false));
      else emit((handler) => handler.onUpdate?.(object, old));
      sawVersion(received.metadata.resourceVersion);
    },
    remove(key, received) {
      const old = store.remove(key);
      const last = transform ? transform(received) : received;
      if (old !== undefined) emit((handler) => handler.onDelete?.(last, false));
      sawVersion(received.metadata.resourceVersion);
    },
    progress: sawVersion,
    failed(error, during) {
      lastError = error;
      options.onError?.(error, during);
    },
    healthy() {
      lastError = undefined;
    },
  };

  const startResync = (signal: AbortSignal): void => {
    const period = options.resyncMs;
    if (period === undefined || period <= 0) return;
    const tick = (): void => {
      if (signal.aborted) return;
      if (synced) for (const object of store.values()) emit((handler) => handler.onUpdate?.(object, object));
      cancel = clock.after(period, tick);
    };
    let cancel = clock.after(period, tick);
    signal.addEventListener('abort', () => cancel(), { once: true });
  };

  return {
    resource,
    namespace: options.namespace,
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    lister: store,
    async run(signal) {
      if (started) throw new TypeError(`the informer of ${resource.plural} runs already`);
      started = true;
      startResync(signal);
      await runReflector(options, sink, signal);
    },
    hasSynced: () => synced,
    waitForSync: (signal) =>
      new Promise((resolve, reject) => {
        if (synced) return resolve();
        if (signal?.aborted) return reject(signal.reason);
        const onSync = (): void => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        };
        const onAbort = (): void => {
          syncWaiters.delete(onSync);
          reject(signal?.reason);
        };
        syncWaiters.add(onSync);
        signal?.addEventListener('abort', onAbort, { once: true });
      }),
    addHandler(handler) {
      handlers.add(handler);
      if (synced) for (const object of store.values()) guarded(() => handler.onAdd?.(object, true));
      return () => {
        handlers.delete(handler);
      };
    },
    addIndexer: (name: string, indexer: Indexer<T>) => store.addIndexer(name, indexer),
    resourceVersion: () => seenVersion,
    waitForResourceVersion(resourceVersion, { timeoutMs, signal }) {
      if (isAtLeast(seenVersion, resourceVersion)) return Promise.resolve(true);
      if (signal?.aborted) return Promise.resolve(false);
      return new Promise((resolve) => {
        const waiter: VersionWaiter = {
          resourceVersion,
          settle(seen) {
            versionWaiters.delete(waiter);
            cancel();
            signal?.removeEventListener('abort', onAbort);
            resolve(seen);
          },
        };
        const onAbort = (): void => waiter.settle(false);
        const cancel = clock.after(timeoutMs, () => waiter.settle(false));
        versionWaiters.add(waiter);
        signal?.addEventListener('abort', onAbort, { once: true });
      });
    },
    lastError: () => lastError,
  };
}
